import { createKernel, growMemory, type Kernel } from "../runtime/kernel.ts";

/** Arrays in the memory of a kernel, each at a multiple of 8, and where they end. */
export type PutArrays = {
  readonly kernel: Kernel;
  readonly addresses: readonly number[];
  readonly end: number;
};

let kernel: Kernel | undefined;
let last: PutArrays | undefined;

/** What is below is the user's own, beside its arrays. */
const arraysStart = 2048;

/**
 * Puts the arrays of a vocabulary into the kernel that makes tokens and writes rows of files, with `bytesBehind` of room behind
 * them. It is one for the process, so what was put there before is lost: see `areThere`.
 */
export function putArrays(arrays: readonly ArrayBufferView[], bytesBehind: number): PutArrays {
  kernel ??= createKernel();
  let end = arraysStart;
  const addresses = arrays.map(({ byteLength }) => {
    const address = end;
    end = Math.ceil((end + byteLength) / 8) * 8;
    return address;
  });
  growMemory(kernel.memory, end + bytesBehind);
  const memory = new Uint8Array(kernel.memory.buffer);
  for (const [i, { buffer, byteOffset, byteLength }] of arrays.entries()) {
    memory.set(new Uint8Array(buffer, byteOffset, byteLength), addresses[i]!);
  }
  last = { kernel, addresses, end };
  return last;
}

/** Whether nothing else was put there since. */
export const areThere = (arrays: PutArrays) => arrays === last;
