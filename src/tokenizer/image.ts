import { crc32 } from "node:zlib";
import { bytesOf } from "#bytes";
import { kernels } from "#runtime";
import { cuttings, tokensToFind } from "#text";
import { imageDigest } from "./image-digest.ts";
import * as imageFile from "./image-file.ts";
import { layOut } from "./laid-out-model.ts";
import { allAddedTokens, type TokenizerParts } from "./tokenizer-parts.ts";

/**
 * Returns the image of a tokenizer: everything that native/ needs to encode and decode without its files. Most of it is
 * the memory of a kernel instance that is ready for text (laid-out-model.ts).
 *
 *   BYTES   TYPE      MEANING
 *   0       u8[8]     "bpeimage"
 *   8       u32       `imageVersion`
 *   12      u32       CRC-32 of all that follows
 *   16      u8[16]    `imageDigest`: of the kernel's two modules and the version of bpe
 *   32      u32       `flagBits`
 *   36      u32       idLimit
 *   40      u32       size in bytes of the longest token that the kernel searches for while it cuts the text
 *   44      u32       number of `texts` that are ids of added tokens
 *   48      u32       number of steps that trim offsets
 *   52      u32       pages of 64 KB of the kernel's memory
 *   56      u32[2]    for each part below: its start, a multiple of 4, and its size in bytes
 *
 *   PART     TYPE       MEANING
 *   facts    UTF-8      JSON: the program's facts about the tokenizer
 *   starts   u32        idLimit + 1 offsets; the token of an id is tokens[starts[id] .. starts[id + 1])
 *   tokens   u8         the tokens end to end
 *   texts    u32        ids of tokens whose names are text, the added tokens first; the names of all other tokens are
 *                       their bytes in GPT-2's characters
 *   sections            what is done to a text before it is cut, in the format of the kernel's text module
 *                       (src/kernel/text/description.ts)
 *   areas, model, variables: laid-out-model.ts
 *   settings UTF-8      JSON: `ImageSettings`, which only the executable and the library for Node and Bun read
 */
export function tokenizerImage(parts: TokenizerParts, facts: object): Uint8Array<ArrayBuffer> {
  const { tokens } = parts;
  const addedIds = allAddedTokens(parts).map(({ id }) => id);
  const { trims = [] } = parts.postProcessing ?? {};
  const found = cuttings.tokensWhileCutting(parts);
  const laidOut = layOut(parts, found);
  const contents: Record<ImagePart, Uint8Array> = {
    facts: new TextEncoder().encode(JSON.stringify(facts)),
    starts: bytesOf(tokens.starts),
    tokens: tokens.bytes,
    texts: bytesOf(Uint32Array.from([...addedIds, ...(tokens.rawIds ?? [])])),
    sections: cuttings.describe(parts),
    areas: laidOut.areas,
    model: laidOut.bytes,
    variables: laidOut.variables,
    settings: new TextEncoder().encode(JSON.stringify(settingsOf(parts))),
  };
  const body = imageParts.map((name) => contents[name]);
  const headWords = partsAt / 4 + 2 * body.length;
  const head = new Uint32Array(headWords);
  const longestBytes = tokensToFind.longestOf(found);
  head.set(
    [flagBits(parts), tokens.idLimit, longestBytes, addedIds.length, trims.length, laidOut.pageCount],
    flagsAt / 4,
  );
  let end = 4 * headWords;
  body.forEach(({ length }, i) => {
    head.set([end, length], partsAt / 4 + 2 * i);
    end += padTo4(length);
  });
  const image = new Uint8Array(end);
  image.set(bytesOf(head));
  image.set(new TextEncoder().encode(imageFile.magic));
  image.set(bytesOf(Uint32Array.of(imageVersion)), 8);
  image.set(imageDigest(kernels.readNative()), 16);
  for (const [i, part] of body.entries()) image.set(part, head[partsAt / 4 + 2 * i]!);
  image.set(bytesOf(Uint32Array.of(crc32(image.subarray(16)))), 12);
  return image;
}

/** The names of the parts, in their order. */
export const imageParts = [
  "facts",
  "starts",
  "tokens",
  "texts",
  "sections",
  "areas",
  "model",
  "variables",
  "settings",
] as const;
export type ImagePart = (typeof imageParts)[number];

export const imageVersion = 8;
export const flagsAt = 32;
export const partsAt = 56;

/** Returns the part `settings` of an image. */
function settingsOf(parts: TokenizerParts) {
  const { model: _, pattern: __, tokens, specialTokensAsText: ___, description, ...rest } = parts;
  const { path: ____, ...described } = description;
  const { tokenCount, nameCount = tokenCount, areCharacters = false } = tokens;
  return { ...rest, description: described, tokenFacts: { tokenCount, nameCount, areCharacters } };
}

export type ImageSettings = ReturnType<typeof settingsOf>;

const padTo4 = (byteCount: number) => (byteCount + 3) & ~3;
const foundIn = (parts: TokenizerParts) => ({ ...parts, specialTokensAsText: false });

/**
 * Returns the flags of an image, from bit 0 on:
 *
 *   0   ids have 16 bits in the kernel
 *   1   spaces are put before sections of a text (`addsPrefixSpace`)
 *   2   safe cuts of a text can be found in its bytes alone
 *   3   like 2, with special tokens as text
 *   4   the text goes to the kernel unchanged
 *   5   like 4, with special tokens as text
 *   6   a step that trims offsets leaves one space at the start of the text
 *   7   sections of the text are encoded independently
 *   8   U+2581 in a text matches a space of a token, as a space does
 *   9   decoding leaves out one space at the start of a text
 *   10  decoding leaves out all spaces at the start of the first token of a text
 */
function flagBits(parts: TokenizerParts): number {
  const asText = { ...parts, specialTokensAsText: true };
  const flags = [
    parts.isNarrow,
    parts.addsPrefixSpace,
    cuttings.canBeCut(foundIn(parts)),
    cuttings.canBeCut(asText),
    cuttings.isCutUnchanged(foundIn(parts)),
    cuttings.isCutUnchanged(asText),
    parts.postProcessing?.trims?.includes(true) ?? false,
    !cuttings.changesText(parts) && !cuttings.looksAround(parts),
    parts.model.beginning?.hasMarks ?? false,
    parts.leadingSpaces === "one",
    parts.leadingSpaces === "first token",
  ];
  return flags.reduce((bits, flag, i) => bits | (Number(flag) << i), 0);
}
