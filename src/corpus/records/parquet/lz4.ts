/**
 * Pages packed with LZ4. The codec `LZ4_RAW` is one block; what is called `LZ4` is either that (fastparquet) or, as
 * Hadoop wrote it, any number of blocks, each behind its two sizes: unpacked and packed, four bytes, the highest first.
 */

/** The `sizeBytes` bytes of one block. Throws if it has others. */
export function unpackLz4Block(bytes: Uint8Array, sizeBytes: number): Uint8Array {
  const page = new Uint8Array(sizeBytes);
  if (decodeBlock(bytes, page, 0, sizeBytes) !== sizeBytes) throw new Error("its LZ4 data is damaged");
  return page;
}

/** Blocks with their sizes, if all of them fit together; else one block. */
export function unpackLz4(bytes: Uint8Array, sizeBytes: number): Uint8Array {
  return unpackSizedBlocks(bytes, sizeBytes) ?? unpackLz4Block(bytes, sizeBytes);
}

function unpackSizedBlocks(bytes: Uint8Array, sizeBytes: number): Uint8Array | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const page = new Uint8Array(sizeBytes);
  let pos = 0;
  let filled = 0;
  while (pos < bytes.length) {
    if (pos + 8 > bytes.length) return undefined;
    const unpackedEnd = filled + view.getUint32(pos);
    const packedEnd = pos + 8 + view.getUint32(pos + 4);
    if (unpackedEnd > sizeBytes || packedEnd > bytes.length) return undefined;
    if (decodeBlock(bytes.subarray(pos + 8, packedEnd), page, filled, unpackedEnd) !== unpackedEnd) {
      return undefined;
    }
    pos = packedEnd;
    filled = unpackedEnd;
  }
  return filled === sizeBytes ? page : undefined;
}

/**
 * Unpacks a block into [from, end) of `out` and returns where it ends there; -1 if the block is damaged or has no room.
 * It is a list of sequences:
 *
 *   token      1         high four bits: literals; low four bits: length of the match, less 4
 *   more       any       where a number is 15: bytes that are added to it, up to the first that is not 255
 *   literals             bytes to copy
 *   distance   2         how far back the match begins, the low byte first; the last sequence has none
 *   more                 of the length of the match
 */
function decodeBlock(block: Uint8Array, out: Uint8Array, from: number, end: number): number {
  let pos = 0;
  let outPos = from;
  while (pos < block.length) {
    const token = block[pos++]!;
    let literalCount = token >> 4;
    if (literalCount === 15) {
      let more = 255;
      while (more === 255 && pos < block.length) literalCount += more = block[pos++]!;
    }
    if (pos + literalCount > block.length || outPos + literalCount > end) return -1;
    out.set(block.subarray(pos, pos + literalCount), outPos);
    pos += literalCount;
    outPos += literalCount;
    if (pos === block.length) return outPos;

    if (pos + 2 > block.length) return -1;
    const distance = block[pos]! | (block[pos + 1]! << 8);
    pos += 2;
    let length = 4 + (token & 15);
    if (length === 19) {
      let more = 255;
      while (more === 255 && pos < block.length) length += more = block[pos++]!;
    }
    if (distance === 0 || distance > outPos - from || outPos + length > end) return -1;
    // Byte by byte: a match may reach into itself.
    for (const stop = outPos + length; outPos < stop; outPos++) out[outPos] = out[outPos - distance]!;
  }
  return outPos;
}
