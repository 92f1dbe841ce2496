import { patterns } from "../../../src/pattern/named-patterns.ts";
import { pick, type Random } from "../../random.ts";
import { naivePieces, naiveRegExp } from "./naive.ts";

/** The characters that HF's engine regards as parts of words. */
const word = String.raw`[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}²³¹¼½¾]`;
const wordEnd = String.raw`\p{Nd}{1,3}(?=(?:\p{Nd}{3})*(?!${word}))`;
const numberEnd = String.raw`\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))`;
const [llama3] = patterns.llama3.sources;
const [gpt4o] = patterns.o200k.sources;
const marin = [String.raw`\p{N}{1,510}`, String.raw`^\p{N}{1,2}(?=(?:\p{N}{3})+$)`, String.raw`\p{N}{3}`];

type DigitForm = {
  readonly sources: readonly string[];
  /** Cuts a text by rules about whole runs of digits. */
  readonly pieces: (text: string) => string[];
};

/** Patterns that group digits from the right, each with equivalent rules. */
export const digitForms: Readonly<Record<string, DigitForm>> = {
  wordEnd: { sources: [wordEnd], pieces: wordEndPieces },
  wordEndAsWritten: {
    sources: [String.raw`\p{Nd}{1,3}(?=(\p{Nd}{3})*(?:(?<=${word})(?!${word})|(?<!${word})(?=${word})))`],
    pieces: wordEndPieces,
  },
  wordEndLlama3: { sources: [wordEnd, llama3], pieces: then(wordEndPieces, llama3) },
  wordEndGpt4o: { sources: [wordEnd, gpt4o], pieces: then(wordEndPieces, gpt4o) },
  digitEnd: {
    sources: [String.raw`\d{1,3}(?=(?:\d{3})*(?!\d))`],
    pieces: (text) => groupRuns(text, /\p{Nd}+/gu, fromTheRight),
  },
  numberEndLlama3: {
    sources: [numberEnd, llama3],
    pieces: then((text) => groupRuns(text, /\p{N}+/gu, fromTheRight), llama3),
  },
  inlineGpt4o: {
    sources: [gpt4o.replace(String.raw`\p{N}{1,3}`, String.raw`\p{N}{1,3}(?=(?:\p{N}{3})*(?:\P{N}|$))`)],
    pieces: (text) =>
      naivePieces(text, [naiveRegExp(gpt4o.replace(String.raw`\p{N}{1,3}`, String.raw`\p{N}+`))]).flatMap(
        (piece) => (/^\p{N}/u.test(piece) ? fromTheRight(piece) : [piece]),
      ),
  },
  zeroWidth: {
    sources: [String.raw`(?<=\d)(?=(?:\d{3})+(?!\d))`],
    pieces: (text) => cutRuns(text, /\p{Nd}+/gu, false),
  },
  superbpe: {
    sources: [String.raw`\p{N}+`, String.raw`(?=(\d{3})+(?!\d))`],
    pieces: (text) => groupRuns(text, /\p{N}+/gu, (run) => cutRuns(run, /\p{Nd}+/gu, true)),
  },
  guarded: {
    sources: [String.raw`(?<![.\/\-:a-zA-Z])\p{Nd}{1,3}(?=(\p{Nd}{3})*(?!${word}))`],
    pieces: (text) => groupRuns(text, guardedRuns, fromTheRight),
  },
  marin: { sources: marin, pieces: marinPieces },
  marinLlama3: { sources: [...marin, llama3], pieces: then(marinPieces, llama3) },
};

const points = (text: string) => Array.from(text);

/** Splits a run into groups of three characters. The first group has one to three. */
function fromTheRight(run: string): string[] {
  const all = points(run);
  const first = all.length % 3 || 3;
  const groups = all.length === 0 ? [] : [all.slice(0, first).join("")];
  for (let i = first; i < all.length; i += 3) groups.push(all.slice(i, i + 3).join(""));
  return groups;
}

/** Returns the pieces of a text: the groups of each run, and each text before, between or after runs as one piece. */
function groupRuns(text: string, runs: RegExp, group: (run: string) => string[]): string[] {
  const pieces: string[] = [];
  let settled = 0;
  for (const { 0: run, index } of text.matchAll(runs)) {
    pieces.push(text.slice(settled, index), ...group(run));
    settled = index + run.length;
  }
  return [...pieces, text.slice(settled)].filter((piece) => piece !== "");
}

const wordEndRuns = new RegExp(String.raw`(?<!\p{Nd})\p{Nd}+(?!${word})`, "gu");

/** A digit directly after one of these characters does not belong to the run of digits. */
const guards = "[.\\/\\-:a-zA-Z]";
const guardedRuns = new RegExp(
  String.raw`(?:(?<!${guards}|\p{Nd})|(?<=${guards}\p{Nd}))\p{Nd}+(?!${word})`,
  "gu",
);

/**
 * Groups runs of digits. A run directly before a character of `word` is not grouped, and stays with the text around it.
 */
function wordEndPieces(text: string): string[] {
  return groupRuns(text, wordEndRuns, fromTheRight);
}

function marinPieces(text: string): string[] {
  return groupRuns(text, /\p{N}+/gu, (run) => {
    const all = points(run);
    const parts: string[] = [];
    for (let i = 0; i < all.length; i += 510) parts.push(...fromTheRight(all.slice(i, i + 510).join("")));
    return parts;
  });
}

/**
 * Cuts each run between its groups of three. With `cutsBefore`, also cuts before a run whose first group has three
 * characters. Other text stays in one piece with the group next to it.
 */
function cutRuns(text: string, runs: RegExp, cutsBefore: boolean): string[] {
  const cut = text.replace(runs, (run) => {
    const groups = fromTheRight(run);
    return (cutsBefore && points(groups[0]!).length === 3 ? "\0" : "") + groups.join("\0");
  });
  return cut.split("\0").filter((piece) => piece !== "");
}

function then(first: (text: string) => string[], source: string): (text: string) => string[] {
  const regexp = naiveRegExp(source);
  return (text) => first(text).flatMap((piece) => naivePieces(piece, [regexp]));
}

const parts = Array.from("0123456789٣٤５𝟚½²Ⅷ①abXéж万円 \n\t.,-/:_+'\u0301\u200d🙂\u3000").concat([
  "1234567",
  "00",
  "'s",
  "  ",
  "\r\n",
  "12",
  "444",
]);

/** Returns random text with many kinds of digits. */
export function digitText(random: Random, partCount: number): string {
  let text = "";
  for (let i = 0; i < partCount; i++) {
    const isRun = random(12) === 0;
    text += isRun
      ? pick(random, ["7", "1٣", "𝟚5"]).repeat(1 + random(pick(random, [5, 30, 700])))
      : pick(random, parts);
  }
  return text;
}
