import { closeSync, openSync, readSync, statSync } from "node:fs";
import { corpusInputs, type Input } from "#corpus";
import type { trainingRecords } from "#formats";
import { host, runSliced, scaled } from "#runtime";

/** The buffer into which files are read. It fits into the L2 cache. */
const block = new Uint8Array(scaled(1 << 18, 64));
/** How many bytes are hashed between two yields: about a millisecond of work. */
const sliceBytes = scaled(1 << 20, 128);

/** Returns the SHA-256 of an input. Yields the number of bytes hashed since the last yield. */
export function* hashInput(input: Input): Generator<number, string> {
  const fd = corpusInputs.openInput(input);
  try {
    const { sha256, sizeBytes } = yield* hashFile(fd, input.sizeBytes);
    if (sizeBytes < input.sizeBytes) throw corpusInputs.shrunkError(input, sizeBytes);
    return sha256;
  } finally {
    closeSync(fd);
  }
}

/** Describes files for training.json. The SHA-256 of a pipe, which can be read only once, is null. */
export async function describeCounts(paths: readonly string[]): Promise<trainingRecords.Counts[]> {
  const records: trainingRecords.Counts[] = [];
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
    return (await runSliced(hashFile(fd, Number.POSITIVE_INFINITY))).sha256;
  } finally {
    closeSync(fd);
  }
}

/** Returns the SHA-256 of the first `sizeBytesMax` bytes of an open file, and the number of bytes read. */
function* hashFile(fd: number, sizeBytesMax: number) {
  const hasher = host.createSha256();
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

/**
 * Remembers the SHA-256 of files that were read, so that an unchanged file need not be read again. A file counts as
 * unchanged if it has the same device, inode, size, time of modification (mtime) and time of change (ctime).
 *
 *   bpe-index 1 CHECKSUM                          xxHash64 of all that follows, hexadecimal
 *   DEVICE INODE SIZE MODIFIED CHANGED SHA256     a line for each file, times in nanoseconds
 *
 * Why this is safe: a state is recorded only if both times were at least two seconds in the past when the file was
 * examined, and the file was read after that. A later write sets ctime to a later moment, by more than the resolution
 * of any clock, so the state differs. Programs can set mtime as they like, but doing so sets ctime to now.
 */
export class FileIndex {
  private readonly hashes: Map<string, string>;
  /** Whether the given content is neither empty nor a valid index. If it is damaged, the index starts empty. */
  readonly isDamaged: boolean;
  private isChanged = false;

  constructor(content: string) {
    const hashes = parse(content);
    this.isDamaged = content !== "" && hashes === undefined;
    this.hashes = hashes ?? new Map();
  }

  find(state: FileState): string | undefined {
    if (!state.isSettled) return undefined;
    const sha256 = this.hashes.get(state.key);
    if (sha256 === undefined) return undefined;
    this.hashes.delete(state.key);
    this.hashes.set(state.key, sha256);
    return sha256;
  }

  add(state: FileState, sha256: string): void {
    if (!state.isSettled) return;
    this.hashes.delete(state.key);
    this.hashes.set(state.key, sha256);
    this.isChanged = true;
  }

  /**
   * Returns the index to write, merged with `content`, which another run may have written meanwhile. Returns null if
   * this run has not changed the index.
   */
  contentOver(content: string): string | null {
    if (!this.isChanged) return null;
    const lines = parse(content) ?? new Map<string, string>();
    for (const [key, sha256] of this.hashes) {
      lines.delete(key);
      lines.set(key, sha256);
    }
    const kept = [...lines].slice(-linesMax);
    return sealed(kept.map(([key, sha256]) => `${key} ${sha256}\n`).join(""));
  }
}

/** The maximum number of lines, about 13 MB. The first lines are dropped; the files of this run have the last lines. */
const linesMax = 100_000;
const settledMs = 2000;

/** The state of a file, by which a change is noticed. */
export type FileState = {
  readonly key: string;
  /** Whether the file's times are so old that any later change gives it another time. */
  readonly isSettled: boolean;
};

export function stateOf(path: string, nowMs: number): FileState {
  const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
  const latestMs = Number((mtimeNs > ctimeNs ? mtimeNs : ctimeNs) / 1_000_000n);
  return {
    key: `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`,
    isSettled: latestMs + settledMs < nowMs,
  };
}

const head = "bpe-index 1 ";
const checksumOf = (lines: string) => host.xxHash64(lines).toString(16).padStart(16, "0");
const sealed = (lines: string) => `${head}${checksumOf(lines)}\n${lines}`;

/** Parses an index; undefined if it is invalid. Lines are checked, because hashes become parts of file names. */
function parse(content: string): Map<string, string> | undefined {
  const lines = content.slice(head.length + 17);
  if (sealed(lines) !== content) return undefined;
  const hashes = new Map<string, string>();
  for (const line of lines.split("\n").slice(0, -1)) {
    if (!lineForm.test(line)) return undefined;
    const place = line.lastIndexOf(" ");
    hashes.set(line.slice(0, place), line.slice(place + 1));
  }
  return hashes;
}

/** The form of a line. Times before 1970 are negative. */
const lineForm = /^\d+ \d+ \d+ -?\d+ -?\d+ [0-9a-f]{64}$/;
