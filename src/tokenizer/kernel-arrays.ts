import { bytesOf } from "#bytes";
import { kernels } from "#runtime";

/**
 * The kernel whose functions make tokens (`makeTokens`) and write rows of files. The arrays that they read are copied to
 * its memory.
 */
let kernel: kernels.Kernel | undefined;
/** The parts of the memory that `useMemory` was given; undefined if the kernel has a memory of its own, which can grow. */
let given: GivenMemory | undefined;
let last: KernelArrays | undefined;

/**
 * The address of the first array, unless `useMemory` gave a memory. Callers of `put` may use the bytes before it, as
 * formats/rows.ts does.
 */
const arraysStart = 2048;

/** Arrays in the kernel's memory. */
export class KernelArrays {
  constructor(
    readonly kernel: kernels.Kernel,
    /** The addresses of the arrays; each is a multiple of 8. */
    readonly addresses: readonly number[],
    readonly end: number,
  ) {}

  /** Whether these arrays are still in the memory: no others were copied later, and it was not lent or released. */
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
 * are lost; the kernel has no other data there that must last. A new memory would cost more: the JavaScript engine
 * limits the number of memories, and collects garbage when one of the last is created.
 */
export function lendMemory(byteCount: number): WebAssembly.Memory {
  if (given !== undefined && byteCount > given.lowBytes) releaseMemory();
  const { memory } = openKernel();
  last = undefined;
  // What was never written is still zero, and takes no memory until it is written.
  new Uint8Array(memory.buffer, 0, given?.writtenLowBytes ?? memory.buffer.byteLength).fill(0);
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
