import { bytesOf } from "#bytes";
import { kernels } from "#runtime";

let kernel: kernels.Kernel | undefined;
let last: KernelArrays | undefined;

/** The address of the first array. The memory before it belongs to the caller. */
const arraysStart = 2048;

/** Arrays in the memory of the kernel that makes tokens and writes rows of files. */
export class KernelArrays {
  private constructor(
    readonly kernel: kernels.Kernel,
    /** The addresses of the arrays; each is a multiple of 8. */
    readonly addresses: readonly number[],
    readonly end: number,
  ) {}

  /**
   * Copies arrays into the memory, with `bytesAfter` free bytes after them. Overwrites the arrays that this thread
   * copied before.
   */
  static put(arrays: readonly ArrayBufferView[], bytesAfter: number): KernelArrays {
    kernel ??= kernels.create();
    let end = arraysStart;
    const addresses = arrays.map(({ byteLength }) => {
      const address = end;
      end = Math.ceil((end + byteLength) / 8) * 8;
      return address;
    });
    kernels.growMemory(kernel.memory, end + bytesAfter);
    const memory = new Uint8Array(kernel.memory.buffer);
    for (const [i, array] of arrays.entries()) memory.set(bytesOf(array), addresses[i]!);
    last = new KernelArrays(kernel, addresses, end);
    return last;
  }

  /** Whether these arrays are still in the memory: since then, no others were copied, and the memory was not lent. */
  get areStillThere(): boolean {
    return this === last;
  }
}

/**
 * Lends the memory of the arrays to another kernel, cleared and with at least `byteCount` bytes, until the next call of
 * `KernelArrays.put`. The arrays are lost. Their own kernel loses nothing else, because it keeps no other data there.
 * With a new memory instead, the JavaScript engine would collect garbage, because the engine counts memories.
 */
export function lendMemory(byteCount: number): WebAssembly.Memory {
  kernel ??= kernels.create();
  last = undefined;
  const { memory } = kernel;
  new Uint8Array(memory.buffer).fill(0);
  kernels.growMemory(memory, byteCount);
  return memory;
}
