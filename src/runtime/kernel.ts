import * as embedded from "#embedded";
import * as host from "#host";
import type { KernelExports, TextKernelExports } from "./kernel-exports.ts";
import { isSmallScale } from "./scale.ts";

/** An instance of the kernel in a memory. Several instances may share a memory, each in its own thread. */
export type Kernel = {
  readonly exports: KernelExports;
  readonly memory: WebAssembly.Memory;
};

const hasSimd = () => WebAssembly.validate(simdProbe);
const readModule = () => embedded.readKernel(moduleName());

function moduleName() {
  if (isSmallScale) return "kernel-small";
  if (!hasSimd()) return "kernel-baseline";
  return embedded.hasKernelAsserts ? "kernel-asserts" : "kernel";
}

/** A WebAssembly module that is valid only if the engine has SIMD: (func (result v128) i32.const 0 i8x16.splat) */
const simdProbe = Uint8Array.of(
  ...[0, 97, 115, 109, 1, 0, 0, 0], // magic, version
  ...[1, 5, 1, 96, 0, 1, 123], // type: () -> v128
  ...[3, 2, 1, 0], // one function
  ...[10, 8, 1, 6, 0, 65, 0, 253, 15, 11], // its code
);

let compiled: WebAssembly.Module | undefined;

/** Compiles the kernel's code, unless the build contains it compiled (embedded.wasm-files.ts). */
const moduleOf = (code: Uint8Array<ArrayBuffer> | WebAssembly.Module): WebAssembly.Module =>
  code instanceof WebAssembly.Module ? code : new WebAssembly.Module(code);

/**
 * Returns the kernel's compiled code. It is compiled on first use, unless the thread has adopted compiled code
 * (`adoptModule`).
 */
export function sharedModule(): WebAssembly.Module {
  compiled ??= moduleOf(readModule());
  return compiled;
}

/** Loads the code before it is needed, and compiles it on the engine's background threads. */
export async function prepare(): Promise<void> {
  compiled ??= await WebAssembly.compile(readModule());
}

/** Uses the code that the main thread has loaded and posted to this worker. */
export function adoptModule(module: WebAssembly.Module): void {
  compiled = module;
}

/**
 * Creates a kernel in the given memory, which other kernels may share, or else in a memory of its own. A memory of its
 * own reserves as much address space as the system allows, up to 4 GB, which costs nothing until it is written. It is a
 * shared memory, because shared memories never move.
 */
export function create(memory = largestMemory(largestPageCount, smallestPageCount, () => 1)): Kernel {
  const { exports } = new WebAssembly.Instance(sharedModule(), { env: { memory, abort } });
  return { exports: exports as KernelExports, memory };
}

const readEncodingKernel = () => embedded.readKernel(isSmallScale ? "kernel-encode-small" : "kernel-encode");
const readTextKernel = () => embedded.readKernel(isSmallScale ? "kernel-text-small" : "kernel-text");

/**
 * Reads the two modules of the kernel that are also compiled to C (native/). An image of a tokenizer depends on their
 * code.
 */
export const readNative = () => [readEncodingKernel(), readTextKernel()];

/**
 * Returns an instance of the part of the kernel that encodes. It has some of the kernel's exports, and an unshared
 * memory of its own.
 */
export function createForEncoding(): Kernel {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: largestPageCount });
  const code = hasSimd() ? readEncodingKernel() : embedded.readKernel("kernel-encode-baseline");
  const { exports } = new WebAssembly.Instance(moduleOf(code), { env: { memory, poll() {} } });
  return { exports: exports as KernelExports, memory };
}

/** An instance of the part of the kernel that processes a text before it is cut, with a memory of its own. */
export type TextKernel = { readonly exports: TextKernelExports; readonly memory: WebAssembly.Memory };

export type CountIds = (start: number, end: number, limit: number) => number;

let compiledText: WebAssembly.Module | undefined;

/**
 * Returns an instance of the part of the kernel that processes a text before it is cut. `countIds` counts the ids of a
 * part of the text (src/kernel/env.ts); only texts that are cut into parts need it.
 */
export function createForText(countIds: CountIds = () => 0): TextKernel {
  compiledText ??= moduleOf(hasSimd() ? readTextKernel() : embedded.readKernel("kernel-text-baseline"));
  const memory = new WebAssembly.Memory({ initial: 1, maximum: largestPageCount });
  const { exports } = new WebAssembly.Instance(compiledText, { env: { memory, poll() {}, countIds } });
  return { exports: exports as TextKernelExports, memory };
}

