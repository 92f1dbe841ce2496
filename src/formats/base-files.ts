import { basename, join } from "node:path";
import { files, UserError } from "#runtime";
import * as tokenizerFiles from "./load-tokenizer.ts";
import type { SourceFile } from "./output-file.ts";

export const readCompanionFiles = (directory: string): SourceFile[] =>
  tokenizerFiles.companionNames
    .map((name) => join(directory, name))
    .filter(files.isFile)
    .map((path) => tokenizerFiles.readFile(path));

/**
 * Reads the files of a tokenizer to extend. From a directory, reads the file of each format that can be extended, if it
 * has the first of the format's usual names (`names`). If there are none, reads the first tokenizer at the path, and
 * throws a UserError if its format cannot be extended.
 */
export async function readBase(path: string): Promise<BaseFiles> {
  const all = tokenizerFiles.findAt(path);
  const sources: tokenizerFiles.Source[] = [];
  for (const file of files.isDirectory(path) ? all : []) {
    const { names, load } = file.format;
    const isUsual = basename(file.path) === names[0]![0];
    if (isUsual && (await load()).extend !== undefined)
      sources.push(await tokenizerFiles.readSource(file, "usual"));
  }
  if (sources.length > 0) return { sources, companions: readCompanionFiles(path) };
  const only = await tokenizerFiles.readSource(all[0]!, "usual");
  if (only.code.extend !== undefined) return { sources: [only], companions: [] };
  const [why, hint] = refusals[only.format.name] ?? ["its format cannot be extended", convertHint];
  throw new UserError(`"${only.path}" cannot be extended: ${why}`, { hint });
}

const convertHint = "extend the tokenizer.json of the same tokenizer; bpe convert makes one";

/** Why files of some formats cannot be extended, and what to do. */
const refusals: Readonly<Record<string, readonly [why: string, hint: string]>> = {
  tekken: ["a tekken.json fixes the size of its vocabulary", convertHint],
  sentencepiece: [
    "SentencePiece models can only be read",
    "train a tokenizer of your own, or extend a byte-level one",
  ],
  image: ["it is an image of a tokenizer", "extend the tokenizer that the image was made from"],
};

export type BaseFiles = {
  readonly sources: readonly tokenizerFiles.Source[];
  readonly companions: readonly SourceFile[];
};
