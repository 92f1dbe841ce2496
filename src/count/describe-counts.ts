import { closeSync, openSync, readSync, statSync } from "node:fs";
import { nextTurn } from "../runtime/turns.ts";
import type { CountsRecord } from "../vocabulary/formats/training-json.ts";

/** Files of word counts as the record of a training names them. A pipe can be read only once: its checksum is null. */
export async function describeCounts(paths: readonly string[]): Promise<CountsRecord[]> {
  const records: CountsRecord[] = [];
  for (const path of paths) {
    const stats = statSync(path);
    records.push({ path, sizeBytes: stats.size, sha256: stats.isFile() ? await sha256Of(path) : null });
  }
  return records;
}

async function sha256Of(path: string): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256");
  const chunk = new Uint8Array(chunkSizeBytes);
  const fd = openSync(path, "r");
  try {
    for (let size = readSync(fd, chunk); size > 0; size = readSync(fd, chunk)) {
      hash.update(chunk.subarray(0, size));
      await nextTurn();
    }
  } finally {
    closeSync(fd);
  }
  return hash.digest("hex");
}

const chunkSizeBytes = 1 << 20;
