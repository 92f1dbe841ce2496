import { countNoun, escapeBytes } from "#bytes";
import { type CompiledPattern, cutText } from "#pattern";
import { byteCount, forEachToken, stays } from "./joined-text.ts";
import { countOfPair, countPairs, type JoinedWords, type RankedPair, topPairs } from "./pair-ranking.ts";

/** A question. It may contain the reader's text, so it must not be parsed as HTML. */
export type Question = {
  readonly id: string;
  readonly title: string;
  readonly question: string;
  /** Lines below the question: its subject, or a remark. */
  readonly given: readonly string[];
};

/** A question with one right answer. */
export type Exercise = Question & {
  readonly answer: string;
  /** Returns null if the answer is right, otherwise what is wrong. */
  readonly check: (given: string) => string | null;
};

/** Writes a token for an answer, with spaces as ␣, because spaces cannot be counted by eye. */
export const shownToken = (bytes: Uint8Array) => escapeBytes(bytes).replaceAll(" ", "␣");

const encoder = new TextEncoder();

/** Returns the exercises on a reader's text, in the order in which the page shows them. */
export function exercisesOf(text: string, pattern: CompiledPattern): Exercise[] {
  const pretokens = cut(text, pattern);
  const words = commonWords(pretokens);
  const learned = learnByHand(words);
  return [
    ...unicodeExercises(text),
    pretokenExercise(text, pattern),
    countExercise(pretokens),
    ...(learned === null ? [] : mergeExercises(words, learned)),
    specialExercise(pattern),
    ...(learned === null ? [] : [rankExercise(words, learned)]),
  ];
}

function cut(text: string, pattern: CompiledPattern): Uint8Array[] {
  const bytes = encoder.encode(text);
  return cutText(pattern, bytes).map((end, i, ends) => bytes.subarray(ends[i - 1] ?? 0, end));
}

const asNumber = (
  id: string,
  title: string,
  question: string,
  given: string[],
  right: number,
  why: string,
) => ({
  ...{ id, title, question, given, answer: String(right) },
  check(typed: string) {
    const digits = typed.replaceAll(/[\s,_]/g, "");
    if (!/^\d+$/.test(digits)) return "Write a number.";
    if (Number(digits) === right) return null;
    return `${Number(digits) < right ? "It is more." : "It is less."} ${why}`;
  },
});

function unicodeExercises(text: string): Exercise[] {
  const [first = "é"] = text.match(/(?!\p{ASCII})\p{L}/u) ?? [];
  const bytes = encoder.encode(first);
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" ");
  const words = text.split(/\s+/).filter((word) => word !== "");
  const other = Math.max(
    0,
    words.findIndex((word) => /\P{ASCII}/u.test(word)),
  );
  const part = [...words.slice(Math.max(0, other - 2), Math.max(3, other + 1)).join(" ")]
    .slice(0, 40)
    .join("");
  return [
    asNumber(
      "bytes",
      "Characters and bytes",
      "A byte-level tokenizer sees bytes, not characters. How many bytes is this text in UTF-8?",
      [part],
      encoder.encode(part).length,
      "ASCII characters are one byte each, other letters of Europe two, Devanagari and Chinese three, emoji four.",
    ),
    {
      id: "utf8",
      title: "One character in UTF-8",
      question: "Write the bytes of this character in hexadecimal, with spaces between them.",
      given: [`${first}   U+${first.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`],
      answer: hex,
      check(typed) {
        const digits = typed.toLowerCase().replaceAll(/0x|\\x|[\s,]/g, "");
        if (digits === hex.replaceAll(" ", "")) return null;
        const count = digits.length / 2;
        if (count !== bytes.length) return `It has ${countNoun(bytes.length, "byte")}, not ${count}.`;
        return "The first byte says how many there are (110…, 1110…, 11110…); each other one begins with the bits 10.";
      },
    },
  ];
}

/**
 * An answer that is a list of tokens, with `separator` between them. A typed space counts as ␣, unless the separator is
 * a space.
 */
function asTokens(tokens: readonly string[], separator: "|" | " ") {
  const answer = tokens.join(separator);
  return {
    answer,
    check(typed: string): string | null {
      const parts =
        separator === " " ? typed.trim().split(/\s+/) : typed.replaceAll(" ", "␣").split(separator);
      const wrong = tokens.findIndex((token, i) => parts[i] !== token);
      if (wrong < 0 && parts.length === tokens.length) return null;
      if (parts.join("") !== tokens.join("")) return "Joined, the parts must equal the given text.";
      return `Part ${wrong + 1} is not right.`;
    },
  };
}

