// The effect of normalization on characters. Unicode's npm package has no decompositions, so they come from the pinned
// Bun.

/**
 * Characters newer than Unicode 9.0 that normalization changes. HF's normalizers use the tables of 9.0, which lack
 * them.
 */
const newerCharacters = [
  String.raw`\u07fd\u0897-\u089f\u08ca-\u08d3\u09fe\u0c3c\u0d3b\u0d3c\u0eba\u1715\u1abf-\u1add\u1ae0-\u1aeb`,
  String.raw`\u1df6-\u1dfa\u32ff\ua7f1-\ua7f4\ua82c\uab69\u{105c9}\u{105d2}\u{105da}\u{105e4}\u{10781}-\u{10785}`,
  String.raw`\u{10787}-\u{107b0}\u{107b2}-\u{107ba}\u{10d24}-\u{10d27}\u{10d69}-\u{10d6d}\u{10eab}\u{10eac}\u{10efa}`,
  String.raw`\u{10efb}\u{10efd}-\u{10eff}\u{10f46}-\u{10f50}\u{10f82}-\u{10f85}\u{11070}\u{1133b}\u{11382}-\u{11385}`,
  String.raw`\u{1138b}\u{1138e}\u{11390}\u{11391}\u{113b8}\u{113bb}\u{113c2}\u{113c5}\u{113c7}-\u{113c9}`,
  String.raw`\u{113ce}-\u{113d0}\u{1145e}\u{11839}\u{1183a}\u{11930}\u{11935}\u{11938}\u{1193d}\u{1193e}\u{11943}`,
  String.raw`\u{119e0}\u{11a34}\u{11a47}\u{11a99}\u{11d42}\u{11d44}\u{11d45}\u{11d97}\u{11f41}\u{11f42}`,
  String.raw`\u{1611e}-\u{16129}\u{1612f}\u{16d63}\u{16d67}-\u{16d6a}\u{16ff0}\u{16ff1}\u{1ccd6}-\u{1ccf9}`,
  String.raw`\u{1e030}-\u{1e06d}\u{1e08f}\u{1e130}-\u{1e136}\u{1e2ae}\u{1e2ec}-\u{1e2ef}\u{1e4ec}-\u{1e4ef}\u{1e5ee}`,
  String.raw`\u{1e5ef}\u{1e6e3}\u{1e6e6}\u{1e6ee}\u{1e6ef}\u{1e6f5}\u{1f16c}\u{1fbf0}-\u{1fbf9}`,
].join("");
const newer = new RegExp(`[${newerCharacters}]`, "u");

/**
 * Ranges of capitals that the runtime does not know yet. `difference` leads from a capital to its lower-case letter.
 */
const newerCapitals: readonly (readonly [first: number, last: number, difference: number])[] = [
  [0x1c89, 0x1c89, 1],
  [0xa7cb, 0xa7cb, 0x264 - 0xa7cb],
  ...[0xa7cc, 0xa7ce, 0xa7d2, 0xa7d4, 0xa7da].map((capital) => [capital, capital, 1] as const),
  [0xa7dc, 0xa7dc, 0x19b - 0xa7dc],
  [0x10d50, 0x10d65, 0x20],
  [0x16ea0, 0x16eb8, 0x1b],
];

const firstSyllable = 0xac00;
const lastSyllable = 0xd7a3;

/** All characters except surrogates and Hangul syllables; the latter follow a formula. */
const characters = Array.from({ length: 0x110000 }, (_, codePoint) => codePoint)
  .filter(
    (codePoint) =>
      codePoint < firstSyllable || codePoint > 0xdfff || (codePoint > lastSyllable && codePoint < 0xd800),
  )
  .map((codePoint) => String.fromCodePoint(codePoint));

const codePointsOf = (text: string) => Array.from(text, (character) => character.codePointAt(0)!);

type Change = { readonly codePoint: number; readonly to: readonly number[]; readonly isComposed: boolean };

function decompositions(form: "NFD" | "NFKD"): Change[] {
  return characters
    .filter((character) => !newer.test(character) && character.normalize(form) !== character)
    .map((character) => ({
      codePoint: character.codePointAt(0)!,
      to: codePointsOf(character.normalize(form)),
      isComposed: character.normalize("NFC") === character,
    }));
}

/**
 * Returns the lower case of characters beyond ASCII, as Rust's `char::to_lowercase` of Unicode 17 gives it: of each
 * character alone, so no sigma is final. Leaves out characters that do not change.
 */
