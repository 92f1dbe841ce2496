import { propertySet, whiteSpace } from "../../src/pattern/unicode.ts";

/**
 * The baseline: gpt2's boundaries by hand, the way a careful person writes such a scanner: a class for each byte, a
 * class for each code point, one loop for each kind of pretoken. For valid UTF-8 only.
 */
const kind = { other: 0, letter: 1, number: 2, space: 3, nonAscii: 4 } as const;
const apostrophe = 0x27;
const blank = 0x20;

const kindOfCodePoint = new Uint8Array(0x110000);
for (const [set, value] of [
  [propertySet("L")!, kind.letter],
  [propertySet("N")!, kind.number],
  [whiteSpace, kind.space],
] as const) {
  for (let i = 0; i < set.length; i += 2) kindOfCodePoint.fill(value, set[i]!, set[i + 1]! + 1);
}
const kindOfByte = kindOfCodePoint.slice(0, 256).fill(kind.nonAscii, 128);

function kindAt(bytes: Uint8Array, pos: number): number {
  const found = kindOfByte[bytes[pos]!]!;
  return found === kind.nonAscii ? kindOfCodePoint[codePointAt(bytes, pos)]! : found;
}

function codePointAt(bytes: Uint8Array, pos: number): number {
  const lead = bytes[pos]!;
  const second = bytes[pos + 1]! & 63;
  if (lead < 0xe0) return ((lead & 31) << 6) | second;
  const third = bytes[pos + 2]! & 63;
  if (lead < 0xf0) return ((lead & 15) << 12) | (second << 6) | third;
  return ((lead & 7) << 18) | (second << 12) | (third << 6) | (bytes[pos + 3]! & 63);
}

function lengthOf(lead: number): number {
  return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/** Length of 's 't 'd 'm 'll 've 're at `pos`, or 0. */
function contractionLength(bytes: Uint8Array, pos: number, limit: number): number {
  if (bytes[pos] !== apostrophe || pos + 1 >= limit) return 0;
  const first = bytes[pos + 1];
  if (first === 0x73 || first === 0x74 || first === 0x64 || first === 0x6d) return 2;
  if (pos + 2 >= limit) return 0;
  const second = bytes[pos + 2];
  if (first === 0x6c) return second === 0x6c ? 3 : 0;
  return (first === 0x76 || first === 0x72) && second === 0x65 ? 3 : 0;
}

/** Pretokens that begin in [start, stop) of a text that ends at `limit`; their count. The last end is where to go on. */
export function scanByHand(
  bytes: Uint8Array,
  start: number,
  stop: number,
  limit: number,
  ends: Int32Array,
): number {
  let endCount = 0;
  let pos = start;
  while (pos < stop) {
    const contraction = contractionLength(bytes, pos, limit);
    if (contraction > 0) {
      pos += contraction;
      ends[endCount++] = pos;
      continue;
    }
    let bodyPos = pos;
    if (bytes[pos] === blank && pos + 1 < limit && kindAt(bytes, pos + 1) !== kind.space) bodyPos++;
    const bodyKind = kindAt(bytes, bodyPos);
    let lastPos = bodyPos;
    let end = bodyPos;
    do {
      lastPos = end;
      end += lengthOf(bytes[end]!);
    } while (end < limit && kindAt(bytes, end) === bodyKind);
    // White space leaves its last character to what follows.
    if (bodyKind === kind.space && end < limit && lastPos > pos) end = lastPos;
    pos = end;
    ends[endCount++] = pos;
  }
  return endCount;
}
