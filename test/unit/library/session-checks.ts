// Checks of sessions, segments and canonical ids against their definitions. A failed check throws.
import assert from "node:assert/strict";
import type { Session } from "../../../src/library/text-session.ts";
import { TextTokenizer } from "../../../src/library/text-tokenizer.ts";
import { pick, type Random } from "../../random.ts";
import { madeTrial, pieces } from "../text/made-trials.ts";
import { madeText } from "../tokenizer/made-merges.ts";
import { jsonOf, specialTokens, type TokenizerJson, writeTokenizer } from "../tokenizer/made-tokenizer.ts";

const names = ["gpt2", "cl100k", "o200k", "llama3", "qwen2"] as const;
/** Returns tokenizers of five patterns. The files of each are written into `directory`, by default a new one. */
export const madeBases = (directory?: string): TokenizerJson[] =>
  names.map((name) => jsonOf(writeTokenizer(name, "cs336", directory)));

export type Made = {
  readonly json: TokenizerJson;
  readonly tokenizer: TextTokenizer;
  /** The contents of the added tokens. */
  readonly tokens: readonly string[];
};

export const made = (json: TokenizerJson): Made => ({
  json,
  tokenizer: TextTokenizer.from(json),
  tokens: json.added_tokens.map(({ content }) => String(content)),
});

/** Makes a tokenizer with random settings. Returns null for settings that are refused. */
export function madeAtRandom(bases: readonly TokenizerJson[], seed: number): Made | null {
  const { json } = madeTrial(bases[seed % bases.length]!, seed);
  try {
    return made(json);
  } catch {
    return null;
  }
}

type Segment = { text: string; trusted: boolean };

/** A naive twin of a session: each code unit of its text, and whether this unit is trusted. */
class Twin {
  units: { readonly unit: string; readonly trusted: boolean }[] = [];

  replace(start: number, end: number, text: string, trusted: boolean): void {
    const units = Array.from({ length: text.length }, (_, i) => ({ unit: text[i]!, trusted }));
    this.units = [...this.units.slice(0, start), ...units, ...this.units.slice(end)];
  }

  get text(): string {
    return this.units.map(({ unit }) => unit).join("");
  }

  segmentsWith(text: string, isTrusted: boolean): Segment[] {
    const segments: Segment[] = [];
    for (const { unit, trusted } of [...this.units, { unit: text, trusted: isTrusted }]) {
      const last = segments.at(-1);
      if (last?.trusted === trusted) last.text += unit;
      else segments.push({ text: unit, trusted });
    }
    return segments;
  }
}

const halves = ["\ud83d", "\ude00", "\ud83d\ude00", "\ufffd", "\udc00", "\ud800"];
const marks = ["\u0301", "\u0316\u0301", "\u0301".repeat(30), "\u1161", "\u11a8", "\u0345"];
const hostile = [
  ...[..."a1 \n!", "'ll", "|>", "endoftext|>", "  x", "_end|>", "<|end", " ".repeat(20), "\u3000"],
  ...[...marks, "¨", "½", "!¨"],
];

function madePart(random: Random, tokens: readonly string[]): string {
  const kinds = [
    () => madeText(random(1000), random(40)),
    () => pick(random, [...hostile, ...tokens]),
    () => pick(random, [...specialTokens, ...tokens]).slice(random(12)),
    () => `${pick(random, pieces)}${pick(random, pieces)}`,
    () => pick(random, halves),
    () => "x".repeat(random(60)),
  ];
  const count = pick(random, [0, 1, 1, 2, 8, 30]);
  return Array.from({ length: count }, () => pick(random, kinds)()).join("");
}

function commonLength(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let i = 0;
  while (i < a.length && i < b.length && a[i] === b[i]) i++;
  return i;
}

/**
 * Makes the same random edit in a session and its twin. Returns what the session returns: the number of leading ids
 * that have not changed.
 */
