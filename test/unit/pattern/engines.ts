import { Tiktoken } from "tiktoken";
import { Tokenizer } from "tokenizers";
import * as unicode from "../../../src/pattern/unicode.ts";
import { isThorough } from "../../rounds.ts";

/** All code points that can occur in a text, which excludes surrogates. */
export const characters = unicode.complementOf([0xd800, 0xdfff]);
export const everyCharacter = textOf(characters);

export function textOf(set: unicode.CodePointSet): string {
  const parts: string[] = [];
  for (let i = 0; i < set.length; i += 2) {
    for (let codePoint = set[i]!; codePoint <= set[i + 1]!; codePoint++)
      parts.push(String.fromCodePoint(codePoint));
  }
  return parts.join("");
}

/** Returns the characters at both edges of each range of the set, inside and outside. */
export function edgesOf(set: unicode.CodePointSet): unicode.CodePointSet {
  const edges = [...set, ...unicode.complementOf(set)];
  return unicode.intersectionOf(unicode.setOf([...new Set(edges)].sort((a, b) => a - b)), characters);
}

let categoryEdges: unicode.CodePointSet | undefined;

/**
 * Returns the characters with which an engine is tested on a set: all of them or, in a quick run, only those at the
 * edges of the set and of every general category.
 */
export function textAbout(set: unicode.CodePointSet): string {
  if (isThorough) return everyCharacter;
  categoryEdges ??= unicode.unionOf(
    Object.keys(unicode.categoryNames).map((name) => edgesOf(unicode.propertySet(name)!)),
  );
  return textOf(unicode.unionOf([edgesOf(set), categoryEdges]));
}

export function setIn(text: string): unicode.CodePointSet {
  return unicode.setOf(Array.from(text, (character) => character.codePointAt(0)!));
}

/** Returns the matches of a regular expression in a text, by one engine. Several matches may be joined in a string. */
export type Engine = (regex: string, text: string) => string[];

export const huggingface: Engine = (regex, text) => {
  const split = { type: "Split", pattern: { Regex: regex }, behavior: "Removed", invert: true };
  return preTokenize(split, text);
};

export function preTokenize(step: object, text: string): string[] {
  return preTokenizer(step)(text);
}

export function preTokenizer(step: object): (text: string) => string[] {
  const model = { type: "BPE", vocab: {}, merges: [] };
  const tokenizer = Tokenizer.fromString(JSON.stringify({ version: "1.0", pre_tokenizer: step, model }));
  const reader = tokenizer.getPreTokenizer()!;
  return (text) => (text === "" ? [] : reader.preTokenizeString(text).map(([piece]) => piece));
}

const byteRanks = Array.from({ length: 256 }, (_, byte) => Buffer.from([byte]).toString("base64"));

/** tiktoken drops unmatched text. Its tokens are single bytes here, so the matches are joined. */
export const tiktoken: Engine = (regex, text) => {
  const encoder = new Tiktoken(`! 0 ${byteRanks.join(" ")}`, {}, regex);
  const bytes = Uint8Array.from(encoder.encode_ordinary(text));
  encoder.free();
  return [Buffer.from(bytes).toString()];
};

export function askedOf(engine: Engine, regex: string, text = everyCharacter): unicode.CodePointSet {
  return setIn(engine(`(?:${regex})+`, text).join(""));
}
