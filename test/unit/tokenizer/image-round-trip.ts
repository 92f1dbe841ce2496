import { expect } from "bun:test";
import { tokenizerImage } from "../../../src/tokenizer/image.ts";
import { partsOfImage } from "../../../src/tokenizer/read-image.ts";
import type { TokenizerParts } from "../../../src/tokenizer/tokenizer-parts.ts";

/** Returns the parts with a plain table of tokens, and with the default values of parts that are missing. */
function spelledOut({ tokens, ...parts }: TokenizerParts) {
  const { idLimit, tokenCount, bytes, starts } = tokens;
  const { rawIds = new Set(), nameCount = tokenCount, areCharacters = false } = tokens;
  return { ...parts, tokens: { idLimit, tokenCount, bytes, starts, rawIds, nameCount, areCharacters } };
}

/** Expects that the image of a tokenizer restores each of its parts. */
export function expectInImage(parts: TokenizerParts): void {
  const read = partsOfImage(tokenizerImage(parts, {}), parts.description.path);
  expect(spelledOut(read)).toEqual(spelledOut(parts));
}
