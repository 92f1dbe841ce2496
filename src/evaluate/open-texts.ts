import { basename, dirname, join } from "node:path";
import { type Input, inputSearch, type inspection } from "#corpus";
import type { evaluations } from "#evaluation";
import type { kinds } from "#options";
import { usageError, withForwardSlashes } from "#runtime";
import type { ScratchDirectory } from "#store";
import { type Output, pipes } from "#terminal";
import { uniqueNames } from "./unique-names.ts";

/** A text, with the names of its files as typed. */
type TypedText = { readonly name: string; readonly paths: readonly string[] };

/** Groups the values of `--text`: those with the same NAME are one text. */
export function readTexts(values: readonly kinds.Named[]): TypedText[] {
  const standardInputs = values.filter(({ path }) => path === "-");
  if (standardInputs.length > 1)
    throw usageError(
      "standard input (-) is named more than once, but can be read only once",
      "leave out every - except one",
    );
  const names = uniqueNames(values, nameOfText);
  const byName = Map.groupBy(values, (value) => value.name ?? value);
  return [...byName.values()].map((some) => ({
    name: names.get(some[0]!)!,
    paths: some.map(({ path }) => path),
  }));
}

/** Returns a file's name without an ending such as `.txt`, `.jsonl` or `.txt.gz`; for standard input, `stdin`. */
export function nameOfText(path: string): string {
  if (path === "-") return "stdin";
  const name = basename(path) || basename(dirname(path)) || path;
  return (
    name.replace(/(?<=.)\.(txt|text|md|jsonl|ndjson|json|parquet)?(\.(gz|gzip|zst|zstd))?$/i, "") || name
  );
}

/**
 * Returns the inputs of the texts, and all skipped files. Texts are read several times, so sources that can be read
 * only once (standard input, a pipe) are first copied to a file.
 */
export async function openTexts(
  texts: readonly TypedText[],
  options: inspection.InputOptions,
  scratch: ScratchDirectory,
  output: Output,
): Promise<{ texts: evaluations.NamedText[]; found: inputSearch.FoundInputs }> {
  const opened: evaluations.NamedText[] = [];
  const all = { inputs: [] as Input[], skipped: [] as inputSearch.Skipped[] };
  let copyCount = 0;
  for (const { name, paths } of texts) {
    const files: string[] = [];
    for (const path of paths) {
      const isStream = path === "-" || pipes.isPipe(path);
      // Inputs have paths with forward slashes.
      const file = isStream ? withForwardSlashes(join(scratch.path, `stream-${copyCount++}`)) : path;
      files.push(file);
      if (!isStream) continue;
      output.nameCopy(file, path);
      await pipes.copyPipe(path === "-" ? "/dev/stdin" : path, file);
    }
    const { inputs, skipped } = inputSearch.findCorpus(files, options);
    output.keepOutputsFrom(inputs);
    output.tellSkipped(skipped);
    opened.push({ name, inputs, paths: inputs.map(({ path }) => output.typedPath(path)) });
    all.inputs.push(...inputs);
    all.skipped.push(...skipped);
  }
  return { texts: opened, found: all };
}
