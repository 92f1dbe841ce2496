import {
  CharacterKinds,
  characterKinds,
  isMoving,
  type Normalization,
  normalizationSteps,
  normalize,
  orderClasses,
  stepsOf,
} from "./normalization.ts";

/**
 * What a program without the runtime's normalizer needs to bring a text into the form of a normalization: 32-bit words.
 *
 *   WORD      MEANING
 *   0         number of steps, 8 at most
 *   1 .. 8    the steps, as numbers of `normalizationSteps`
 *   9 .. 20   of each table below where it begins, and how many entries it has
 *   canonical, compatible, lower
 *             code points that change, ascending; where what each becomes begins, one more than there are; what they become
 *   classes   marks that may change places, ascending; the class of each, 1 or more
 *   pairs     (first, second, composed), ascending
 *   joining   (first, last) of each range of characters that may be joined with what is before them, ascending
 *   settled   0x110000 bits: the character stays as it is, and nothing reaches across its start
 *
 * Tables that no step needs are empty. Syllables of Hangul are in none: they follow Unicode's formula.
 */
export function normalizationTables(normalization: Normalization): Uint32Array<ArrayBuffer> {
  let tables = made.get(normalization);
  if (tables === undefined) made.set(normalization, (tables = makeTables(normalization)));
  return tables;
}

const made = new Map<Normalization, Uint32Array<ArrayBuffer>>();

function makeTables(normalization: Normalization): Uint32Array<ArrayBuffer> {
  const steps = stepsOf(normalization);
  const has = (some: (step: string) => boolean) => steps.some(some);
  const composes = has((step) => step.endsWith("C"));
  const orders = has((step) => step.startsWith("NF"));
  const canonical = orders ? changesBy("NFD") : new Map<number, number[]>();
  const compatible = has((step) => step.startsWith("NFK")) ? changesBy("NFKD") : new Map<number, number[]>();
  const lower = has((step) => step === "lowercase") ? changesBy("lowercase") : new Map<number, number[]>();
  const marks = orders ? classesOf(canonical) : [];
  const pairs = composes ? pairsOf(canonical) : [];
  const words: number[] = [steps.length, ...steps.map((step) => normalizationSteps.indexOf(step))];
  words.length = headWords;
  const add = (place: number, entryCount: number, table: Iterable<number>) => {
    words[place] = words.length;
    words[place + 1] = entryCount;
    for (const word of table) words.push(word);
  };
  [canonical, compatible, lower].forEach((changes, i) => {
    let start = 0;
    const starts = [...changes.values()].map(({ length }) => (start += length));
    add(9 + 2 * i, changes.size, [...changes.keys(), 0, ...starts, ...[...changes.values()].flat()]);
  });
  add(15, marks.length, [...marks.map(([mark]) => mark), ...marks.map(([, order]) => order)]);
  add(17, pairs.length, pairs.flat());
  const joining = joiningOf(normalization);
  add(19, joining.length / 2, joining);
  const tables = new Uint32Array(words.length + settledWords);
  tables.set(words);
  tables.set(settledBits(normalization), words.length);
  return tables;
}

const headWords = 21;
const settledWords = 0x110000 / 32;

/** Outside of these nothing changes, but for syllables of Hangul. */
const changing = [
  [0x80, 0x33ff],
  [0xa640, 0xabff],
  [0xf900, 0xffff],
  [0x10000, 0x1ffff],
  [0x2f800, 0x2fa1f],
] as const;

/** Each text after a step: in one call, because a call for each takes longest. Nothing is joined with the end of a line. */
const steppedAll = (texts: readonly string[], step: Normalization) =>
  normalize(texts.join("\n"), step).split("\n");

/** Marks, and the letters of Hangul that are composed with what is before them. */
const joined = /[\p{M}\u1161-\u1175\u11a8-\u11c2]/u;

