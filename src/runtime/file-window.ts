import { addressOf, openLibc } from "#host";

/**
 * A window in a kernel's memory into which parts of files are mapped instead of read: the kernel sees the system's own
 * pages of the file, and nothing is copied.
 *
 *   PART       BYTES                             CONTENT
 *   mapped     whole pages                       bytes of the file from the start of a page; zeros behind the file's end
 *   the rest   one page or more, up to the end   plain memory: zeros, unless somebody wrote there
 *
 * **Only loads in the kernel's code may read mapped pages.** If the file is cut meanwhile, its pages are gone, and a read of
 * them raises a SIGBUS. For a load in WebAssembly the engine turns it into a `WebAssembly.RuntimeError`. In JavaScript, or
 * in `memory.copy`, which is a function of the engine, it ends the process. Nobody may write to mapped pages.
 *
 * The mapping is private, because at the end the engine makes all of a memory writable, and ends the process if it cannot;
 * a shared mapping of a file that is open for reading cannot be made writable.
 */
export class FileWindow {
  /** How many bytes, from the start of the window, may be mapped now. */
  private mappedBytes = 0;
  /** The address of the window in the process; 0 until it is first needed. */
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

  /** Whether parts of the open file can be mapped: not every file system allows it. */
  canMap(fd: number): boolean {
    const system = mappingSystem();
    if (system === null) return false;
    this.address ||= addressOf(new Uint8Array(this.memory.buffer, this.startByte));
    // Tried at another address: a mapping that fails in place may already have removed what was there.
    return this.address % system.pageBytes === 0 && system.tryMapping(fd);
  }

  pageStart(offsetByte: number): number {
    return offsetByte - (offsetByte % mappingSystem()!.pageBytes);
  }

  /**
   * Maps bytes [offsetByte, offsetByte + byteCount) of a file, where `offsetByte` is the start of a page, over what was in
   * the window. False if there is no room, or if the system refuses: then the window is plain memory. The system is asked to
   * read as many bytes behind them, which are needed next.
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
    else system.prefetch(fd, offsetByte + wholePages, wholePages);
    return isMapped;
  }

  /** Puts plain memory where a file was mapped: anybody may read and write it again. */
  clear(): void {
    if (this.mappedBytes === 0) return;
    mappingSystem()!.mapMemory(this.address, this.mappedBytes);
    this.mappedBytes = 0;
  }
}

// The values of Linux on x64 and arm64.
const PROT_READ = 1;
const PROT_WRITE = 2;
const MAP_PRIVATE = 0x02;
const MAP_FIXED = 0x10;
const MAP_ANONYMOUS = 0x20;
const MAP_NORESERVE = 0x4000;
/** Maps all pages at once: a fault for every sixteen pages would cost what the copy costs. */
const MAP_POPULATE = 0x8000;
const POSIX_FADV_WILLNEED = 3;

type MappingSystem = NonNullable<ReturnType<typeof openSystem>>;

let opened: MappingSystem | null | undefined;

/** Null where files cannot be mapped. Loaded when it is first needed, which takes half a millisecond. */
function mappingSystem(): MappingSystem | null {
  if (opened === undefined) opened = openSystem();
  return opened;
}

/** Calls of the system, with addresses of the process. */
function openSystem() {
  const libc = openLibc("mmap", "munmap", "posix_fadvise", "getpagesize");
  if (libc === null) return null;
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
    /** Whether a page of the file can be mapped anywhere. */
    tryMapping: (fd: number) => {
      const address = map(0, pageBytes, PROT_READ, MAP_PRIVATE, fd, 0);
      if (address > highestAddress) return false;
      libc.munmap(BigInt(address), BigInt(pageBytes));
      return true;
    },
    mapFile: (address: number, sizeBytes: number, fd: number, offsetByte: number) =>
      map(address, sizeBytes, PROT_READ, MAP_PRIVATE | MAP_FIXED | MAP_POPULATE, fd, offsetByte) === address,
    /** Has the system read these bytes from the device, if it has not yet, without waiting for them. */
    prefetch: (fd: number, offsetByte: number, byteCount: number) => {
      libc.posix_fadvise(fd, BigInt(offsetByte), BigInt(byteCount), POSIX_FADV_WILLNEED);
    },
    mapMemory: (address: number, sizeBytes: number) => {
      const flags = MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS | MAP_NORESERVE;
      if (map(address, sizeBytes, PROT_READ | PROT_WRITE, flags, -1, 0) === address) return;
      throw new RangeError("the system has no memory for a window of text");
    },
  };
}

/** No process has memory above it; a higher result of mmap is an error. */
const highestAddress = 2 ** 57;

/**
 * Zeroes an array and gives its memory back to the system at once. Writing to it takes memory anew.
 *
 * Why not a new array: an allocator keeps freed memory for some time, and then zeroes all of it before it hands it out
 * again, also what was only reserved address space. Where the system has no such call, the memory stays.
 */
export function releasePages(array: Int32Array | Uint8Array): void {
  if (!advise(array, MADV_DONTNEED)) {
    array.fill(0);
    return;
  }
  const { address, start, end } = pagesOf(array);
  array.fill(0, 0, (start - address) / array.BYTES_PER_ELEMENT);
  array.fill(0, (end - address) / array.BYTES_PER_ELEMENT);
}

/**
 * Asks the system for pages of 2 MB, where it has such: for a large array that is read and written everywhere. With pages of
 * 4 KB most accesses wait for the page's address, too. Of what is written from the front, the last 2 MB may stay unused.
 */
export function requestHugePages(array: Uint8Array): void {
  advise(array, MADV_HUGEPAGE);
}

/** Gives the system advice on the whole pages of an array; false if it is too small, or the system knows no such advice. */
function advise(array: Int32Array | Uint8Array, advice: number): boolean {
  const libc = array.byteLength < worthwhileBytes ? null : openLibc("madvise");
  if (libc === null) return false;
  const { start, end } = pagesOf(array);
  return end - start >= worthwhileBytes && libc.madvise(BigInt(start), BigInt(end - start), advice) === 0;
}

/** The address of an array in the process, and the whole pages in it. */
function pagesOf(array: Int32Array | Uint8Array) {
  const address = addressOf(array);
  const start = Math.ceil(address / pageBytes) * pageBytes;
  return { address, start, end: Math.floor((address + array.byteLength) / pageBytes) * pageBytes };
}

/** A multiple of every page size of Linux on x64 and arm64, except huge pages, which the system splits. */
const pageBytes = 1 << 16;
const worthwhileBytes = 1 << 20;

const MADV_DONTNEED = 4;
const MADV_HUGEPAGE = 14;
