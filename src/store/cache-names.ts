import { textLike } from "../bytes/schema.ts";
import { hasFields, type Input } from "../corpus/input.ts";
import { createSha256 } from "../runtime/host.ts";
import type { CountsOptions } from "../words/counts-format.ts";

/**
 * The names of a cache's files. Files of other names are neither read nor removed.
 *
 *   bpe-index                          which file has which content (file-index.ts)
 *   bpe-OPTIONS-SIZE-SHA256.words      an entry: the words of one content, read with these options (cache-entries.ts)
 *   bpe-OPTIONS-ID.sum                 the words of many entries together (cache-sums.ts)
 *   bpe-OUTPUT.result                  what an output was made of (unchanged-output.ts)
 *
 * OPTIONS, ID and OUTPUT are 16 hexadecimal digits. Files being written stand in a hidden directory of their process.
 */
export const indexName = "bpe-index";
export const sumName = (group: string, id: string) => `bpe-${group}-${id}.sum`;
export const resultName = (outputPath: string) => `bpe-${shortHash(outputPath)}.result`;

/** Identifies a content: the hash of how its input is read, its size, and its SHA-256. */
export type EntryId = string;

export const entryId = (optionsHash: string, sizeBytes: number, sha256: string): EntryId =>
  `${optionsHash}-${sizeBytes}-${sha256}`;
export const entryName = (id: EntryId) => `bpe-${id}.words`;

export const entryIdCheck = textLike(/^[0-9a-f]{16}-\d{1,16}-[0-9a-f]{64}$/, "no name of a content");

/** The id in the name of an entry; undefined for other names. */
export function entryIdOf(name: string): EntryId | undefined {
  return /^bpe-([0-9a-f]{16}-\d{1,16}-[0-9a-f]{64})\.words$/.exec(name)?.[1];
}

/** An id without the SHA-256. It tells whether a content of this size may be known at all. */
export const idStart = (optionsHash: string, sizeBytes: number) => `${optionsHash}-${sizeBytes}`;
export const idStartOf = (id: EntryId) => id.slice(0, id.lastIndexOf("-"));

export const isSumOf = (group: string, name: string) =>
  name.startsWith(`bpe-${group}-`) && /^bpe-[0-9a-f]{16}-[0-9a-f]{16}\.sum$/.test(name);

/** Whether a file may be removed when the cache is too large. */
export const isOurs = (name: string) =>
  entryIdOf(name) !== undefined || /^bpe-([0-9a-f]{16}-[0-9a-f]{16}\.sum|[0-9a-f]{16}\.result)$/.test(name);

/**
 * Raise it when a change of the code gives other words for the same bytes and options, and the pattern's tables stay the
 * same. The commit is no substitute: a program that is being worked on has none of its own.
 */
export const wordsVersion = 1;

/** The hash of how all inputs of a run are counted. `version` covers program, runtime and pattern tables. */
export function groupHash(version: string, { patterns, specialTokens, isLinewise }: CountsOptions): string {
  return shortHash(JSON.stringify([version, patterns, [...specialTokens].sort(), isLinewise]));
}

/** The hash of how one input is counted: everything that changes its words, besides its bytes. */
export function optionsHash(
  group: string,
  { format, compression, textField }: Pick<Input, "format" | "compression" | "textField">,
): string {
  return shortHash(JSON.stringify([group, format, compression, hasFields(format) ? textField : null]));
}

export function shortHash(text: string): string {
  return createSha256().update(text).digest("hex").slice(0, 16);
}
