import { closeSync, readSync } from "node:fs";
import type { Input } from "../corpus/input.ts";
import { openInput, shrank } from "../corpus/open-input.ts";

/** Bytes read at a time: they stay in the second cache, and the memory is the same for all. */
const piece = new Uint8Array(1 << 18);
/** Bytes hashed at a time: a millisecond. */
const sliceBytes = 1 << 20;

/** SHA-256 of a file as it was when the run began; yields how many bytes were hashed, slice by slice. */
export function* hashInput(input: Input): Generator<number, string> {
  const hasher = new Bun.CryptoHasher("sha256");
  const fd = openInput(input);
  try {
    for (let done = 0, yielded = 0; done < input.sizeBytes; ) {
      const size = readSync(fd, piece, 0, Math.min(piece.length, input.sizeBytes - done), done);
      if (size === 0) throw shrank(input, done);
      hasher.update(piece.subarray(0, size));
      done += size;
      if (done - yielded < sliceBytes && done < input.sizeBytes) continue;
      yield done - yielded;
      yielded = done;
    }
  } finally {
    closeSync(fd);
  }
  return hasher.digest("hex");
}
