import { encodeBytes } from "../bytes/byte-characters.ts";
import { assert } from "../errors.ts";
import type { AddedToken } from "../text/cutting.ts";
import type { Extension } from "../tokenizer/extend-vocabulary.ts";
import { tokenBytesOf } from "../tokenizer/token-table.ts";
import { allAddedTokens, type TokenizerParts } from "../tokenizer/tokenizer-parts.ts";
import type { OutputFile } from "./output-file.ts";
import type { BaseFile } from "./tokenizer-files.ts";

/**
 * The files of an extended tokenizer: those of its base, with rows put in. Every other byte of them stays: what this program
 * does not know (a template, a padding) is as it was.
 */
export function extendedFiles(
  files: readonly BaseFile[],
  base: TokenizerParts,
  extension: Extension,
): OutputFile[] {
  return files.map((file) => ({ name: file.name, chunks: () => extendedFile(file, base, extension) }));
}

/** Yields also where no bytes are ready: a step of work on a large file ends there. */
function* extendedFile(file: BaseFile, base: TokenizerParts, extension: Extension): Generator<Uint8Array> {
  switch (file.kind) {
    case "tokenizer.json":
      return yield* extendJson(file, vocabKeys, mergesKeys, { base, extension });
    case "vocab.json":
      return yield* extendJson(file, [], undefined, { base, extension });
    case "merges.txt":
      yield file.bytes;
      return yield encoder.encode(mergeLines(file.bytes, base, extension));
    case "ranks":
      yield file.bytes;
      return yield encoder.encode(rankLines(file.bytes, extension));
    case "beside":
      return yield file.bytes;
  }
}

const encoder = new TextEncoder();
const nothing = new Uint8Array(0);

export const vocabKeys = ["model", "vocab"];
export const mergesKeys = ["model", "merges"];

type Extended = { readonly base: TokenizerParts; readonly extension: Extension };

/** A JSON file with ids in an object, and merges in a list if it has one. */
function* extendJson(
  { bytes }: BaseFile,
  keysOfIds: readonly string[],
  keysOfMerges: readonly string[] | undefined,
  { base, extension }: Extended,
): Generator<Uint8Array> {
  const json = Buffer.from(bytes).toString("utf8");
  yield nothing;
  const ids = spanOf(json, keysOfIds)!;
  yield nothing;
  const merges = keysOfMerges && spanOf(json, keysOfMerges)!;
  yield nothing;
  const edits = [addIds(json, ids, newIds(json, ids, base, extension))];
  yield nothing;
  if (keysOfMerges !== undefined && extension.reservedTokens.length > 0)
    edits.push(addSpecials(json, ids, extension.reservedTokens));
  if (merges !== undefined) edits.push(addMerges(json, merges, ids, mergesOf(base, extension)));
  yield* applyEdits(json, edits);
}

/** What is put in the place of a part of a text. */
type Edit = Span & { readonly text: string };

/** The text with its parts changed, none of which is in another one. */
export function* applyEdits(json: string, edits: Edit[]): Generator<Uint8Array> {
  let pos = 0;
  for (const { start, end, text } of edits.sort((a, b) => a.start - b.start)) {
    yield encoder.encode(json.slice(pos, start));
    yield encoder.encode(text);
    pos = end;
  }
  yield encoder.encode(json.slice(pos));
}

/** Puts other elements in the place of all of an object or array, in the layout that they have. */
export function replaceElements(json: string, span: Span, elements: readonly string[]): Edit {
  const { before, atEnd } = layoutOf(json, span);
  const text = elements.length === 0 ? "" : `${before}${elements.join(`,${before}`)}${atEnd}`;
  return { start: span.start + 1, end: span.end - 1, text };
}

/** Ids and the like in the value at `pos`, as they are `after` a change: all that is not the same there as `before`. */
export function* changedValues(json: string, pos: number, before: unknown, after: unknown): Generator<Edit> {
  if (before === after) return;
  if (typeof after !== "object" || after === null) {
    yield { start: pos, end: valueEnd(json, pos), text: JSON.stringify(after) };
    return;
  }
  type Members = Record<string | number, unknown>;
  for (const [key, value] of new Map(membersOf(json, pos))) {
    yield* changedValues(json, value, (before as Members)[key], (after as Members)[key]);
  }
}