function editBoth(
  random: Random,
  session: Session,
  twin: Twin,
  { trusted, tokens }: { trusted: boolean; tokens: readonly string[] },
): number {
  const length = twin.units.length;
  const start = random(length + 1);
  const end = Math.min(length, start + pick(random, [0, 1, 5, 50]));
  const kind = random(6);
  const text = kind === 5 ? "" : madePart(random, tokens);
  const options = trusted && random(2) === 0 ? {} : { trusted };
  if (kind < 3) twin.replace(length, length, text, trusted);
  else twin.replace(start, kind === 5 ? length : end, text, trusted);
  if (kind < 3) return session.append(text, options);
  return kind === 5 ? session.truncate(start) : session.replace(start, end, text, options);
}

/**
 * Checks after each random edit that the ids are those of the whole text, and that further text would not change the
 * stable ids. Returns the session.
 */
export function checkEdits(
  { tokenizer, tokens }: Made,
  random: Random,
  { isMixed, editCount }: { readonly isMixed: boolean; readonly editCount: number },
): Session {
  let session = tokenizer.session();
  const twin = new Twin();
  let before = new Uint32Array(0);
  for (let edit = 0; edit < editCount; edit++) {
    const trusted = !isMixed || random(2) === 0;
    const kept = editBoth(random, session, twin, { trusted, tokens });
    const segments = twin.segmentsWith("", trusted);
    const expected = tokenizer.encodeSegments(segments);
    assert.deepEqual({ segments, ids: [...session.ids] }, { segments, ids: [...expected] });
    const { text } = twin;
    if (!isMixed) assert.deepEqual(tokenizer.encode(text), expected);
    assert.deepEqual(
      { text: session.text, count: session.count, kept },
      { text, count: expected.length, kept: commonLength(before, expected) },
    );
    before = expected;
    const { stable } = session;
    for (let i = 0; i < 3; i++) {
      const end = Array.from({ length: 3 }, () => pick(random, [...hostile, ...halves, ...tokens])).join("");
      const ids = tokenizer.encodeSegments(twin.segmentsWith(end, trusted));
      const leading = (list: Uint32Array) => [...list.subarray(0, stable)];
      assert.deepEqual({ segments, end, ids: leading(ids) }, { segments, end, ids: leading(expected) });
    }
    if (random(10) === 0) session = session.fork();
  }
  return session;
}

const nameOf = (i: number) => `\ue000${i}\ue001`;

/**
 * Encodes segments by their definition. Replaces each added token in them by its name in `naive`, except special tokens
 * in untrusted text, and encodes the joined text with `naive`. The added tokens must not depend on the text next to
 * them.
 */
export class MaskedSegments {
  readonly made: Made;
  /** Has the same added tokens, but under names that no text contains. */
  private readonly naive: TextTokenizer;
  private readonly idsByMask = new Map<number, number>();
  private readonly isSpecial: readonly boolean[];
  private readonly finder: RegExp;

  constructor(json: TokenizerJson) {
    const added = json.added_tokens
      .filter(({ content }, i, all) => content !== "" && all.findIndex((a) => a.content === content) === i)
      .map(({ content, special }) => ({ content: String(content), special: special === true }));
    const flags = { single_word: false, lstrip: false, rstrip: false, normalized: false };
    const firstId = Math.max(...Object.values(json.model.vocab)) + 1;
    const withTokens = (contentOf: (content: string, i: number) => string) => ({
      ...json,
      added_tokens: added.map(({ content, special }, i) => ({
        ...{ id: firstId + i, content: contentOf(content, i), special },
        ...flags,
      })),
    });
    this.made = made(withTokens((content) => content));
    this.naive = TextTokenizer.from(withTokens((_, i) => nameOf(i)));
    for (const [i, { content }] of added.entries())
      this.idsByMask.set(this.naive.encode(nameOf(i))[0]!, this.made.tokenizer.encode(content)[0]!);
    this.isSpecial = added.map(({ special }) => special);
    const longestFirst = added.map(({ content }) => content).toSorted((a, b) => b.length - a.length);
    const source = longestFirst.map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("|");
    this.finder = new RegExp(source === "" ? "(?!)" : source, "g");
  }

