import { bytesOf } from "#bytes";
import { kernels } from "#runtime";

let memory: WebAssembly.Memory | undefined;
/** The kernel in `memory`; undefined while the memory is lent. */
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
    if (kernel === undefined && memory !== undefined) new Uint8Array(memory.buffer).fill(0);
    kernel ??= kernels.create(memory);
    ({ memory } = kernel);
    let end = arraysStart;
    const addresses = arrays.map(({ byteLength }) => {
      const address = end;
      end = Math.ceil((end + byteLength) / 8) * 8;
      return address;
    });
    kernels.growMemory(memory, end + bytesAfter);
    const all = new Uint8Array(memory.buffer);
    for (const [i, array] of arrays.entries()) all.set(bytesOf(array), addresses[i]!);
    last = new KernelArrays(kernel, addresses, end);
    return last;
  }

  /**
   * Lends the memory, cleared and with at least `byteCount` bytes, until the next call of `put`. The arrays in it are
   * lost. A new memory would make the engine collect garbage, because it counts memories.
   */
  static lendMemory(byteCount: number): WebAssembly.Memory {
    memory ??= kernels.create().memory;
    new Uint8Array(memory.buffer).fill(0);
    kernels.growMemory(memory, byteCount);
    kernel = undefined;
    last = undefined;
    return memory;
  }

  /** Whether these arrays are still in the memory: since then, no others were copied, and the memory was not lent. */
  get areStillThere(): boolean {
    return this === last;
  }
}
