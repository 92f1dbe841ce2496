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

function* charactersThatMayChange(): Generator<[codePoint: number, character: string]> {
  for (const [first, last] of changing) {
    for (let codePoint = first; codePoint <= last; codePoint++)
      yield [codePoint, String.fromCodePoint(codePoint)];
  }
}

const codePointsOf = (text: string) => Array.from(text, (character) => character.codePointAt(0)!);

function changesBy(step: Normalization): Map<number, number[]> {
  const changes = new Map<number, number[]>();
  if (step === "lowercase")
    for (let letter = 0x41; letter <= 0x5a; letter++) changes.set(letter, [letter + 0x20]);
  for (const [codePoint, character] of charactersThatMayChange()) {
    const changed = normalize(character, step);
    if (changed !== character) changes.set(codePoint, codePointsOf(changed));
  }
  return changes;
}

function classesOf(canonical: ReadonlyMap<number, unknown>): (readonly [mark: number, order: number])[] {
  const marks: string[] = [];
  for (const [codePoint, character] of charactersThatMayChange())
    if (!canonical.has(codePoint) && isMoving(character)) marks.push(character);
  const { classes } = orderClasses(marks);
  return marks.map((mark) => [mark.codePointAt(0)!, classes.get(mark)! + 1]);
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
  for (const [codePoint] of charactersThatMayChange()) {
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
  const look = (codePoint: number) => {
    if (kinds.of(codePoint) !== characterKinds.settled) bits[codePoint >> 5]! &= ~(1 << (codePoint & 31));
  };
  for (const [codePoint] of charactersThatMayChange()) look(codePoint);
  for (let syllable = 0xac00; syllable <= 0xd7a3; syllable++) look(syllable);
  return bits;
}
