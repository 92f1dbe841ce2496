import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { usageError } from "../errors.ts";
import type { NamedTokenizer } from "../evaluation/evaluation.ts";
import { loadInWorker } from "../pipeline/load-in-worker.ts";
import { isDirectory, isFile } from "../runtime/named-files.ts";
import type { Invocation } from "./arguments.ts";
import { type Named, readNamed, uniqueNames } from "./named-paths.ts";
import type { Output } from "./output.ts";
import { readBesideTokenizer, warnOfTokenizer } from "./tokenizer-options.ts";

/** The tokenizers that the arguments name, in their order, loaded, each with a name of its own. */
export async function openTokenizers(invocation: Invocation, output: Output): Promise<NamedTokenizer[]> {
  const named = invocation.files.map((typed) => readNamed("a tokenizer", typed)).flatMap(eachSize);
  const names = uniqueNames(named, nameOfTokenizer);
  const twice = named.find((one, i) =>
    named.some((other, j) => j < i && names.get(other) === names.get(one)),
  );
  if (twice !== undefined) {
    throw usageError(`two tokenizers are called "${names.get(twice)}"`, "give each a name: NAME=PATH");
  }
  const { pattern, specialTokens } = readBesideTokenizer(invocation.options);
  const tokenizers: NamedTokenizer[] = [];
  for (let first = 0; first < named.length; first += loadedAtOnce) {
    const some = named.slice(first, first + loadedAtOnce);
    const loads = some.map(({ path }) =>
      loadInWorker({ path, options: { pattern, specialTokens }, isDecoded: true }),
    );
    // All are waited for, so that the first in order that fails is the one that is told.
    await Promise.allSettled(loads);
    for (const [i, one] of some.entries()) {
      const parts = await loads[i]!;
      warnOfTokenizer(parts, output);
      tokenizers.push({ name: names.get(one)!, path: one.path, parts });
    }
  }
  return tokenizers;
}

/** Large ones are loaded by a thread each. */
const loadedAtOnce = 4;

/** `bpe train -n 16000,32000` writes a tokenizer into a directory for each size: such a directory stands for all of them. */
function eachSize(named: Named): Named[] {
  const { name, path } = named;
  if (!isDirectory(path) || filesOfTokenizers.some((file) => isFile(join(path, file)))) return [named];
  const sizes = readdirSync(path)
    .filter((entry) => /^\d+$/.test(entry) && isDirectory(join(path, entry)))
    .sort((a, b) => Number(a) - Number(b));
  if (sizes.length === 0) return [named];
  return sizes.map((size) => ({ name: `${name ?? basename(path)}/${size}`, path: join(path, size) }));
}

const filesOfTokenizers = [
  "tokenizer.json",
  "vocab.json",
  "tokenizer.tiktoken",
  "tekken.json",
  "tokenizer.model",
];

/** The name of its directory, if its file is called as all are. */
function nameOfTokenizer(path: string): string {
  const isUsual = [...filesOfTokenizers, "merges.txt"].includes(basename(path));
  return (isUsual ? basename(dirname(path)) : basename(path).replace(/(?<=.)\.(json|tiktoken)$/, "")) || path;
}
