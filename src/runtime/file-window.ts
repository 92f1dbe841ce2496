import { openLibc } from "./libc.ts";

/**
 * A place in the memory of a kernel into which parts of files are mapped instead of read: the kernel sees the pages that
 * the system has of the file, and nothing is copied.
 *
 *   PART       BYTES                             WHAT STANDS THERE
 *   mapped     whole pages                       bytes of the file from a page's start on; zeros behind the file's end
 *   the rest   one page or more, up to the end   memory as it was: zeros, unless somebody wrote there
 *
 * **Only code of the kernel may look at what is mapped, by loads.** When the file is cut meanwhile its pages are gone, and who
 * touches them gets a SIGBUS. The engine turns one that a load in WebAssembly meets into a `WebAssembly.RuntimeError`; in a loop
 * of JavaScript, or in `memory.copy`, which is a function of the engine's, it ends the process. Nobody may write there either.
 *
 * The mapping is private. A shared one of a file that is open for reading can never be made writable; but that is what the
 * engine does with all of a memory when nobody needs it any more, and it ends the process if it cannot.
 */
export class FileWindow {
  /** Bytes from the start on that may be mapped. */
  private mappedBytes = 0;
  /** Of the start, as the system sees it; found when it is first needed. */
  private address = 0;

  /**
   * @param startByte address in the memory
   * @param sizeBytes a multiple of 64 KB
   */
  constructor(
    private readonly memory: WebAssembly.Memory,
    private readonly startByte: number,
    private readonly sizeBytes: number,
  ) {}

  /** Whether parts of the open file can be mapped: not every file system has that. */
  canMap(fd: number): boolean {
    const system = mappingSystem();
    if (system === null) return false;
    this.address ||= system.addressOf(new Uint8Array(this.memory.buffer, this.startByte));
    // Tried elsewhere: where it fails in place, what stood there may be gone already.
    return this.address % system.pageBytes === 0 && system.tryMapping(fd);
  }

  /** The last page's start that is not behind an offset. */
  pageStart(offsetByte: number): number {
    return offsetByte - (offsetByte % mappingSystem()!.pageBytes);
  }

  /**
   * Maps bytes [offsetByte, offsetByte + byteCount) of a file that can be mapped, from the start of a page on, in place of
   * what stood here. False if there is no room, or the system refuses: then there is plain memory. The system is asked for as
   * much behind it, which is wanted next.
   */
  map(fd: number, offsetByte: number, byteCount: number): boolean {
    const system = mappingSystem()!;
    const wholePages = Math.ceil(byteCount / system.pageBytes) * system.pageBytes;
    if (wholePages + system.pageBytes > this.sizeBytes) {
      this.clear();
      return false;
    }
    const leftBytes = this.mappedBytes - wholePages;
    this.mappedBytes = Math.max(this.mappedBytes, wholePages);
    const isMapped = system.mapFile(this.address, wholePages, fd, offsetByte);
    if (isMapped && leftBytes > 0) {
      system.mapMemory(this.address + wholePages, leftBytes);
      this.mappedBytes = wholePages;
    }
    if (!isMapped) this.clear();
    else system.askFor(fd, offsetByte + wholePages, wholePages);
    return isMapped;
  }

  /** Puts plain memory where a file was mapped: all may look there, and write. */
  clear(): void {
    if (this.mappedBytes === 0) return;
    mappingSystem()!.mapMemory(this.address, this.mappedBytes);
    this.mappedBytes = 0;
  }
}

/** What the system does, at addresses as it sees them. */
type MappingSystem = {
  readonly pageBytes: number;
  addressOf(bytes: Uint8Array): number;
  /** Whether a page of the file can be mapped anywhere. */
  tryMapping(fd: number): boolean;
  mapFile(address: number, sizeBytes: number, fd: number, offsetByte: number): boolean;
  /** Has the system read these bytes from the device, if it has not yet; does not wait for them. */
  askFor(fd: number, offsetByte: number, byteCount: number): void;
  mapMemory(address: number, sizeBytes: number): void;
};

// As Linux has them on x64 and arm64.
const PROT_READ = 1;
const PROT_WRITE = 2;
const MAP_PRIVATE = 0x02;
const MAP_FIXED = 0x10;
const MAP_ANONYMOUS = 0x20;
const MAP_NORESERVE = 0x4000;
/** All pages at once: with a fault for each sixteen of them nothing is saved. */
const MAP_POPULATE = 0x8000;
const POSIX_FADV_WILLNEED = 3;

let opened: MappingSystem | null | undefined;

/** Null where files are not mapped. Loaded when it is first needed: that takes half a millisecond. */
function mappingSystem(): MappingSystem | null {
  if (opened === undefined) opened = openSystem();
  return opened;
}

function openSystem(): MappingSystem | null {
  const libc = openLibc({
    mmap: { args: ["usize", "usize", "i32", "i32", "i32", "i64"], returns: "usize" },
    munmap: { args: ["usize", "usize"], returns: "i32" },
    posix_fadvise: { args: ["i32", "i64", "i64", "i32"], returns: "i32" },
    getpagesize: { args: [], returns: "i32" },
  });
  if (libc === null) return null;
  const { ptr } = require("bun:ffi") as typeof import("bun:ffi");
  const pageBytes = libc.getpagesize();
  const map = (
    address: number,
    sizeBytes: number,
    access: number,
    flags: number,
    fd: number,
    offset: number,
  ) => Number(libc.mmap(BigInt(address), BigInt(sizeBytes), access, flags, fd, BigInt(offset)));
  return {
    pageBytes,
    addressOf: (bytes) => Number(ptr(bytes)),
    tryMapping: (fd) => {
      const address = map(0, pageBytes, PROT_READ, MAP_PRIVATE, fd, 0);
      if (address > highestAddress) return false;
      libc.munmap(BigInt(address), BigInt(pageBytes));
      return true;
    },
    mapFile: (address, sizeBytes, fd, offsetByte) =>
      map(address, sizeBytes, PROT_READ, MAP_PRIVATE | MAP_FIXED | MAP_POPULATE, fd, offsetByte) === address,
    askFor: (fd, offsetByte, byteCount) => {
      libc.posix_fadvise(fd, BigInt(offsetByte), BigInt(byteCount), POSIX_FADV_WILLNEED);
    },
    mapMemory: (address, sizeBytes) => {
      const flags = MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS | MAP_NORESERVE;
      if (map(address, sizeBytes, PROT_READ | PROT_WRITE, flags, -1, 0) === address) return;
      throw new RangeError("the system has no memory for a window of text");
    },
  };
}

/** Beyond it there is nothing of a process, but errors are told as addresses. */
const highestAddress = 2 ** 57;
