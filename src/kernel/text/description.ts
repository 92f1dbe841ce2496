/**
 * How a text is cut into sections, as written by JavaScript (`describeSections` of src/text/text-sections.ts). It is
 * also stored in images.
 *
 *   OFFSET   TYPE            MEANING
 *   0        u32             number of early tokens: added tokens that are searched for in the given text
 *   4        u32             number of late tokens, which are searched for in the normalized text between early ones
 *   8        u32             size of the contents of all these tokens in bytes
 *   12       u32             number of ranges of word characters; 0 if no token is `single_word`
 *   16       u32             number of steps of the normalization
 *   20       u32             flags:
 *                            1: a space is put before each section that does not begin with a space
 *                            2: likewise before each line of a section
 *                            4: the space is put even before a section that begins with a space
 *                            8: only the start of a text gets a space. With 4, a text that begins with an added token
 *                               gets a section with only that space, before the token
 *                            16: a mark, U+2581 (encode/first-characters.ts), counts as a space
 *   24       u32[4] each     records of the tokens (token-search.ts), early ones first
 *   ..       u32[2] each     ranges of word characters: first and last, ascending
 *   ..       u8              contents; those of late tokens are normalized
 *   ..       u8              steps, as indices of `stepNames` of src/text/normalization.ts
 */
const headBytes: usize = 24;

export const prefixSpaceFlag: u32 = 1;
export const linewiseFlag: u32 = 2;
export const evenSpacedFlag: u32 = 4;
export const onlyFirstFlag: u32 = 8;
export const markFlag: u32 = 16;

/**
 * Whether the sizes in a description add up, no token is empty, and the bytes of each token are inside the contents.
 */
export function isDescription(description: usize, byteCount: usize): bool {
  if (byteCount < headBytes) return false;
  const tokens = <u64>load<u32>(description) + load<u32>(description, 4);
  const contentBytes = load<u32>(description, 8);
  const words = <u64>8 * load<u32>(description, 12);
  if (headBytes + 16 * tokens + words + contentBytes + load<u32>(description, 16) !== <u64>byteCount)
    return false;
  let record = recordsOf(description);
  for (const end = record + <usize>tokens * 16; record < end; record += 16) {
    const size = load<u32>(record, 4);
    if (size === 0 || <u64>load<u32>(record) + size > contentBytes) return false;
  }
  return true;
}

export function earlyCountOf(description: usize): u32 {
  return load<u32>(description);
}

export function tokenCountOf(description: usize): u32 {
  return load<u32>(description) + load<u32>(description, 4);
}

export function recordsOf(description: usize): usize {
  return description + headBytes;
}

export function wordsOf(description: usize): usize {
  return recordsOf(description) + ((<usize>tokenCountOf(description)) << 4);
}

export function wordRangesOf(description: usize): u32 {
  return load<u32>(description, 12);
}

export function contentsOf(description: usize): usize {
  return wordsOf(description) + ((<usize>wordRangesOf(description)) << 3);
}

export function stepsOf(description: usize): usize {
  return contentsOf(description) + load<u32>(description, 8);
}

export function stepCountOf(description: usize): u32 {
  return load<u32>(description, 16);
}

export function flagsOf(description: usize): u32 {
  return load<u32>(description, 20);
}
