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

  /** Whether no other arrays have been copied since these. */
  get areStillThere(): boolean {
    return this === last;
  }
}
