import { host, scaled } from "#runtime";
import type { ByteSource, RangeReader } from "./range-reader.ts";

// The checksum of a text is its CRC-32, which detects accidental changes only. It takes some 2 % of the time of
// counting; SHA-256 would take some 20 %.

/** The checksum of the text added so far; undefined if the runtime has no CRC-32. */
export class TextChecksum {
  value: number | undefined = host.crc32 && 0;

  add(bytes: Uint8Array): void {
    if (this.value !== undefined && bytes.length > 0) this.value = host.crc32!(bytes, this.value);
  }
}

/** A mapped window is read again in blocks of this many bytes, which stay in the processor's cache. */
const blockBytes = scaled(1 << 16, 16);

/**
 * The checksum of a range's text, window by window. Only the kernel may read mapped pages, so the bytes of a mapped
 * window are read from the file once more.
 */
export class RangeChecksum extends TextChecksum {
  /** Allocated only if a window is mapped, because large arrays make the runtime collect garbage. */
  private block: Uint8Array | undefined;

  constructor(
    private readonly source: ByteSource,
    private addedByte: number,
  ) {
    super();
  }

  /**
   * Adds the bytes of the window that were not added yet: up to `endByte`, or to the end of the window if that is
   * earlier.
   */
  addWindow({ text, baseByte, limit, isMapped }: RangeReader, endByte: number): void {
    const end = Math.min(baseByte + limit, endByte);
    if (!isMapped) {
      this.add(text.bytes.subarray(this.addedByte - baseByte, end - baseByte));
      this.addedByte = end;
      return;
    }
    this.block ??= new Uint8Array(blockBytes);
    while (this.addedByte < end) {
      const readBytes = this.source.read(
        this.block,
        0,
        Math.min(blockBytes, end - this.addedByte),
        this.addedByte,
      );
      this.add(this.block.subarray(0, readBytes));
      this.addedByte += readBytes;
    }
  }
}

/** Returns the checksum of a text from the checksums of its two parts; undefined if either of these is undefined. */
export function joinChecksums(
  first: number | undefined,
  second: number | undefined,
  secondBytes: number,
): number | undefined {
  if (first === undefined || second === undefined) return undefined;
  return (multiply(powerOfX(8 * secondBytes), first) ^ second) >>> 0;
}

// Polynomials over GF(2), modulo the polynomial of CRC-32. The coefficient of x^0 is in the highest bit, as in zlib's
// crc32_combine.

const polynomial = 0xedb88320;
const one = 0x80000000;

function multiply(a: number, b: number): number {
  let product = 0;
  for (let bit = one; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= b;
    b = (b & 1) === 0 ? b >>> 1 : (b >>> 1) ^ polynomial;
  }
  return product >>> 0;
}

/** Returns x^power modulo the polynomial of CRC-32. */
function powerOfX(power: number): number {
  let result = one;
  let square = one >>> 1;
  for (let rest = power; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result = multiply(result, square);
    square = multiply(square, square);
  }
  return result;
}
