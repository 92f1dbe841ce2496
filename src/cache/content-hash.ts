import { closeSync, readSync } from "node:fs";
import { type Input, openInput, shrank } from "../corpus/inputs.ts";

/** Bytes hashed at a time: some milliseconds. */
const pieceBytes = 1 << 20;

/** SHA-256 of a file as it was when the run began; yields how many bytes were hashed, piece by piece. */
export function* hashInput(input: Input): Generator<number, string> {
  const hasher = new Bun.CryptoHasher("sha256");
  const piece = new Uint8Array(Math.min(pieceBytes, input.sizeBytes));
  const fd = openInput(input);
  try {
    for (let done = 0; done < input.sizeBytes; ) {
      const size = readSync(fd, piece, 0, Math.min(piece.length, input.sizeBytes - done), done);
      if (size === 0) throw shrank(input, done);
      hasher.update(piece.subarray(0, size));
      done += size;
      yield size;
    }
  } finally {
    closeSync(fd);
  }
  return hasher.digest("hex");
}