function pretokenExercise(text: string, pattern: CompiledPattern): Exercise {
  const [line = "low lower"] = text.split("\n").filter((one) => one.trim() !== "");
  const part = line.trim().split(" ").slice(0, 5).join(" ");
  const tokens = cut(part, pattern).map(shownToken);
  return {
    id: "pretokens",
    title: "Pretokens",
    question:
      "The pattern cuts the text into pretokens; no token crosses a cut. With most patterns a space belongs to the word after it. Write this text with | at each cut.",
    given: [part],
    ...asTokens(tokens, "|"),
  };
}

function countExercise(pretokens: readonly Uint8Array[]): Exercise {
  const counts = Map.groupBy(pretokens.map(shownToken), (shown) => shown);
  const entries = [...counts].filter(([shown]) => /\p{L}{2}/u.test(shown));
  const [most = ["low", ["low"]] as const] = entries.sort((a, b) => b[1].length - a[1].length);
  return asNumber(
    "counts",
    "Counts",
    `A trainer counts each distinct pretoken once. How often is ${most[0]} a pretoken of your text?`,
    ["Searching the text overcounts: longer words contain it."],
    most[1].length,
    "Count it as a whole pretoken, with the same letters in upper and lower case.",
  );
}

/** A few words with counts, small enough to merge by hand. */
type HandWords = { readonly words: readonly Uint8Array[]; readonly counts: readonly number[] };

const handWordCount = 5;
const someWords: HandWords = {
  words: ["low", "lower", "newest", "widest"].map((word) => encoder.encode(word)),
  counts: [5, 2, 6, 3],
};

/**
 * Returns the most frequent words of three to eight lower-case ASCII letters, at most `handWordCount`. If there are
 * fewer than three, or none occurs twice, returns the words of the original BPE example.
 */
