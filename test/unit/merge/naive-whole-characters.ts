export const bytesOf = (text: string) => Buffer.from(text, "latin1");
const strict = new TextDecoder("utf-8", { fatal: true });

export function isWhole(bytes: string): boolean {
  try {
    strict.decode(bytesOf(bytes));
    return true;
  } catch {
    return false;
  }
}

/** Whether the bytes are the first bytes of some character, but not all of it. */
export const isBegun = (bytes: string) => bytes.length < 4 && begun.has(bytes);
const begun = new Set<string>();
for (let point = 0x80; point < 0x110000; point += point < 0x800 ? 1 : 0x40) {
  if (point >= 0xd800 && point < 0xe000) continue;
  const bytes = Buffer.from(String.fromCodePoint(point)).toString("latin1");
  for (let length = 1; length < bytes.length; length++) begun.add(bytes.slice(0, length));
}

/** Whether two tokens may be merged, by their bytes. */
export function naiveMayJoin(left: string, right: string): boolean {
  if (isWhole(left) || isWhole(right)) return isWhole(left) && isWhole(right);
  if (right.length > 1) return false;
  // Whole characters may precede the last one, which may be unfinished.
  for (let length = 1; length <= 4; length++) {
    const [before, last] = [(left + right).slice(0, -length), (left + right).slice(-length)];
    if (isWhole(before) && (isWhole(last) || isBegun(last))) return true;
  }
  return false;
}