function lowerCases(): Change[] {
  const lowered = (character: string): string => {
    const codePoint = character.codePointAt(0)!;
    const found = newerCapitals.find(([first, last]) => codePoint >= first && codePoint <= last);
    if (found !== undefined) return String.fromCodePoint(codePoint + found[2]);
    return character === "Σ" ? "σ" : character.toLowerCase();
  };
  return characters
    .filter((character) => character > "\x7f" && lowered(character) !== character)
    .map((character) => ({
      codePoint: character.codePointAt(0)!,
      to: codePointsOf(lowered(character)),
      isComposed: false,
    }));
}

/**
 * Returns the characters of Unicode 9.0 with a nonzero combining class that do not decompose, each with the rank of its
 * class, from 1 on. The runtime does not expose classes, but its normalization shows which of two marks goes first.
 */
function combiningClasses(decomposed: ReadonlySet<number>): (readonly [codePoint: number, order: number])[] {
  const [lowest, highest] = ["\u0334", "\u0345"];
  const isReordered = (text: string) => text.normalize("NFD") !== text;
  const marks = characters.filter(
    (character) =>
      !decomposed.has(character.codePointAt(0)!) &&
      !newer.test(character) &&
      (isReordered(character + lowest) || isReordered(highest + character)),
  );
  const compare = (a: string, b: string) => Number(isReordered(a + b)) - Number(isReordered(b + a));
  const sorted = marks.toSorted(compare);
  let order = 0;
  const orders = sorted.map((mark, i) => {
    if (i === 0 || compare(sorted[i - 1]!, mark) !== 0) order++;
    return [mark.codePointAt(0)!, order] as const;
  });
  return orders.sort((a, b) => a[0] - b[0]);
}

/** Returns the numbers of `normalizationData`, and how many 32-bit numbers its changes take in the kernel. */
function normalizationNumbers() {
  const canonical = decompositions("NFD");
  const canonicalOf = new Map(canonical.map((change) => [change.codePoint, String(change.to)]));
  const compatible = decompositions("NFKD").filter(
    ({ codePoint, to }) => canonicalOf.get(codePoint) !== String(to),
  );
  const lower = lowerCases();
  const numbers: number[] = [];
  // Runs of consecutive marks with the same class.
  const runs: [first: number, length: number, order: number][] = [];
  for (const [codePoint, order] of combiningClasses(new Set(canonicalOf.keys()))) {
    const last = runs.at(-1);
    if (last !== undefined && codePoint === last[0] + last[1] && order === last[2]) last[1]++;
    else runs.push([codePoint, 1, order]);
  }
  numbers.push(runs.length);
  runs.forEach(([first, length, order], i) => {
    const before = runs[i - 1];
    numbers.push(first - (before === undefined ? 0 : before[0] + before[1]), length, order);
  });
  const zigzag = (difference: number) => (difference < 0 ? -2 * difference - 1 : 2 * difference);
  for (const changes of [canonical, compatible, lower]) {
    numbers.push(changes.length);
    let codePointBefore = 0;
    const before: number[] = [];
    const entries = changes.map(({ codePoint, to, isComposed }) => {
      const differences = to.map((target, i) => {
        const difference = zigzag(target - (before[i] ?? 0));
        before[i] = target;
        return difference;
      });
      const gap = codePoint - codePointBefore;
      codePointBefore = codePoint;
      return { gap, head: 4 * to.length + Number(isComposed), differences };
    });
    for (let i = 0, end = 0; i < entries.length; i = end) {
      const { gap, head, differences } = entries[i]!;
      const isSame = (other: (typeof entries)[number]) =>
        other.gap === gap && other.head === head && String(other.differences) === String(differences);
      for (end = i + 1; end < entries.length && isSame(entries[end]!); ) end++;
      numbers.push(gap, ...(end - i === 1 ? [head] : [head + 2, end - i]), ...differences);
    }
  }
  const words = [canonical, compatible, lower].flat().reduce((sum, { to }) => sum + 1 + to.length, 0);
  return { numbers, words };
}

/** Returns the source of src/kernel/text/normalization-data.ts. */
export function normalizationSource(): string {
  const { numbers, words } = normalizationNumbers();
  const bytes: number[] = [];
  for (let number of numbers) {
    for (; number >= 128; number >>= 7) bytes.push((number & 127) | 128);
    bytes.push(number);
  }
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += 32) lines.push(`  ${bytes.slice(at, at + 32).join(", ")},\n`);
  return `
/** Numbers in LEB128; normalization-tables.ts says what they mean. */
export const normalizationData: usize = memory.data<u8>([
${lines.join("")}]);

/** How many 32-bit numbers the changes take, including the length before each. */
export const changeWords: u32 = ${words};
`;
}
