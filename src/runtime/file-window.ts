import * as host from "#host";

/**
 * A window in a kernel's memory into which parts of files are mapped instead of read: the kernel sees the system's own
 * pages of the file, and nothing is copied.
 *
 *   PART       BYTES                             CONTENT
 *   mapped     whole pages                       bytes of the file from the start of a page; zeros after the file's end
 *   the rest   one page or more, up to the end   plain memory: zeros until it is written
 *
 * **Only loads in the kernel's code may read mapped pages.** If the file is truncated meanwhile, its pages vanish, and
 * reading them raises SIGBUS. For a load in WebAssembly, the engine turns the signal into a `WebAssembly.RuntimeError`.
 * In JavaScript, or in `memory.copy`, which is a function of the engine, the signal ends the process. Mapped pages must
 * not be written.
 */
export class FileWindow {
  /** An upper bound on the number of bytes, from the start of the window, that are currently mapped. */
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
    this.address ||= host.addressOf(new Uint8Array(this.memory.buffer, this.startByte));
    // `tryMapping` maps at another address, because a mapping that fails in place may already have removed the memory
    // there.
    return this.address % system.pageBytes === 0 && system.tryMapping(fd);
  }

  pageStart(offsetByte: number): number {
    return offsetByte - (offsetByte % mappingSystem()!.pageBytes);
  }

  /**
   * Maps bytes [offsetByte, offsetByte + byteCount) of a file over the window's previous content. `offsetByte` must be
   * the start of a page. Returns false if the window is too small or the system refuses; the window is then plain
   * memory.
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

  /** Replaces mapped pages with plain memory, which all code may read and write. */
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
/**
 * A flag of mmap by which the system maps all pages at once. Without it, page faults would cost as much as copying the
 * data.
 */
const MAP_POPULATE = 0x8000;
const POSIX_FADV_WILLNEED = 3;

type MappingSystem = NonNullable<ReturnType<typeof openSystem>>;

let opened: MappingSystem | null | undefined;

/**
 * Returns the system's calls; null where files cannot be mapped. They are loaded on first use, because that takes half
 * a millisecond.
 */
function mappingSystem(): MappingSystem | null {
  if (opened === undefined) opened = openSystem();
  return opened;
}

/**
 * Opens the system's calls; returns null if they are missing. The addresses that they take are those of the process,
 * not offsets in the kernel's memory.
 */
function openSystem() {
  const libc = host.openLibc("mmap", "munmap", "posix_fadvise", "getpagesize");
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
    /** Whether the first page of the file can be mapped. Tries it at an address that the system chooses. */
    tryMapping: (fd: number) => {
      const address = map(0, pageBytes, PROT_READ, MAP_PRIVATE, fd, 0);
      if (address > highestAddress) return false;
      libc.munmap(BigInt(address), BigInt(pageBytes));
      return true;
    },
    // The mapping is private, because the engine makes the whole memory writable before freeing it, and aborts the
    // process if that fails. It would fail for a shared mapping of a file opened read-only.
    mapFile: (address: number, sizeBytes: number, fd: number, offsetByte: number) =>
      map(address, sizeBytes, PROT_READ, MAP_PRIVATE | MAP_FIXED | MAP_POPULATE, fd, offsetByte) === address,
    /** Asks the system to read these bytes from the device in the background, unless they are cached. */
    prefetch: (fd: number, offsetByte: number, byteCount: number) => {
      libc.posix_fadvise(fd, BigInt(offsetByte), BigInt(byteCount), POSIX_FADV_WILLNEED);
    },
    mapMemory: (address: number, sizeBytes: number) => {
      const flags = MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS | MAP_NORESERVE;
      if (map(address, sizeBytes, PROT_READ | PROT_WRITE, flags, -1, 0) === address) return;
      throw new RangeError("the system refused to allocate memory for a window of text");
    },
  };
}

/** No process has a higher address, so a higher result of mmap is an error. */
const highestAddress = 2 ** 57;
