import { basename, dirname, join } from "node:path";
import { type FoundInputs, findCorpus, type Skipped } from "../corpus/find-inputs.ts";
import type { Input } from "../corpus/input.ts";
import type { InputOptions } from "../corpus/inspect-input.ts";
import { usageError } from "../errors.ts";
import type { Named } from "../options/kinds.ts";
import type { NamedText } from "../pipeline/evaluate.ts";
import { slashed } from "../runtime/windows.ts";
import type { ScratchDirectory } from "../store/scratch-directory.ts";
import { copyPipe, isPipe } from "./input-options.ts";
import type { Output } from "./output.ts";
import { uniqueNames } from "./tokenizer-options.ts";

/** Texts, each with the names of its files as typed. */
type TypedText = { readonly name: string; readonly paths: readonly string[] };

/** What `--text` names, text by text: values with the same NAME are one text. Looks at no file. */
export function readTexts(values: readonly Named[]): TypedText[] {
  const standardInputs = values.filter(({ path }) => path === "-");
  if (standardInputs.length > 1) throw usageError("standard input (-) is named twice, and can be read once");
  const names = uniqueNames(values, nameOfText);
  const byName = Map.groupBy(values, (value) => value.name ?? value);
  return [...byName.values()].map((some) => ({
    name: names.get(some[0]!)!,
    paths: some.map(({ path }) => path),
  }));
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
  const all = { inputs: [] as Input[], skipped: [] as Skipped[] };
  let copyCount = 0;
  for (const { name, paths } of texts) {
    /** A copy is called what it is a copy of. */
    const copied = new Map<string, string>();
    const files: string[] = [];
    for (const path of paths) {
      const isStream = path === "-" || isPipe(path);
      const file = isStream ? join(scratch.path, `stream-${copyCount++}`) : path;
      files.push(file);
      if (!isStream) continue;
      await copyPipe(path === "-" ? "/dev/stdin" : path, file);
      copied.set(slashed(file), path);
    }
    const { inputs, skipped } = findCorpus(files, options);
    output.keepOutputsFrom(inputs);
    output.tellSkipped(skipped);
    opened.push({ name, inputs, paths: inputs.map(({ path }) => copied.get(path) ?? path) });
    all.inputs.push(...inputs);
    all.skipped.push(...skipped);
  }
  return { texts: opened, found: all };
}
