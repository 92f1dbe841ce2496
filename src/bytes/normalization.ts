import { usageError } from "../errors.ts";
import { late } from "./arrays.ts";
import { type Check, Mismatch, text } from "./schema.ts";

/** What a normalizer may do to a text: Unicode's normal forms, and lower case character by character. */
export const normalizationSteps = ["NFC", "NFD", "NFKC", "NFKD", "lowercase"] as const;
export type NormalizationStep = (typeof normalizationSteps)[number];

/** Steps in their order, with commas between: "NFC", "NFKC,lowercase". */
export type Normalization = string;

export const stepsOf = (normalization: Normalization) => normalization.split(",") as NormalizationStep[];

/** The steps that `option` asks for, in the spelling of the table. */
export function readNormalization(option: string, typed: string): Normalization {
  const steps = typed.split(",").map((asked) => {
    const name = asked.trim().toLowerCase();
    const step = normalizationSteps.find((known) => known.toLowerCase() === name);
    if (step !== undefined) return step;
    throw usageError(
      `${option}: unknown step "${asked.trim()}"`,
      `steps, in their order, with commas between: ${normalizationSteps.join(", ")}`,
    );
  });
  return steps.join(",");
}

/** For what files state. */
export const normalizationCheck: Check<Normalization> = (value, name) => {
  const steps = text(value, name);
  if (stepsOf(steps).every((step) => normalizationSteps.includes(step))) return steps;
  throw new Mismatch(value, name, `not a list of ${normalizationSteps.join(", ")}`);
};

/**
 * Characters that are newer than Unicode 9.0 and that later versions decompose, compose or reorder. The normalizers of HF
 * `tokenizers` use the tables of 9.0, where these characters have no properties.
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
const newer = late(() => new RegExp(`[${newerCharacters}]`, "u"));
/** With a capture group, so that `split` keeps them. */
const newerRuns = late(() => new RegExp(`([${newerCharacters}]+)`, "u"));

/** So many marks in a row that ordering them by insertion, as the runtime does, takes long. */
const longRuns = late(() => /[\p{M}\uff9e\uff9f]{200,}/gu);

/** The text after all steps, as HF computes it. */
export const normalize = (text: string, normalization: Normalization) =>
  stepsOf(normalization).reduce(stepped, text);

const stepped = (text: string, step: NormalizationStep) =>
  step === "lowercase" ? lowerCased(text) : inForm(text, step);

/**
 * The text in a normal form. Nothing is composed with a character without properties, and no mark moves across it, so the text
 * before and behind it is normalized separately. If the engine's newer tables change nothing, neither do the older ones,
 * because each part of a normalized text is normalized.
 */
function inForm(text: string, form: Exclude<NormalizationStep, "lowercase">): string {
  let hasLongRun = false;
  const order = (run: string) => {
    hasLongRun = true;
    return inOrder(run, form.includes("K") ? "NFKD" : "NFD");
  };
  const ordered = text.length < 200 ? text : text.replace(longRuns(), order);
  const normalized = hasLongRun ? "" : text.normalize(form);
  if (!hasLongRun && (normalized === text || !newer().test(text))) return normalized;
  const parts = ordered.split(newerRuns());
  return parts.map((part, i) => (i % 2 === 1 ? part : part.normalize(form))).join("");
}

/** The marks, decomposed, in the order of normal forms: between two that do not move, by their class. */
function inOrder(run: string, form: "NFD" | "NFKD"): string {
  const decomposed = (mark: string) => (newer().test(mark) ? mark : mark.normalize(form));
  const parts = new Map([...new Set(run)].map((mark) => [mark, [...decomposed(mark)]]));
  const { classes, classCount } = orderClasses([...new Set([...parts.values()].flat())].filter(isMoving));
  const waiting: string[][] = Array.from({ length: classCount + 1 }, () => []);
  const result: string[] = [];
  const flush = () => {
    for (const some of waiting) for (const mark of some.splice(0)) result.push(mark);
  };
  for (const character of run) {
    for (const mark of parts.get(character)!) {
      const at = classes.get(mark);
      if (at !== undefined) waiting[at]!.push(mark);
      else {
        flush();
        result.push(mark);
      }
    }
  }
  flush();
  return result.join("");
}