/** Without those that have no such mark, and are themselves in every form and in lower case. */
function thatMayChange(texts: readonly string[]): string[] {
  const [decomposed, lower] = [steppedAll(texts, "NFKD"), steppedAll(texts, "lowercase")];
  return texts.filter((text, i) => decomposed[i] !== text || lower[i] !== text || joined.test(text));
}

let mayAllChange: readonly string[] | undefined;

/** Ascending. First whole rows of 64 are looked at: in most of them nothing changes. */
const charactersThatMayChange = (): readonly string[] =>
  (mayAllChange ??= thatMayChange(
    changing.flatMap(([first, last]) => {
      const rows: string[] = [];
      for (let at: number = first; at <= last; at += 64)
        rows.push(String.fromCodePoint(...Array.from({ length: 64 }, (_, i) => at + i)));
      return thatMayChange(rows).flatMap((row) => [...row]);
    }),
  ));

/** Without an iterator, which takes longer than all else here. */
function codePointsOf(text: string): number[] {
  const found: number[] = [];
  for (let at = 0; at < text.length; at += found.at(-1)! > 0xffff ? 2 : 1) found.push(text.codePointAt(at)!);
  return found;
}

function changesBy(step: Normalization): Map<number, number[]> {
  const changes = new Map<number, number[]>();
  if (step === "lowercase")
    for (let letter = 0x41; letter <= 0x5a; letter++) changes.set(letter, [letter + 0x20]);
  const characters = charactersThatMayChange();
  const changed = steppedAll(characters, step);
  characters.forEach((character, i) => {
    if (changed[i] !== character) changes.set(character.codePointAt(0)!, codePointsOf(changed[i]!));
  });
  return changes;
}

function classesOf(canonical: ReadonlyMap<number, unknown>): (readonly [mark: number, order: number])[] {
  const moving = charactersThatMayChange().filter(
    (character) => !canonical.has(character.codePointAt(0)!) && isMoving(character),
  );
  const { classes } = orderClasses(moving);
  return moving.map((mark) => [mark.codePointAt(0)!, classes.get(mark)! + 1]);
}

function pairsOf(canonical: ReadonlyMap<number, readonly number[]>): [number, number, number][] {
  const pairs: [number, number, number][] = [];
  for (const [composed, parts] of canonical) {
    const character = String.fromCodePoint(composed);
    if (parts.length < 2 || normalize(character, "NFC") !== character) continue;
    const [first] = codePointsOf(normalize(String.fromCodePoint(...parts.slice(0, -1)), "NFC"));
    pairs.push([first!, parts.at(-1)!, composed]);
  }
  return pairs.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
}

function joiningOf(normalization: Normalization): number[] {
  const kinds = CharacterKinds.of(normalization);
  const ranges: number[] = [];
  for (const codePoint of charactersThatMayChange().map((character) => character.codePointAt(0)!)) {
    if (kinds.opens(codePoint)) continue;
    if (ranges.at(-1) === codePoint - 1) ranges[ranges.length - 1] = codePoint;
    else ranges.push(codePoint, codePoint);
  }
  return ranges;
}

/** ASCII is settled: lower case is made of it as it is copied. */
function settledBits(normalization: Normalization): Uint32Array {
  const bits = new Uint32Array(settledWords).fill(0xffffffff);
  const kinds = CharacterKinds.of(normalization);
  const isSettled = (codePoint: number) => kinds.of(codePoint) === characterKinds.settled;
  const clear = (codePoint: number) => (bits[codePoint >> 5]! &= ~(1 << (codePoint & 31)));
  for (const character of charactersThatMayChange()) {
    const codePoint = character.codePointAt(0)!;
    if (!isSettled(codePoint)) clear(codePoint);
  }
  // All syllables of Hangul are of one kind.
  const [firstSyllable, lastSyllable] = [0xac00, 0xd7a3];
  if (!isSettled(firstSyllable))
    for (let syllable = firstSyllable; syllable <= lastSyllable; syllable++) clear(syllable);
  return bits;
}
