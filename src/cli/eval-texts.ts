import { basename, dirname, join } from "node:path";
import { type FoundInputs, findCorpus } from "../corpus/find-inputs.ts";
import type { InputOptions } from "../corpus/inspect-input.ts";
import { usageError } from "../errors.ts";
import type { NamedText } from "../pipeline/evaluate.ts";
import type { ScratchDirectory } from "../store/scratch-directory.ts";
import { copyPipe, isPipe } from "./input-options.ts";
import type { Output } from "./output.ts";
import { type Named, uniqueNames } from "./tokenizer-options.ts";

/** Texts, each with the names of its files as typed. */
export type TypedText = { readonly name: string; readonly paths: readonly string[] };

/** What `--text` names, text by text: values with the same NAME are one text. Looks at no file. */
export function readTexts(values: readonly Named[]): TypedText[] {
  const standardInputs = values.filter(({ path }) => path === "-");
  if (standardInputs.length > 1) throw usageError("standard input (-) is named twice, and can be read once");
  const given = Map.groupBy(
    values.filter(({ name }) => name !== null),
    ({ name }) => name!,
  );
  const unnamed = uniqueNames(
    values.filter(({ name }) => name === null),
    nameOfText,
    given,
  );
  const texts: TypedText[] = [];
  for (const [i, { name, path }] of values.entries()) {
    if (name === null) texts.push({ name: unnamed.get(values[i]!)!, paths: [path] });
    else if (given.get(name)![0] === values[i]) {
      texts.push({ name, paths: given.get(name)!.map((value) => value.path) });
    }
  }
  return texts;
}

/** The name of a file without what says its format and compression. */
export function nameOfText(path: string): string {
  if (path === "-") return "stdin";
  const name = basename(path) || basename(dirname(path)) || path;
  return (
    name.replace(/(?<=.)\.(txt|text|md|jsonl|ndjson|json|parquet)?(\.(gz|gzip|zst|zstd))?$/i, "") || name
  );
}

/**
 * The inputs of the texts, and all files that are skipped. A text is read several times, so what can be read only once
 * (standard input, a pipe) is copied to a file first.
 */
export async function openTexts(
  texts: readonly TypedText[],
  options: InputOptions,
  scratch: ScratchDirectory,
  output: Output,
): Promise<{ texts: NamedText[]; found: FoundInputs }> {
  const opened: NamedText[] = [];
  const all: FoundInputs[] = [];
  let copyCount = 0;
  for (const { name, paths } of texts) {
    const files: string[] = [];
    for (const path of paths) {
      if (path !== "-" && !isPipe(path)) {
        files.push(path);
        continue;
      }
      const copyPath = join(scratch.path, `stream-${copyCount++}`);
      await copyPipe(path === "-" ? "/dev/stdin" : path, copyPath);
      files.push(copyPath);
    }
    const found = findCorpus(files, options);
    output.tellSkipped(found.skipped);
    opened.push({ name, paths: pathsOf(found, files, paths), inputs: found.inputs });
    all.push(found);
  }
  const found = {
    inputs: all.flatMap(({ inputs }) => inputs),
    skipped: all.flatMap(({ skipped }) => skipped),
  };
  return { texts: opened, found };
}

/** The paths of the inputs, as people know them: a copy is what it is a copy of. */
function pathsOf({ inputs }: FoundInputs, files: readonly string[], typed: readonly string[]): string[] {
  const typedOf = new Map(files.map((file, i) => [file, typed[i]!]));
  return inputs.map(({ path }) => typedOf.get(path) ?? path);
}