type IdRow = readonly [key: string, id: number];

/**
 * The new tokens, behind the added tokens that the vocabulary lacks: HF numbers these from the vocabulary's size on when it
 * loads the file, whatever ids are stated, so they have to be in the vocabulary before it grows.
 */
function newIds(json: string, { start, end }: Span, base: TokenizerParts, extension: Extension): IdRow[] {
  const { tokens, reservedTokens } = extension;
  const vocab = JSON.parse(json.slice(start, end)) as Record<string, unknown>;
  const added = allAddedTokens(base)
    .filter(({ content }) => !Object.hasOwn(vocab, content))
    .map(({ content, id }): IdRow => [content, id])
    .sort(([, a], [, b]) => a - b);
  return [
    ...added,
    ...tokens.map(({ id, bytes }): IdRow => [encodeBytes(bytes), id]),
    ...reservedTokens.map(({ id, content }): IdRow => [content, id]),
  ];
}

/** Puts rows behind the last entry of an object, in the layout of its entries. */
const addIds = (json: string, span: Span, rows: readonly IdRow[]): Edit =>
  addElements(json, span, layoutOf(json, span).before, idTexts(json, span, rows));

/** Keys and ids, as the object that they are for has them. */
export function idTexts(json: string, span: Span, rows: readonly IdRow[]): string[] {
  const colon = `:${afterColon(json, span)}`;
  const quoted = quoterFor(json);
  return rows.map(([key, id]) => `${quoted(key)}${colon}${id}`);
}

/** Puts special tokens behind the last added token, in the layout of the others; in the vocabulary's if there are none. */
function addSpecials(json: string, ids: Span, reserved: readonly AddedToken[]): Edit {
  const span = spanOf(json, ["added_tokens"]);
  const ofVocab = layoutOf(json, ids).before;
  const outer = ofVocab.slice(0, Math.max(0, ofVocab.length - 2));
  const rows = (inner: string, colon: string, atEnd: string) =>
    reserved.map(({ id, content, special, normalized, lstrip, rstrip, singleWord }) => {
      const fields = { id, content, single_word: singleWord, lstrip, rstrip, normalized, special };
      const texts = Object.entries(fields).map(
        ([key, value]) => `${inner}"${key}":${colon}${JSON.stringify(value)}`,
      );
      return `{${texts.join(",")}${atEnd}}`;
    });
  if (span === undefined) {
    const start = json.indexOf("{") + 1;
    const list = rows("", "", "").join(",");
    return { start, end: start, text: `"added_tokens":[${list}],` };
  }
  const { before } = layoutOf(json, span);
  const first = span.start + 1 + before.length;
  const isEmpty = json[first] === "]";
  if (isEmpty) {
    const colon = afterColon(json, ids);
    const made = rows(ofVocab, colon, outer);
    return addElements(json, span, outer, made, outer.slice(0, Math.max(0, outer.length - 2)));
  }
  const element = { start: first, end: valueEnd(json, first) };
  const { before: inner, atEnd } = layoutOf(json, element);
  return addElements(json, span, before, rows(inner, afterColon(json, element), atEnd));
}

/** Puts merges behind the last one; without one to follow, as pairs in the layout of the vocabulary. */
function addMerges(json: string, span: Span, ids: Span, merges: readonly Pair[]): Edit {
  const layout = layoutOf(json, span);
  const isEmpty = json[span.start + 1 + layout.before.length] === "]";
  const before = isEmpty ? layoutOf(json, ids).before : layout.before;
  const atEnd = isEmpty ? before.slice(0, Math.max(0, before.length - 2)) : "";
  return addElements(json, span, before, mergeTexts(json, span, merges, innerLayout(before)), atEnd);
}