function commonWords(pretokens: readonly Uint8Array[]): HandWords {
  const counts = new Map<string, number>();
  for (const pretoken of pretokens) {
    const word = escapeBytes(pretoken).trim();
    if (/^[a-z]{3,8}$/.test(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const common = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, handWordCount);
  if (common.length < 3 || common[0]![1] < 2) return someWords;
  return { words: common.map(([word]) => encoder.encode(word)), counts: common.map(([, count]) => count) };
}

type HandMerges = {
  readonly left: number[];
  readonly right: number[];
  readonly pairs: RankedPair[];
  /** For each merge, the pairs that had the highest count before it. */
  readonly ties: RankedPair[][];
  /** The words after these merges. */
  readonly joined: JoinedWords;
};

const handMergeCount = 10;

/** Returns the first merges of a few words by CS336's rule; null if there are none. */
function learnByHand(words: HandWords): HandMerges | null {
  const made: HandMerges = { left: [], right: [], pairs: [], ties: [], joined: unjoined(words) };
  while (made.left.length < handMergeCount) {
    const top = topPairs(countPairs(made.joined, made.left.length), 100);
    if (top.length === 0) break;
    const tied = top.filter(({ count }) => count === top[0]!.count);
    const best = tied.reduce((a, b) => (isGreater(b, a, made) ? b : a));
    made.ties.push(tied);
    made.pairs.push(best);
    join(made.joined, made.left.length, best);
    made.left.push(best.left);
    made.right.push(best.right);
  }
  return made.left.length === 0 ? null : made;
}

function unjoined({ words, counts }: HandWords): JoinedWords {
  const starts = Uint32Array.from({ length: words.length + 1 }, (_, w) =>
    words.slice(0, w).reduce((sum, word) => sum + word.length, 0),
  );
  const bytes = new Uint8Array(starts[words.length]!);
  for (const [w, word] of words.entries()) bytes.set(word, starts[w]);
  const joinedBy = new Int32Array(bytes.length).fill(stays);
  return { bytes, joinedBy, starts, counts: Float64Array.from(counts) };
}

/** Applies a merge to every word, from the left. */
function join(text: JoinedWords, merge: number, { left, right }: RankedPair): void {
  for (let w = 0; w < text.counts.length; w++) {
    let before = -1;
    forEachToken(text, merge, [text.starts[w]!, text.starts[w + 1]!], (token, start) => {
      const joins = before === left && token === right;
      if (joins) text.joinedBy[start] = merge;
      before = joins ? -1 : token;
    });
  }
}

/** Returns the text of a token. Words are ASCII, so comparing strings compares bytes. */
function textOf(token: number, made: HandMerges): string {
  if (token < byteCount) return String.fromCharCode(token);
  const merge = token - byteCount;
  return textOf(made.left[merge]!, made) + textOf(made.right[merge]!, made);
}

function isGreater(a: RankedPair, b: RankedPair, made: HandMerges): boolean {
  const [aLeft, bLeft] = [textOf(a.left, made), textOf(b.left, made)];
  return aLeft === bLeft ? textOf(a.right, made) > textOf(b.right, made) : aLeft > bLeft;
}

const pairText = ({ left, right }: RankedPair, made: HandMerges) =>
  `${textOf(left, made)} ${textOf(right, made)}`;

const tokensOf = (made: HandMerges, w: number, merges: number) => {
  const text = made.joined;
  const tokens: string[] = [];
  const range = [text.starts[w]!, text.starts[w + 1]!] as const;
  forEachToken(text, merges, range, (token) => tokens.push(textOf(token, made)));
  return tokens;
};

const listed = (words: HandWords, made: HandMerges, merges: number) =>
  words.words.map((_, w) => `${tokensOf(made, w, merges).join(" ")}   ${words.counts[w]} times`);

function mergeExercises(words: HandWords, made: HandMerges): Exercise[] {
  const [first] = made.pairs as [RankedPair];
  const table = countPairs(made.joined, 0);
  const count = countOfPair(table, first.left, first.right);
  const inside = words.words.findIndex((_, w) => tokensOf(made, w, 1).length < words.words[w]!.length);
  // No question asks about a tie at the first merge, because the exercise "merge" states that merge.
  const tieAt = made.ties.findIndex((tied, i) => i > 0 && tied.length > 1 && tied.length < 6);
  const exercises: Exercise[] = [
    asNumber(
      "pair",
      "A pair",
      `Word counts are below. How many times does ${pairText(first, made)} occur in total?`,
      listed(words, made, 0),
      count,
      "A pair in a word counts as often as the word occurs.",
    ),
    {
      id: "merge",
      title: "One merge by hand",
      question: `The most frequent pair is merged: ${pairText(first, made)} becomes one token, everywhere. Write this word with a space between its tokens.`,
      given: [tokensOf(made, inside, 0).join(" ")],
      ...asTokens(tokensOf(made, inside, 1), " "),
    },
  ];
  if (tieAt >= 0) exercises.push(tieExercise(words, made, tieAt));
  return exercises;
}

function tieExercise(words: HandWords, made: HandMerges, at: number): Exercise {
  const answer = pairText(made.pairs[at]!, made);
  const tied = made.ties[at]!.map((pair) => pairText(pair, made));
  return {
    id: "tie",
    title: "A tie",
    question: `After ${countNoun(at, "merge")} these pairs all occur ${countNoun(made.pairs[at]!.count, "time")}: ${tied.join(", ")}. CS336 takes the greatest pair, in the order of a dictionary: the left token first, then the right one. Which is it?`,
    given: listed(words, made, at),
    answer,
    check(typed) {
      const asked = typed
        .trim()
        .replaceAll(/[\s,()'"+]+/g, " ")
        .trim();
      if (asked === answer) return null;
      return tied.includes(asked)
        ? "That one is tied, but another one comes later in a dictionary."
        : "Write one of the tied pairs, as e s.";
    },
  };
}

function specialExercise(pattern: CompiledPattern): Exercise {
  const documents = ["the end", "the start", "the end"];
  const count = documents.flatMap((document) => cut(document, pattern)).length;
  return asNumber(
    "special",
    "Special tokens",
    "A special token ends a document: its text is never counted, and no pretoken crosses it. How many pretokens does this text have?",
    [documents.join("<|endoftext|>")],
    count,
    "Cut at the special tokens first, then cut each document by the pattern. Special tokens are not pretokens.",
  );
}

function rankExercise(words: HandWords, made: HandMerges): Exercise {
  const merges = made.left.length;
  const last = words.words.length - 1;
  const longest = words.words.reduce((w, word, i) => (word.length > words.words[w]!.length ? i : w), last);
  const word = words.words[longest]!;
  // A longer word than those from which the merges were learned.
  const unseen: HandWords = { words: [encoder.encode(`${textOfBytes(word)}est`)], counts: [1] };
  const joined = unjoined(unseen);
  for (const [merge, pair] of made.pairs.entries()) join(joined, merge, pair);
  return {
    id: "rank",
    title: "Encode by rank",
    question: `To encode a word, begin with its bytes. Of all adjacent pairs, merge the one that was learned first, everywhere; repeat until no pair is in the list. Write ${textOfBytes(unseen.words[0]!)} with a space between its tokens.`,
    given: made.pairs.map((pair, i) => `${i + 1}.  ${pairText(pair, made)}`),
    ...asTokens(tokensOf({ ...made, joined }, 0, merges), " "),
  };
}

const textOfBytes = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
