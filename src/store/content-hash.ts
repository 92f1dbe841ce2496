import { closeSync, openSync, readSync, statSync } from "node:fs";
import type { Input } from "../corpus/input.ts";
import { openInput, shrank } from "../corpus/open-input.ts";
import { createSha256 } from "../runtime/host.ts";
import { inTurns } from "../runtime/turns.ts";
import type { CountsRecord } from "../vocabulary/formats/training-json.ts";

/** Bytes read at a time. They stay in the second cache, and the memory is the same for all files. */
const block = new Uint8Array(1 << 18);
/** Bytes hashed between two yields: a millisecond. */
const sliceBytes = 1 << 20;

/** SHA-256 of a file as it was when the run began. Yields how many bytes were hashed since the last yield. */
export function* hashInput(input: Input): Generator<number, string> {
  const fd = openInput(input);
  try {
    const { sha256, sizeBytes } = yield* hashFile(fd, input.sizeBytes);
    if (sizeBytes < input.sizeBytes) throw shrank(input, sizeBytes);
    return sha256;
  } finally {
    closeSync(fd);
  }
}

/** Files of word counts as the record of a training names them. A pipe can be read only once: its checksum is null. */
export async function describeCounts(paths: readonly string[]): Promise<CountsRecord[]> {
  const records: CountsRecord[] = [];
  for (const path of paths) {
    const stats = statSync(path);
    const sha256 = stats.isFile() ? await hashPath(path) : null;
    records.push({ path, sizeBytes: stats.size, sha256 });
  }
  return records;
}

async function hashPath(path: string): Promise<string> {
  const fd = openSync(path, "r");
  try {
    return (await inTurns(hashFile(fd, Number.POSITIVE_INFINITY))).sha256;
  } finally {
    closeSync(fd);
  }
}

/** SHA-256 of the first `sizeBytesMax` bytes of an open file, and how many bytes there were. Yields as `hashInput`. */
function* hashFile(fd: number, sizeBytesMax: number) {
  const hasher = createSha256();
  let done = 0;
  for (let yielded = 0; done < sizeBytesMax; ) {
    const size = readSync(fd, block, 0, Math.min(block.length, sizeBytesMax - done), done);
    if (size === 0) break;
    hasher.update(block.subarray(0, size));
    done += size;
    if (done - yielded < sliceBytes && done < sizeBytesMax) continue;
    yield done - yielded;
    yielded = done;
  }
  return { sha256: hasher.digest("hex"), sizeBytes: done };
}
