import { bytesOf } from "#bytes";
import { kernels } from "#runtime";

/** The kernel that makes tokens and writes rows of files. Its memory has the arrays that these functions need. */
let kernel: kernels.Kernel | undefined;
/** The parts of its memory that may be used, if `useMemory` was called; otherwise the memory can grow. */
let given: GivenMemory | undefined;
let last: KernelArrays | undefined;

/** The address of the first array in a memory of its own. The memory before it belongs to the caller. */
const arraysStart = 2048;

/** Arrays in the kernel's memory. */
export class KernelArrays {
  constructor(
    readonly kernel: kernels.Kernel,
    /** The addresses of the arrays; each is a multiple of 8. */
    readonly addresses: readonly number[],
    readonly end: number,
  ) {}

  /** Whether these arrays are still in the memory: since then, no others were copied, and the memory was not lent. */
  get areStillThere(): boolean {
    return this === last;
  }
}

/**
 * Copies arrays into the memory, with `bytesAfter` free bytes after them. Overwrites the arrays that this thread copied
 * before.
 */
export function put(arrays: readonly ArrayBufferView[], bytesAfter: number): KernelArrays {
  const sizeBytes = arrays.reduce((sum, { byteLength }) => sum + sizeOf(byteLength), bytesAfter);
  if (given !== undefined && given.start + sizeBytes > given.end) releaseMemory();
  const kernel = openKernel();
  let end = given?.start ?? arraysStart;
  if (given === undefined) kernels.growMemory(kernel.memory, end + sizeBytes);
  const memory = new Uint8Array(kernel.memory.buffer);
  const addresses = arrays.map((array) => {
    const address = end;
    memory.set(bytesOf(array), address);
    end += sizeOf(array.byteLength);
    return address;
  });
  last = new KernelArrays(kernel, addresses, end);
  return last;
}

/** The size in bytes that an array of `byteLength` bytes takes in the memory. */
const sizeOf = (byteLength: number) => Math.ceil(byteLength / 8) * 8;

/**
 * Lends the first `byteCount` bytes of the memory to another kernel, cleared, until the next call of `put`. The arrays
 * are lost. Their own kernel loses nothing else, because it keeps no other data there. With a new memory instead, the
 * JavaScript engine would collect garbage, because the engine counts memories.
 */
export function lendMemory(byteCount: number): WebAssembly.Memory {
  if (given !== undefined && byteCount > given.lowBytes) releaseMemory();
  const { memory } = openKernel();
  last = undefined;
  // What was never written is still zero, and takes no memory until it is written.
  const writtenBytes =
    given === undefined ? memory.buffer.byteLength : Math.min(given.writtenLowBytes, given.lowBytes);
  new Uint8Array(memory.buffer, 0, writtenBytes).fill(0);
  if (given === undefined) kernels.growMemory(memory, byteCount);
  else given.writtenLowBytes = Math.max(given.writtenLowBytes, byteCount);
  return memory;
}

/** A memory whose content is no longer needed. */
type GivenMemory = {
  /** The bytes [start, end) may be used for arrays. */
  readonly start: number;
  readonly end: number;
  /** The number of bytes at the beginning that may be lent. */
  readonly lowBytes: number;
  /** The number of bytes at the beginning that may have been written. All bytes after them, up to `lowBytes`, are zero. */
  writtenLowBytes: number;
};

/** Uses a memory whose content is no longer needed, so that no other memory is created for what fits there. */
export function useMemory(memory: WebAssembly.Memory, parts: GivenMemory): void {
  last = undefined;
  kernel = kernels.create(memory);
  given = { ...parts };
}

/** Stops using the memory that `useMemory` was given. The arrays in it are lost. */
export function releaseMemory(): void {
  if (given === undefined) return;
  last = undefined;
  kernel = undefined;
  given = undefined;
}

function openKernel(): kernels.Kernel {
  kernel ??= kernels.create();
  return kernel;
}
