import { availableParallelism, hasKernelAsserts, readKernel, totalmem } from "#embedded";
import type { KernelExports, TextKernelExports } from "./kernel-exports.ts";
import { isSmallScale } from "./scale.ts";

/** An instance of the kernel in a memory. Several may share a memory, each in its own thread. */
export type Kernel = {
  readonly exports: KernelExports & EncodingExports;
  readonly memory: WebAssembly.Memory;
};

/** What the encoding part alone has. */
type EncodingExports = { readonly useCutPairs?: (address: number) => void };

const hasSimd = () => WebAssembly.validate(simdProbe);
const readModule = () => readKernel(moduleName());

function moduleName() {
  if (isSmallScale) return "kernel-small";
  if (!hasSimd()) return "kernel-baseline";
  return hasKernelAsserts ? "kernel-asserts" : "kernel";
}

/** A module that is valid if the engine has SIMD: (func (result v128) i32.const 0 i8x16.splat) */
const simdProbe = Uint8Array.of(
  ...[0, 97, 115, 109, 1, 0, 0, 0], // magic, version
  ...[1, 5, 1, 96, 0, 1, 123], // type: () -> v128
  ...[3, 2, 1, 0], // one function
  ...[10, 8, 1, 6, 0, 65, 0, 253, 15, 11], // its code
);

let compiled: WebAssembly.Module | undefined;

/** The kernel's code, loaded once a process and posted to workers, so that all threads share what the engine compiles. */
export function kernelModule(): WebAssembly.Module {
  compiled ??= new WebAssembly.Module(readModule());
  return compiled;
}

/** Loads the code ahead of its use: threads of the engine compile it meanwhile. */
export async function prepareKernel(): Promise<void> {
  compiled ??= await WebAssembly.compile(readModule());
}

/** For a worker: takes the code that the main thread has loaded. */
export function adoptKernelModule(module: WebAssembly.Module): void {
  compiled = module;
}

/**
 * A kernel in a memory of its own, or beside others in the memory given. Its own has as much address space as there is, up
 * to 4 GB, which costs nothing until it is written; it is shared, because shared memory never moves.
 */
export function createKernel(memory = largestMemory(largestPageCount, smallestPageCount, () => 1)): Kernel {
  const { exports } = new WebAssembly.Instance(kernelModule(), { env: { memory, abort } });
  return { exports: exports as KernelExports, memory };
}

const readEncodingKernel = () => readKernel(isSmallScale ? "kernel-encode-small" : "kernel-encode");
const readTextKernel = () => readKernel(isSmallScale ? "kernel-text-small" : "kernel-text");

/** The parts of the kernel that run in the processes of other programs (native/). */
export const readNativeKernels = () => [readEncodingKernel(), readTextKernel()];

/** An instance of the first one: it has some of the exports, and a memory of its own, not shared. */
export function createEncodingKernel(): Kernel {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: largestPageCount });
  const code = hasSimd() ? readEncodingKernel() : readKernel("kernel-encode-baseline");
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(code), { env: { memory, poll() {} } });
  return { exports: exports as KernelExports, memory };
}

/** The part that a text goes through before it is cut, in a memory of its own. */
export type TextKernel = { readonly exports: TextKernelExports; readonly memory: WebAssembly.Memory };

let compiledText: WebAssembly.Module | undefined;

export function createTextKernel(): TextKernel {
  compiledText ??= new WebAssembly.Module(hasSimd() ? readTextKernel() : readKernel("kernel-text-baseline"));
  const memory = new WebAssembly.Memory({ initial: 1, maximum: largestPageCount });
  const { exports } = new WebAssembly.Instance(compiledText, { env: { memory, poll() {} } });
  return { exports: exports as TextKernelExports, memory };
}

export const pageBytes = 1 << 16;
const largestPageCount = 1 << 16;
const smallestPageCount = 1 << 8;
/** In 256 MB the regions have room for most patterns; in less than 64 MB for hardly any. */
const commonBytes = 2 ** 28;
const smallestWholeBytes = 2 ** 26;

/** A kernel in a memory that is accessible as a whole, with the regions of src/kernel/regions.ts. */
export function createRegionKernel(memory: WebAssembly.Memory): Kernel {
  const kernel = createKernel(memory);
  kernel.exports.layOut();
  return kernel;
}

/**
 * The size of one of `memoryCount` memories, in bytes, if it asks for so many. The engine refuses to have memories, written or
 * not, of more than three times the machine's memory in all. So one gets at most its share of twice that.
 */
export function wholeMemoryBytes(
  wantedBytes: number,
  memoryCount = availableParallelism() + 1,
  machineBytes = totalmem(),
): number {
  const mostBytes = Math.min((2 * machineBytes) / memoryCount, largestPageCount * pageBytes);
  let sizeBytes = smallestWholeBytes;
  while (sizeBytes < Math.max(wantedBytes, commonBytes) && 2 * sizeBytes <= mostBytes) sizeBytes *= 2;
  return sizeBytes;
}

/** A memory of that size, accessible at once as a whole; smaller where the system refuses it. */
export function createWholeMemory(wantedBytes: number, memoryCount?: number): WebAssembly.Memory {
  const pageCount = wholeMemoryBytes(wantedBytes, memoryCount) / pageBytes;
  return largestMemory(pageCount, smallestWholeBytes / pageBytes, (maximum) => maximum);
}

/** A memory of `pageCount` pages, or half as many, and so on, as the system allows. Throws below `leastPageCount`. */
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
 * Copies an array into the kernel's memory for good, at the front of `byteCount` reserved bytes. Returns its address, or 0
 * if there is no room.
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

/** Called by an assertion that does not hold, in the module with assertions. */
function abort(_message: number, _file: number, line: number, column: number): never {
  throw new Error(`the kernel's assertion at line ${line}, column ${column} does not hold`);
}