/** Merges in the form and the layout of the first one; without one as pairs, with the white space of `ofNone`. */
export function mergeTexts(
  json: string,
  span: Span,
  merges: readonly Pair[],
  ofNone: [string, string, string] = ["", "", ""],
): string[] {
  const quoted = quoterFor(json);
  const first = span.start + 1 + layoutOf(json, span).before.length;
  if (json[first] === '"') return merges.map(([left, right]) => quoted(`${left} ${right}`));
  const isEmpty = json[first] === "]";
  const [inner, between, last] = isEmpty ? ofNone : layoutOfPair(json, spanOfElement(json, first));
  return merges.map(([left, right]) => `[${inner}${quoted(left)},${between}${quoted(right)}${last}]`);
}

/** White space in a pair one level deeper than `before`, as HF indents. */
function innerLayout(before: string): [string, string, string] {
  return before.includes("\n") ? [`${before}  `, `${before}  `, before] : ["", before, ""];
}

const spanOfElement = (json: string, start: number): Span => ({
  start,
  end: json.indexOf("]", pairEnd(json, start)) + 1,
});

/** Behind the second string of the pair at `start`: a token may hold a bracket. */
function pairEnd(json: string, start: number): number {
  const [strings] =
    /^\[\s*"(?:[^"\\]|\\.)*"\s*,\s*"(?:[^"\\]|\\.)*"/.exec(json.slice(start, start + pairLengthMax)) ?? [];
  assert(strings !== undefined, "a merge is a pair of strings");
  return start + strings.length;
}

/** Of the first merge in the file: two short tokens, and their layout. */
const pairLengthMax = 10_000;

function layoutOfPair(json: string, { start, end }: Span): [string, string, string] {
  const [, inner, between, last] =
    /^\[(\s*)"(?:[^"\\]|\\.)*"\s*,(\s*)"(?:[^"\\]|\\.)*"(\s*)\]$/.exec(json.slice(start, end)) ?? [];
  return [inner!, between!, last!];
}

/** Puts elements behind the last one of an object or array; `atEnd` goes before its end if it was empty. */
function addElements(
  json: string,
  span: Span,
  before: string,
  elements: readonly string[],
  atEnd = "",
): Edit {
  const layout = layoutOf(json, span);
  const isEmpty = span.start + 1 + layout.before.length === span.end - 1;
  const rows = `${before}${elements.join(`,${before}`)}`;
  const end = span.end - 1 - layout.atEnd.length;
  if (elements.length === 0) return { start: end, end, text: "" };
  if (isEmpty) return { start: span.start + 1, end: span.end - 1, text: `${rows}${atEnd}` };
  return { start: end, end, text: `,${rows}` };
}

/** Strings as JSON; without other characters than ASCII if the file has none. */
function quoterFor(json: string): (text: string) => string {
  if (/[^\x00-\x7f]/.test(json)) return JSON.stringify;
  return (text) =>
    JSON.stringify(text).replace(
      /[\u007f-\uffff]/g,
      (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
}

type Pair = readonly [left: string, right: string];

/** The new merges, as strings in byte-to-character form. */
function mergesOf(base: TokenizerParts, { tokens, merges }: Extension): Pair[] {
  const { idLimit } = base.tokens;
  const keyOf = (id: number) =>
    encodeBytes(id < idLimit ? tokenBytesOf(base.tokens, id) : tokens[id - idLimit]!.bytes);
  return Array.from(merges.left, (left, k): Pair => [keyOf(left), keyOf(merges.right[k]!)]);
}

function mergeLines(before: Uint8Array, base: TokenizerParts, extension: Extension): string {
  const lines = mergesOf(base, extension).map(([left, right]) => `${left} ${right}\n`);
  return `${lineEnd(before)}${lines.join("")}`;
}

function rankLines(before: Uint8Array, { tokens }: Extension): string {
  const lines = tokens.map(({ id, bytes }) => `${Buffer.from(bytes).toString("base64")} ${id}\n`);
  return `${lineEnd(before)}${lines.join("")}`;
}

/** What ends the last line of a file, if nothing does. */
const lineEnd = (bytes: Uint8Array) => (bytes.length === 0 || bytes.at(-1) === 0x0a ? "" : "\n");

/** The new merges as the lines of merges.txt, for their checksum. */
export const newMergeLines = (base: TokenizerParts, extension: Extension): string =>
  mergeLines(new Uint8Array(0), base, extension);

/**
 * Places in a JSON text: where a value begins and ends, and how the file is laid out there. So rows can be put into a file
 * that stays as it is otherwise. The text is valid JSON: it was parsed before.
 */
type Span = { readonly start: number; readonly end: number };

/** Where the value of `keys`, one in the other, stands; undefined if there is none. Of a key that is there twice the last counts. */
export function spanOf(json: string, keys: readonly string[]): Span | undefined {
  let pos = skipSpace(json, 0);
  for (const key of keys) {
    let found: number | undefined;
    for (const [name, value] of membersOf(json, pos)) if (name === key) found = value;
    if (found === undefined) return undefined;
    pos = found;
  }
  return { start: pos, end: valueEnd(json, pos) };
}

/** Keys of the object at `pos`, or indices of the array, and where their values begin. */
export function* membersOf(json: string, pos: number): Generator<[key: string | number, value: number]> {
  const isObject = json[pos] === "{";
  if (!isObject && json[pos] !== "[") return;
  let at = skipSpace(json, pos + 1);
  for (let index = 0; json[at] !== "}" && json[at] !== "]"; index++) {
    const keyEnd = isObject ? skipString(json, at) : at;
    const value = isObject ? skipSpace(json, skipSpace(json, keyEnd) + 1) : at;
    yield [isObject ? JSON.parse(json.slice(at, keyEnd)) : index, value];
    at = skipSpace(json, valueEnd(json, value));
    if (json[at] === ",") at = skipSpace(json, at + 1);
  }
}

function skipSpace(json: string, from: number): number {
  let pos = from;
  while (isSpace(json.charCodeAt(pos))) pos++;
  return pos;
}

const isSpace = (code: number) => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

/** Behind the string that begins at `from`. */
function skipString(json: string, from: number): number {
  for (let pos = from + 1; ; pos++) {
    const code = json.charCodeAt(pos);
    if (code === quote) return pos + 1;
    if (code === backslash) pos++;
  }
}

const quote = 0x22;
const backslash = 0x5c;

/** Behind the value that begins at `from`. */
export function valueEnd(json: string, from: number): number {
  let depth = 0;
  for (let pos = from; ; ) {
    const code = json.charCodeAt(pos);
    if (code === quote) pos = skipString(json, pos);
    else if (code === openBrace || code === openBracket) {
      depth++;
      pos++;
    } else if (code === closeBrace || code === closeBracket) {
      depth--;
      pos++;
    } else if (depth === 0) return skipScalar(json, pos);
    else pos++;
    if (depth === 0) return pos;
  }
}

const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** Behind a number, `true`, `false` or `null`. */
function skipScalar(json: string, from: number): number {
  let pos = from;
  while (pos < json.length && !",]}".includes(json[pos]!) && !isSpace(json.charCodeAt(pos))) pos++;
  return pos;
}

/** White space before the first element of an object or array, and before its end. */
function layoutOf(json: string, { start, end }: Span): { readonly before: string; readonly atEnd: string } {
  const first = skipSpace(json, start + 1);
  let last = end - 1;
  while (isSpace(json.charCodeAt(last - 1))) last--;
  return { before: json.slice(start + 1, first), atEnd: json.slice(Math.max(last, first), end - 1) };
}

/** White space between a key's colon and its value, in the object at `start`; that of most files if it is empty. */
function afterColon(json: string, { start }: Span): string {
  const key = skipSpace(json, start + 1);
  if (json[key] !== '"') return " ";
  const colon = skipSpace(json, skipString(json, key));
  return json.slice(colon + 1, skipSpace(json, colon + 1));
}
