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
 * Reads the files of a tokenizer to extend. From a directory, reads the files with the usual names of each format that
 * can be extended. If there are none, reads the first tokenizer at the path, and throws a UserError if its format
 * cannot be extended.
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
  const { name, written } = only.format;
  const why =
    written === undefined
      ? `the format ${name} can only be made from other files`
      : `a ${name}.json fixes the size of its vocabulary`;
  throw new UserError(`"${only.path}" cannot be extended: ${why}`, {
    hint: "give the tokenizer.json of the same tokenizer; bpe convert makes one",
  });
}

export type BaseFiles = {
  readonly sources: readonly tokenizerFiles.Source[];
  readonly companions: readonly SourceFile[];
};