/** Of marks that do not decompose: their classes in the order of normal forms, numbered from 0. */
export function orderClasses(marks: readonly string[]) {
  const goesBehind = (a: string, b: string) => Number((a + b).normalize("NFD") !== a + b);
  const compare = (a: string, b: string) => goesBehind(a, b) - goesBehind(b, a);
  const sorted = marks.toSorted(compare);
  const classes = new Map<string, number>();
  let classCount = 0;
  sorted.forEach((mark, i) => {
    if (i > 0 && compare(sorted[i - 1]!, mark) !== 0) classCount++;
    classes.set(mark, classCount);
  });
  return { classes, classCount };
}

/** Whether the character is a mark that may change places with others: U+0345 has the highest class, U+0334 the lowest. */
export const isMoving = (mark: string) =>
  !newer().test(mark) &&
  ((mark + low).normalize("NFD") !== mark + low || (high + mark).normalize("NFD") !== high + mark);
const [low, high] = ["\u0334", "\u0345"];

/** Capitals newer than Unicode 15: browsers may not know their lower case yet. Each with what is added to it. */
const newerCapitals: readonly (readonly [first: number, last: number, difference: number])[] = [
  [0x1c89, 0x1c89, 1],
  [0xa7cb, 0xa7cb, 0x264 - 0xa7cb],
  ...[0xa7cc, 0xa7ce, 0xa7d2, 0xa7d4, 0xa7da].map((capital) => [capital, capital, 1] as const),
  [0xa7dc, 0xa7dc, 0x19b - 0xa7dc],
  [0x10d50, 0x10d65, 0x20],
  [0x16ea0, 0x16eb8, 0x1b],
];
const capitals = /[\u1c89\ua7cb-\ua7dc\u{10d50}-\u{10d65}\u{16ea0}-\u{16eb8}]/gu;

/** Lower case as Rust's `char::to_lowercase` of Unicode 17 has it: of each character alone, so no sigma is final. */
function lowerCased(text: string): string {
  const lower = text.replaceAll("Σ", "σ").toLowerCase();
  return lower.replace(capitals, (character) => {
    const codePoint = character.codePointAt(0)!;
    const found = newerCapitals.find(([first, last]) => codePoint >= first && codePoint <= last);
    return found === undefined ? character : String.fromCodePoint(codePoint + found[2]);
  });
}

/** Of Unicode 9.0: what may be composed with a character before it. */
const composing = late(
  () =>
    new RegExp(
      [
        String.raw`[\u0300-\u0304\u0306-\u030c\u030f\u0311\u0313\u0314\u031b\u0323-\u0328\u032d\u032e\u0330\u0331\u0338\u0342`,
        String.raw`\u0345\u0653-\u0655\u093c\u09be\u09d7\u0b3e\u0b56\u0b57\u0bbe\u0bd7\u0c56\u0cc2\u0cd5\u0cd6\u0d3e\u0d57\u0dca`,
        String.raw`\u0dcf\u0ddf\u102e\u1161-\u1175\u11a8-\u11c2\u1b35\u3099\u309a\u{110ba}\u{11127}\u{1133e}\u{11357}\u{114b0}`,
        String.raw`\u{114ba}\u{114bd}\u{115af}]`,
      ].join(""),
      "u",
    ),
);

/** What a normalization does to a character, whatever is before and behind it. */
export const characterKinds = {
  /** It stays, and nothing reaches across its start. */
  settled: 1,
  /** It changes, and nothing reaches across its start. */
  fresh: 2,
  /** A mark that stays, unless it is beside another. */
  moving: 3,
  /** It may be composed, or change places, with what is before it. */
  changing: 4,
} as const;

const pairPlaces = 1 << 12;

