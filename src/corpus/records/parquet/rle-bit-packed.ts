/**
 * Decodes `out.length` integers of Parquet's RLE/bit-packing hybrid, from byte `start` on and before `end`. It is a
 * sequence of runs. A run begins with a header, a varint, whose lowest bit says which of two kinds it is:
 *
 *   0   RLE: header / 2 times the value that follows, in as many whole bytes as `bitWidth` needs
 *   1   bit-packed: header / 2 groups of eight values of `bitWidth` bits each, lowest bits first
 *
 * The last group may have more values than are wanted. Returns false if there are too few.
 */
export function decodeRleBitPacked(
  bytes: Uint8Array,
  start: number,
  end: number,
  bitWidth: number,
  out: Int32Array,
): boolean {
  if (bitWidth > 31) return false;
  const valueBytes = (bitWidth + 7) >> 3;
  let pos = start;
  for (let count = 0; count < out.length; ) {
    let header = 0;
    let shift = 0;
    for (let byte = 0x80; byte >= 0x80; shift += 7) {
      if (pos >= end || shift > 28) return false;
      byte = bytes[pos++]!;
      header |= (byte & 0x7f) << shift;
    }
    const length = header >>> 1;
    if (length === 0) continue;
    if ((header & 1) === 0) {
      if (pos + valueBytes > end) return false;
      let value = 0;
      for (let i = 0; i < valueBytes; i++) value |= bytes[pos++]! << (8 * i);
      const runEnd = Math.min(out.length, count + length);
      out.fill(value, count, runEnd);
      count = runEnd;
    } else {
      const wantedCount = Math.min(out.length - count, 8 * length);
      if (pos + Math.ceil((wantedCount * bitWidth) / 8) > end) return false;
      unpackBits(bytes, pos, bitWidth, out, count, wantedCount);
      count += wantedCount;
      pos += length * bitWidth;
    }
  }
  return true;
}

function unpackBits(
  bytes: Uint8Array,
  start: number,
  bitWidth: number,
  out: Int32Array,
  from: number,
  count: number,
): void {
  let pos = start;
  let bitPos = 0;
  for (let i = 0; i < count; i++) {
    let value = 0;
    for (let bitCount = 0; bitCount < bitWidth; ) {
      const taken = Math.min(8 - bitPos, bitWidth - bitCount);
      value |= ((bytes[pos]! >> bitPos) & ((1 << taken) - 1)) << bitCount;
      bitCount += taken;
      bitPos += taken;
      if (bitPos === 8) {
        bitPos = 0;
        pos++;
      }
    }
    out[from + i] = value;
  }
}
