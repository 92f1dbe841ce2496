/**
 * A result: what a word was encoded to, in two lanes (8 bytes, copied by one load and one store).
 *
 *   RESULT     LANE 0           LANE 1
 *   missing    anything         0
 *   narrow     id0 | id1 << 16  id2 | count << 16         up to three ids of 16 bits; count = 1 .. 3
 *   wide       id0              id1 | count << 27         up to two ids of 27 bits; count = 1, 2
 *   kept       offset           keptFlag | count          ids[offset .. offset + count) of the table's `keptIds`
 *
 * Narrow or wide is a matter of the vocabulary: narrow if every id fits 16 bits. Lane 1 of `kept` is negative.
 *
 * The ids 262 and 7 are, narrow, [262 | 7 << 16, 2 << 16] and, wide, [262, 7 | 2 << 27].
 *
 * Subtle: results are copied as floating-point numbers, and a copied NaN may lose its bits. None of these is a NaN: the
 * bits 20 .. 30 of lane 1 are never all ones, because count is small and ids end below bit 27.
 */
export const keptFlag = 0x80000000 | 0;
export const keptCountMask = 0x7fffffff;

export const narrowCountShift = 16;
export const narrowIdsMax = 3;

export const wideCountShift = 27;
export const wideIdMask = 2 ** wideCountShift - 1;
export const wideIdsMax = 2;
