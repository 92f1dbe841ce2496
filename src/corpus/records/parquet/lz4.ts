/**
 * Pages compressed with LZ4. The codec `LZ4_RAW` is one block. The codec `LZ4` is either that (fastparquet) or Hadoop's:
 * any number of blocks, each after its decompressed and its compressed size, four bytes, high byte first.
 */

/** The `sizeBytes` bytes of one block. Throws if it has more or fewer. */
export function unpackLz4Block(bytes: Uint8Array, sizeBytes: number): Uint8Array {
  const page = new Uint8Array(sizeBytes);
  if (decodeBlock(bytes, page, 0, sizeBytes) !== sizeBytes) throw new Error("its LZ4 data is damaged");
  return page;
}

/** Hadoop's blocks, if their sizes fit the page; else one block. */
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
    const decompressedEnd = filled + view.getUint32(pos);
    const compressedEnd = pos + 8 + view.getUint32(pos + 4);
    if (decompressedEnd > sizeBytes || compressedEnd > bytes.length) return undefined;
    if (
      decodeBlock(bytes.subarray(pos + 8, compressedEnd), page, filled, decompressedEnd) !== decompressedEnd
    ) {
      return undefined;
    }
    pos = compressedEnd;
    filled = decompressedEnd;
  }
  return filled === sizeBytes ? page : undefined;
}

/**
 * Decompresses a block into [from, end) of `out` and returns where its bytes end there; -1 if the block is damaged or
 * does not fit. A block is a list of sequences:
 *
 *   token      1         high four bits: literals; low four bits: length of the match, less 4
 *   more       any       if a number is 15: bytes to add to it, up to and with the first that is not 255
 *   literals             bytes to copy
 *   distance   2         how far back the match begins, the low byte first; the last sequence has none
 *   more       any       the same for the length of the match
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
