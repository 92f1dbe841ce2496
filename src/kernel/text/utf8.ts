// UTF-8, one character at a time. The JavaScript counterpart is src/bytes/utf8-characters.ts.

/**
 * Returns the size in bytes of the character at `pos`; 0 if the bytes there are not UTF-8, or the character is not
 * complete before `stop`.
 */
export function characterSize(pos: usize, stop: usize): usize {
  const lead = <u32>load<u8>(pos);
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4 || pos + 2 > stop) return 0;
  const second = <u32>load<u8>(pos, 1);
  if (lead < 0xe0) return (second & 0xc0) === 0x80 ? 2 : 0;
  if (!isSecond(lead, second) || pos + 3 > stop || (load<u8>(pos, 2) & 0xc0) !== 0x80) return 0;
  if (lead < 0xf0) return 3;
  return pos + 4 <= stop && (load<u8>(pos, 3) & 0xc0) === 0x80 ? 4 : 0;
}

/**
 * Whether a byte may follow the lead byte of a character of three or four bytes. It may if the character is neither
 * overlong nor a surrogate, and at most U+10FFFF.
 */
function isSecond(lead: u32, second: u32): bool {
  if (lead === 0xe0) return second - 0xa0 < 0x20;
  if (lead === 0xed) return second - 0x80 < 0x20;
  if (lead === 0xf0) return second - 0x90 < 0x30;
  if (lead === 0xf4) return second - 0x80 < 0x10;
  return (second & 0xc0) === 0x80;
}

/** Whether the bytes [pos, stop) are the beginning of a character that further bytes can complete. */
export function isUnfinished(pos: usize, stop: usize): bool {
  const lead = <u32>load<u8>(pos);
  const size: usize = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (lead < 0xc2 || lead > 0xf4 || stop - pos >= size) return false;
  if (stop - pos >= 2 && !isSecond(lead, <u32>load<u8>(pos, 1))) return false;
  return stop - pos < 3 || (load<u8>(pos, 2) & 0xc0) === 0x80;
}

/**
 * Returns `stop`, or, if the text [from, stop) ends inside a character that further bytes can complete, the start of
 * that character.
 */
export function wholeEnd(from: usize, stop: usize): usize {
  for (let at = stop - 1; at >= from && stop - at < 4; at--) {
    if ((load<u8>(at) & 0xc0) !== 0x80) return isUnfinished(at, stop) ? at : stop;
  }
  return stop;
}

export function codePointAt(pos: usize, size: usize): u32 {
  const lead = <u32>load<u8>(pos);
  if (size === 1) return lead;
  const second = <u32>load<u8>(pos, 1) & 63;
  if (size === 2) return ((lead & 31) << 6) | second;
  const third = <u32>load<u8>(pos, 2) & 63;
  if (size === 3) return ((lead & 15) << 12) | (second << 6) | third;
  return ((lead & 7) << 18) | (second << 12) | (third << 6) | (<u32>load<u8>(pos, 3) & 63);
}

/** Writes a character in UTF-8. Returns its size. */
export function putCharacter(to: usize, codePoint: u32): usize {
  if (codePoint < 0x80) {
    store<u8>(to, <u8>codePoint);
    return 1;
  }
  if (codePoint < 0x800) {
    store<u8>(to, <u8>(0xc0 | (codePoint >> 6)));
    store<u8>(to, <u8>(0x80 | (codePoint & 63)), 1);
    return 2;
  }
  if (codePoint < 0x10000) {
    store<u8>(to, <u8>(0xe0 | (codePoint >> 12)));
    store<u8>(to, <u8>(0x80 | ((codePoint >> 6) & 63)), 1);
    store<u8>(to, <u8>(0x80 | (codePoint & 63)), 2);
    return 3;
  }
  store<u8>(to, <u8>(0xf0 | (codePoint >> 18)));
  store<u8>(to, <u8>(0x80 | ((codePoint >> 12) & 63)), 1);
  store<u8>(to, <u8>(0x80 | ((codePoint >> 6) & 63)), 2);
  store<u8>(to, <u8>(0x80 | (codePoint & 63)), 3);
  return 4;
}

/** The result of `characterAfter` and `characterBefore` if there is no valid character. */
export const noCharacter: i32 = -1;

/** Returns the code point of the character at `pos` in a text that ends at `stop`, or `noCharacter`. */
export function characterAfter(pos: usize, stop: usize): i32 {
  const size = pos < stop ? characterSize(pos, stop) : 0;
  return size === 0 ? noCharacter : <i32>codePointAt(pos, size);
}

/** Returns the code point of the character that ends at `end` in a text that begins at `start`, or `noCharacter`. */
export function characterBefore(start: usize, end: usize): i32 {
  let pos = end;
  while (pos > start && end - pos < 4) if ((load<u8>(--pos) & 0xc0) !== 0x80) break;
  const size = pos < end ? characterSize(pos, end) : 0;
  return size === 0 || pos + size !== end ? noCharacter : <i32>codePointAt(pos, size);
}

/** Returns the size in bytes of a code point in UTF-8. */
export function sizeOf(codePoint: i32): u32 {
  return codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
}

/** Whether a character has Unicode's White_Space property, like `char::is_whitespace` in Rust. */
export function isWhiteSpace(codePoint: i32): bool {
  if (codePoint < 0x1680)
    return <u32>(codePoint - 9) < 5 || codePoint === 32 || codePoint === 0x85 || codePoint === 0xa0;
  if (codePoint < 0x2000) return codePoint === 0x1680;
  if (codePoint < 0x2030)
    return codePoint <= 0x200a || codePoint === 0x2028 || codePoint === 0x2029 || codePoint === 0x202f;
  return codePoint === 0x205f || codePoint === 0x3000;
}