export const pageBytes = 1 << 16;
const largestPageCount = 1 << 16;
const smallestPageCount = 1 << 8;
/** The usual minimum of a memory's size in bytes. The regions for nearly all patterns fit into it. */
const commonBytes = 2 ** 28;
/** The smallest size of a memory with regions. */
const smallestWholeBytes = 2 ** 26;

/**
 * The bytes of the memories in which `createWithRegions` has created kernels on this thread since it last collected
 * garbage.
 */
let openedBytes = 0;

/**
 * Creates a kernel in a memory that is accessible as a whole, with the regions of src/kernel/regions.ts. Collects
 * garbage first if the memories that this thread has used are larger than the machine's memory.
 */
export function createWithRegions(memory: WebAssembly.Memory): Kernel {
  openedBytes += memory.buffer.byteLength;
  // The JavaScript engine limits the total size of all WebAssembly memories, including garbage, and a thread that
  // creates a memory collects only its own garbage.
  if (openedBytes > embedded.totalmem()) {
    host.collectGarbage();
    openedBytes = memory.buffer.byteLength;
  }
  const kernel = create(memory);
  kernel.exports.layOut();
  return kernel;
}

/**
 * Returns the size in bytes of one of `memoryCount` memories. Each should have `wantedBytes`, or `commonBytes` if that
 * is more. But each gets at most its share of twice the machine's memory, at most 4 GB, and at least 64 MB. The result
 * is 64 MB times a power of two.
 */
export function wholeMemoryBytes(
  wantedBytes: number,
  memoryCount = embedded.availableParallelism() + 1,
  machineBytes = embedded.totalmem(),
): number {
  // The JavaScript engine limits the total size of all WebAssembly memories, written or not, to three times the
  // machine's memory. So each gets its share of no more than twice the machine's memory.
  const mostBytes = Math.min((2 * machineBytes) / memoryCount, largestPageCount * pageBytes);
  let sizeBytes = smallestWholeBytes;
  while (sizeBytes < Math.max(wantedBytes, commonBytes) && 2 * sizeBytes <= mostBytes) sizeBytes *= 2;
  return sizeBytes;
}

/**
 * Creates a memory of the size that `wholeMemoryBytes` returns, accessible as a whole. It is smaller if the system
 * refuses that size.
 */
export function createWholeMemory(wantedBytes: number, memoryCount?: number): WebAssembly.Memory {
  const pageCount = wholeMemoryBytes(wantedBytes, memoryCount) / pageBytes;
  return largestMemory(pageCount, smallestWholeBytes / pageBytes, (maximum) => maximum);
}

/**
 * Creates a memory of `pageCount` pages, or of half as many, and so on, until the system allows it. Throws if the
 * system refuses even `leastPageCount` pages.
 */
function largestMemory(
  pageCount: number,
  leastPageCount: number,
  initialOf: (maximum: number) => number,
): WebAssembly.Memory {
  for (let maximum = pageCount; ; maximum /= 2) {
    try {
      return new WebAssembly.Memory({ initial: initialOf(maximum), maximum, shared: true });
    } catch (error) {
      if (maximum <= leastPageCount) throw error;
    }
  }
}

export function growMemory(memory: WebAssembly.Memory, sizeBytes: number): void {
  const missingPages = Math.ceil((sizeBytes - memory.buffer.byteLength) / pageBytes);
  if (missingPages > 0) memory.grow(missingPages);
}

/**
 * Copies an array into the kernel's memory, where `byteCount` bytes are reserved permanently. Returns the address, or 0
 * if the region for such arrays is too full. Throws a RangeError if the memory has to grow and cannot.
 */
export function putArray(
  { exports, memory }: Kernel,
  array: Int32Array | Uint32Array | Uint16Array | Uint8Array,
  byteCount = array.byteLength,
): number {
  const address = exports.reserveFixed(byteCount) >>> 0;
  if (address === 0) return 0;
  growMemory(memory, address + byteCount);
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  new Uint8Array(memory.buffer, address, array.byteLength).set(bytes);
  return address;
}

/** The kernel calls this when an assertion fails, in the modules with assertions. */
function abort(_message: number, _file: number, line: number, column: number): never {
  throw new Error(`the kernel's assertion at line ${line}, column ${column} does not hold`);
}
