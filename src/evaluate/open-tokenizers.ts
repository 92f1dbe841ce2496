import { basename, join } from "node:path";
import type { evaluations } from "#evaluation";
import { namedTokenizers, tokenizerFiles } from "#formats";
import { loadInWorker, loadingBytes } from "#jobs";
import { kinds } from "#options";
import { files, host, type machine, usageError } from "#runtime";
import { givenTokenizers, type Output } from "#terminal";
import { uniqueNames } from "./unique-names.ts";

/** Loads the named tokenizers, in order. Each gets a unique name. */
export async function openTokenizers(
  files: readonly string[],
  asked: givenTokenizers.Asked,
  budget: machine.MemoryBudget,
  output: Output,
): Promise<evaluations.NamedTokenizer[]> {
  const named = files
    .map((typed) => kinds.readNamed("the tokenizer", typed))
    .map(findNamed)
    .flatMap(expandSizes);
  const names = uniqueNames(named, givenTokenizers.nameOf);
  const twice = named.find((one, i) =>
    named.some((other, j) => j < i && names.get(other) === names.get(one)),
  );
  if (twice !== undefined) {
    throw usageError(
      `two tokenizers are called "${names.get(twice)}"`,
      "give one of them another name: NAME=PATH",
    );
  }
  const { pattern, specialTokens, specialTokensAsText } = await givenTokenizers.readSupplements(asked);
  const tokenizers: evaluations.NamedTokenizer[] = [];
  while (tokenizers.length < named.length) {
    const some = loadTogether(named.slice(tokenizers.length), budget);
    const loads = some.map(({ path }) =>
      loadInWorker({ path, options: { pattern, specialTokens }, isDecoded: true }),
    );
    // Wait for all loads, so that of several failures, the one of the first tokenizer in order is reported.
    await Promise.allSettled(loads);
    for (const [i, one] of some.entries()) {
      const parts = await loads[i]!;
      tokenizers.push({ name: names.get(one)!, path: one.path, parts: { ...parts, specialTokensAsText } });
    }
    if (some.some(({ path }) => loadingBytes(path) > 0)) host.collectGarbage();
  }
  givenTokenizers.warnOf(tokenizers, output);
  return tokenizers;
}

/**
 * Returns as many of the first tokenizers as may be loaded at the same time: at most `loadedTogetherMax`, in at most
 * half of the memory that the budget leaves. A single tokenizer may take more.
 */
function loadTogether<T extends kinds.Named>(named: readonly T[], budget: machine.MemoryBudget): T[] {
  let leftBytes = budget.shareBytes(1) / 2;
  const fits = ({ path }: T) => {
    leftBytes -= loadingBytes(path);
    return leftBytes >= 0;
  };
  const rest = named.slice(0, loadedTogetherMax);
  const end = rest.findIndex((one, i) => !fits(one) && i > 0);
  return end < 0 ? rest : rest.slice(0, end);
}

const loadedTogetherMax = 4;

/**
 * Finds a tokenizer. Its name is the typed NAME=; without that, the name by which it was found in a cache; null if it
 * was found by its path.
 */
function findNamed(typed: kinds.Named): kinds.Named {
  const { name = null, path } = namedTokenizers.find(typed.path);
  return { name: typed.name ?? name, path };
}

/**
 * Replaces a directory that has no tokenizer itself, but a subdirectory for each vocabulary size, by these
 * subdirectories. Returns any other tokenizer as it is.
 */
function expandSizes(named: kinds.Named): kinds.Named[] {
  const { name, path } = named;
  if (!files.isDirectory(path) || tokenizerFiles.findIn(path).length > 0) return [named];
  const sizes = tokenizerFiles.sizesIn(path);
  if (sizes.length === 0) return [named];
  return sizes.map((size) => ({ name: `${name ?? basename(path)}/${size}`, path: join(path, size) }));
}
