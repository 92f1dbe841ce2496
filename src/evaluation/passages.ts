import { ascii, utf8 } from "#bytes";
import { isUnspaced } from "./text-words.ts";

/** A token of a sample text. */
export type SampleToken = { readonly id: number; readonly bytes: Uint8Array };

/** A span of a text, with the tokens into which each tokenizer cuts it. */
export type Passage = { readonly bytes: Uint8Array; readonly cuts: readonly (readonly SampleToken[])[] };

// A passage ends where all tokenizers have a boundary. Once it has its minimum length, it ends at the end of a sentence
// or line, or before a character of a script without spaces. From 1.5 times that length on, it may also end between
// words, and from twice that length on, between any characters. The last passage ends with the text.
/** A passage has its minimum length if it has this many bytes, or `passageTokens` tokens. */
const passageBytes = 240;
/** A passage also has its minimum length if it has this many tokens, by the tokenizer that has the most there. */
const passageTokens = 72;
/** A passage of fewer bytes than this, such as a short end of a text, is not shown, unless it is the first one. */
const restBytes = 40;
/** The maximum number of passages shown for a text. */
const passagesMax = 3;

/**
 * Selects the passages of a text in which tokenizers differ most. What counts is, per byte, the number of boundaries
 * that only some cuts have. All cuts must have the same bytes. If the cuts are equal, the list is empty.
 */
export function differingPassages(cuts: readonly (readonly SampleToken[])[]): Passage[] {
  const left = passagesOf(cuts)
    .map((passage) => ({ passage, places: differencesOf(passage) }))
    .filter(
      ({ passage: { bytes }, places }, i) => places.length > 0 && (i === 0 || bytes.length >= restBytes),
    );
  const chosen: Passage[] = [];
  const seen = new Set<string>();
  while (chosen.length < passagesMax && left.length > 0) {
    const ranked = left.map((one, at) => {
      // The first key counts only boundaries in spans that have letters and are in no passage selected so far. So
      // repetitions and ruled lines are selected last.
      const fresh = new Map(
        one.places.filter(({ text }) => !seen.has(text)).map((place) => [place.text, place]),
      );
      const lettered = [...fresh.values()].filter(({ text }) => /\p{L}/u.test(text));
      const share = (places: readonly Difference[]) =>
        sum(places.map(({ borders }) => borders)) / Math.max(1, one.passage.bytes.length);
      return { at, keys: [share(lettered), share(one.places)] as const };
    });
    const best = ranked.reduce((a, b) =>
      b.keys[0] > a.keys[0] || (b.keys[0] === a.keys[0] && b.keys[1] > a.keys[1]) ? b : a,
    );
    const [{ passage, places }] = left.splice(best.at, 1) as [(typeof left)[0]];
    for (const { text } of places) seen.add(text);
    chosen.push(passage);
  }
  return chosen;
}

/**
 * A span between two boundaries that all cuts have, and the number of boundaries inside it, which only some cuts have.
 */
type Difference = { readonly text: string; readonly borders: number };

function differencesOf({ bytes, cuts }: Passage): Difference[] {
  const counts = new Map<number, number>();
  for (const cut of cuts) for (const end of endsOf(cut)) counts.set(end, (counts.get(end) ?? 0) + 1);
  const differences: Difference[] = [];
  let [start, borders] = [0, 0];
  for (const end of [...counts.keys()].sort((a, b) => a - b)) {
    if (counts.get(end)! < cuts.length) borders++;
    else {
      const text = Buffer.from(bytes.subarray(start, end)).toString();
      if (borders > 0) differences.push({ text, borders });
      [start, borders] = [end, 0];
    }
  }
  return differences;
}

function endsOf(tokens: readonly SampleToken[]): number[] {
  let end = 0;
  return tokens.map(({ bytes }) => (end += bytes.length));
}

/** Splits the text into passages that have whole tokens in each cut. */
function passagesOf(cuts: readonly (readonly SampleToken[])[]): Passage[] {
  const text = bytesOf(cuts[0]!);
  const ends = cuts.map(endsOf);
  /** For each cut, the number of tokens up to each boundary. */
  const places = ends.map((some) => new Map(some.map((end, i) => [end, i + 1])));
  const shared = ends[0]!.filter((end) => places.every((some) => some.has(end)));
  const passages: Passage[] = [];
  const taken = cuts.map(() => 0);
  let start = 0;
  for (const end of shared) {
    const isBetweenWords = end === text.length || isSpace(text[end - 1]!) || isSpace(text[end]!);
    const length = Math.max(
      (end - start) / passageBytes,
      ...cuts.map((_, t) => (places[t]!.get(end)! - taken[t]!) / passageTokens),
    );
    const isEnd =
      end === text.length ||
      (length >= 1 && (endsSentence(text, end) || isUnspaced(utf8.codePointAt(text, end, text.length)))) ||
      (length >= 1.5 && isBetweenWords) ||
      (length >= 2 && isCharacter(text[end]));
    if (!isEnd) continue;
    const parts = cuts.map((cut, t) => {
      const first = taken[t]!;
      taken[t] = places[t]!.get(end)!;
      return cut.slice(first, taken[t]);
    });
    passages.push({ bytes: text.subarray(start, end), cuts: parts });
    start = end;
  }
  return passages;
}

/** Whether the byte begins a character. */
const isCharacter = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) !== 0x80;

/**
 * Whether a sentence may end at `end`: after the last of one or more line feeds in a row, or before a space that follows
 * `.`, `?` or `!`.
 */
const endsSentence = (text: Uint8Array, end: number) =>
  (text[end - 1] === ascii.lineFeed && text[end] !== ascii.lineFeed) ||
  (text[end] === ascii.space && ".?!".includes(String.fromCharCode(text[end - 1]!)));

const isSpace = (byte: number) => byte === ascii.space || byte === ascii.lineFeed;

const bytesOf = (tokens: readonly SampleToken[]) => Buffer.concat(tokens.map(({ bytes }) => bytes));

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