  encode(segments: readonly Segment[]): number[] {
    const { tokens } = this.made;
    const masked = segments.map(({ text, trusted }) =>
      text.replaceAll(this.finder, (content) => {
        const i = tokens.indexOf(content);
        return trusted || !this.isSpecial[i] ? nameOf(i) : content;
      }),
    );
    return [...this.naive.encode(masked.join(""))].map((id) => this.idsByMask.get(id) ?? id);
  }
}

/**
 * Checks the ids of random segments against their definition. With `isolate`, they are the ids of each segment encoded
 * alone.
 */
export function checkSegments(naive: MaskedSegments, random: Random): void {
  const { tokenizer, tokens } = naive.made;
  const part = () => {
    const kind = random(4);
    const token = tokens.length === 0 ? "" : pick(random, tokens);
    if (kind === 0) return token;
    return kind === 1 ? token.slice(0, random(token.length)) : madePart(random, tokens);
  };
  const segments = Array.from({ length: random(7) }, () => ({
    text: `${part()}${part()}`.toWellFormed(),
    trusted: random(2) === 0,
  }));
  assert.deepEqual(
    { segments, ids: [...tokenizer.encodeSegments(segments)] },
    { segments, ids: naive.encode(segments) },
  );
  const alone = segments.flatMap(({ text, trusted }) => [
    ...tokenizer.encode(text, { specialTokensAsText: !trusted }),
  ]);
  assert.deepEqual([...tokenizer.encodeSegments(segments, { isolate: true })], alone);
}

/**
 * Checks that ids are called canonical exactly if encoding their text gives them, and that the spans of `recode` map
 * them to the canonical ids.
 */
export function checkCanonical({ json, tokenizer, tokens }: Made, random: Random): void {
  // If two tokens share an id, one of them may be empty. Such an id cannot be decoded, so this tokenizer is not
  // checked.
  const vocabIds = Object.values(json.model.vocab);
  if (new Set(vocabIds).size < vocabIds.length) return;
  const text = madePart(random, tokens);
  const cut = random(text.length + 1);
  const ids = [text.slice(0, cut), text.slice(cut)].flatMap((part) => [...tokenizer.encode(part)]);
  if (ids.length > 0 && random(3) === 0) ids.splice(random(ids.length), 0, pick(random, ids));
  const bytes = tokenizer.decodeBytes(ids);
  const expected = [...tokenizer.encode(bytes)];
  const { ids: canonical, spans } = tokenizer.recode(ids);
  assert.deepEqual({ ids, canonical: [...canonical] }, { ids, canonical: expected });
  const first = commonLength(ids, expected);
  const index = first === ids.length && first === expected.length ? -1 : first;
  assert.deepEqual(
    [ids, tokenizer.firstNoncanonical(ids), tokenizer.isCanonical(ids), spans[0]?.start ?? -1],
    [ids, index, index < 0, index],
  );
  const isSameText = Buffer.compare(tokenizer.decodeBytes(expected), bytes) === 0;
  const tokensOf = (list: readonly number[]) =>
    Buffer.concat(list.map((id) => tokenizer.tokenBytes(id))).toString("latin1");
  const recoded = [...ids];
  for (const { start, end, canonicalStart, canonicalEnd } of spans.toReversed()) {
    const own = expected.slice(canonicalStart, canonicalEnd);
    const isLast = end === ids.length && canonicalEnd === expected.length;
    if (isSameText && !isLast) assert.equal(tokensOf(ids.slice(start, end)), tokensOf(own));
    recoded.splice(start, end - start, ...own);
  }
  assert.deepEqual({ ids, recoded }, { ids, recoded: expected });
}