let words = new Uint32Array(0);

/** Four bytes at a time. */
function lowerAscii(bytes: Uint8Array): Uint8Array {
  const wordCount = (bytes.length + 3) >> 2;
  if (wordCount > words.length) words = new Uint32Array(2 * wordCount);
  const to = new Uint8Array(words.buffer, 0, bytes.length);
  to.set(bytes);
  const lowered = words;
  for (let i = 0; i < wordCount; i++) {
    const word = lowered[i]! | 0;
    const low = word & 0x7f7f7f7f;
    // The top bit of each byte: it is A or more, but not more than Z, and ASCII.
    const upper = (low + 0x3f3f3f3f) & ~(low + 0x25252525) & ~word & 0x80808080;
    lowered[i] = word | (upper >>> 2);
  }
  return to;
}

/** The kind of each character, found out when it is first met. ASCII is not asked for: but for lower case it is settled. */
export class CharacterKinds {
  readonly lowers: boolean;
  private readonly steps: readonly NormalizationStep[];
  private readonly composes: boolean;
  /** 0 until a character is met. */
  readonly known = new Uint8Array(0x110000);
  private readonly opening = new Map<number, boolean>();
  private readonly pairs = new Int32Array(3 * pairPlaces);
  private static readonly made = new Map<Normalization, CharacterKinds>();

  private constructor(normalization: Normalization) {
    this.steps = stepsOf(normalization);
    this.lowers = this.steps.includes("lowercase");
    this.composes = this.steps.some((step) => step.endsWith("C"));
  }

  static of(normalization: Normalization): CharacterKinds {
    let kinds = CharacterKinds.made.get(normalization);
    if (kinds === undefined)
      CharacterKinds.made.set(normalization, (kinds = new CharacterKinds(normalization)));
    return kinds;
  }

  of(codePoint: number): number {
    return this.known[codePoint] || this.find(codePoint);
  }

  /** Whether nothing is joined with what is before the character, or moves across its start: true of all but marks and their like. */
  opens(codePoint: number): boolean {
    const kind = this.of(codePoint);
    if (kind === characterKinds.settled || kind === characterKinds.fresh) return true;
    let opens = this.opening.get(codePoint);
    if (opens === undefined) {
      const character = String.fromCodePoint(codePoint);
      const [first] = inForm(character, "NFKD");
      opens = !composing().test(character) && !composing().test(first!) && !isMoving(first!);
      this.opening.set(codePoint, opens);
    }
    return opens;
  }

  /** Whether a mark stays behind a character that does: a settled one; or one that may move, if the mark may, too. */
  stays(before: number, mark: number): boolean {
    const { pairs } = this;
    // The pair that was last met at its place: code points, and whether the mark stays.
    const place = 3 * ((31 * before + mark) & (pairPlaces - 1));
    if (pairs[place] !== before || pairs[place + 1] !== mark) {
      const pair = String.fromCodePoint(before, mark);
      const stays = this.steps.every((step) => stepped(pair, step) === pair);
      pairs.set([before, mark, Number(stays)], place);
    }
    return pairs[place + 2] === 1;
  }

  /** The bytes with ASCII letters in lower case, if the normalization has it; valid until the next call. */
  lowered(bytes: Uint8Array): Uint8Array {
    return this.lowers ? lowerAscii(bytes) : bytes;
  }

  private find(codePoint: number): number {
    const { settled, fresh, moving, changing } = characterKinds;
    const character = String.fromCodePoint(codePoint);
    const stays = this.steps.every((step) => stepped(character, step) === character);
    const isComposed = this.composes && composing().test(character);
    if (stays && !isComposed) this.known[codePoint] = isMoving(character) ? moving : settled;
    else {
      const [first] = inForm(character, "NFKD");
      const reachesBack = [character, first!].some((part) => composing().test(part) || isMoving(part));
      this.known[codePoint] = reachesBack ? changing : fresh;
    }
    return this.known[codePoint]!;
  }
}
