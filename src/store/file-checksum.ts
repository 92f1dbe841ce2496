import { readSync } from "node:fs";
import { zlib } from "#corpus";
import { type ByteSink, scaled } from "#runtime";

/** The maximum size in bytes of a head that is overwritten after the rest of the file was written. */
const headBytesMax = 4096;

/**
 * A checksum against accidental damage: the CRC-32 of the file with its first 4,096 bytes moved to the end. These bytes
 * are hashed last, so that they can be overwritten after the rest of the file was added.
 */
export class FileChecksum {
  private readonly head = new Uint8Array(headBytesMax);
  private headBytes = 0;
  private crc = 0;

  /** Adds the next bytes of the file. */
  add(chunk: Uint8Array): void {
    let from = 0;
    if (this.headBytes < headBytesMax) {
      const part = chunk.subarray(0, headBytesMax - this.headBytes);
      this.head.set(part, this.headBytes);
      this.headBytes += part.length;
      from = part.length;
    }
    if (from < chunk.length) this.crc = zlib().crc32(chunk.subarray(from), this.crc);
  }

  /** Replaces bytes that were added, which must be in the head. */
  overwrite(chunk: Uint8Array, pos: number): void {
    this.head.set(chunk, pos);
  }

  /** The checksum as eight hexadecimal digits. */
  get value(): string {
    const crc = zlib().crc32(this.head.subarray(0, this.headBytes), this.crc);
    return crc.toString(16).padStart(8, "0");
  }
}

/** Writes to a file and computes its checksum. */
export class ChecksummedFile implements ByteSink {
  readonly checksum = new FileChecksum();

  constructor(private readonly file: ByteSink) {}

  write(chunk: Uint8Array): void {
    this.checksum.add(chunk);
    this.file.write(chunk);
  }

  overwrite(chunk: Uint8Array, pos: number): void {
    this.checksum.overwrite(chunk, pos);
    this.file.overwrite!(chunk, pos);
  }
}

/** The buffer for reading. */
const block = new Uint8Array(scaled(1 << 18, 16));
/** How many bytes are read between two yields. */
const sliceBytes = scaled(1 << 22, 64);

/**
 * Computes the checksum of an open file, and returns it at the end. Yields the number of bytes read since the last
 * yield.
 */
export function* checksumOf(fd: number): Generator<number, string> {
  const checksum = new FileChecksum();
  let pending = 0;
  for (let pos = 0; ; ) {
    const size = readSync(fd, block, 0, block.length, pos);
    if (size === 0) break;
    checksum.add(block.subarray(0, size));
    pos += size;
    pending += size;
    if (pending < sliceBytes) continue;
    yield pending;
    pending = 0;
  }
  yield pending;
  return checksum.value;
}
