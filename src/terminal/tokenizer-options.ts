import { basename, dirname, join } from "node:path";
import type { NamedTokenizer } from "#evaluation";
import { type FoundTokenizer, findTokenizer, sizesIn, tokenizersIn, usualNames } from "#formats";
import { loadInWorker, loadingBytes } from "#jobs";
import { type Named, type Requested, readNamed, type tokenizerSupplements } from "#options";
import { resolvePattern } from "#pattern";
import { collectGarbage, isDirectory, type MemoryBudget, usageError } from "#runtime";
import type { TokenizerParts } from "#tokenizer";
import type { Output } from "./output.ts";

/** The options of commands that use a tokenizer. */
type AskedTokenizer = Requested<typeof tokenizerSupplements> & {
  readonly tokenizer?: string | undefined;
  readonly specialTokensAsText?: boolean | undefined;
};

/**
 * Reads `--pattern` and `--special-token`, for tokenizer files that lack these, and whether special tokens are text.
 */
export const readSupplements = ({
  pattern,
  specialTokens = [],
  specialTokensAsText = false,
}: AskedTokenizer) => ({
  pattern: pattern === undefined ? undefined : resolvePattern(pattern),
  specialTokens,
  specialTokensAsText,
});

/** Finds the tokenizer that `--tokenizer` names, without reading its files. */
export const tokenizerOf = (asked: AskedTokenizer) => ({
  ...findTokenizer(asked.tokenizer!),
  ...readSupplements(asked),
});

type FoundWithSupplements = ReturnType<typeof readSupplements> &
  Pick<FoundTokenizer, "path"> &
  Partial<FoundTokenizer>;

/**
 * Loads the tokenizer, and warns about settings that are not applied. `isDecoded`: its ids will be converted to bytes.
 */
export async function openTokenizer(
  { name, path, pattern, specialTokens, specialTokensAsText }: FoundWithSupplements,
  isDecoded: boolean,
  output: Output,
): Promise<TokenizerParts> {
  const parts = await loadInWorker({ path, options: { pattern, specialTokens }, isDecoded });
  warnOfTokenizers([{ name: name ?? nameOfTokenizer(path), parts }], output);
  return { ...parts, specialTokensAsText };
}

/** Warns about settings of tokenizers that are not applied, once for all tokenizers with the same setting. */
export function warnOfTokenizers(
  tokenizers: readonly { readonly name: string; readonly parts: TokenizerParts }[],
  output: Pick<Output, "tell">,
): void {
  const notes = tokenizers.flatMap(({ name, parts }) => parts.notes.map((note) => ({ name, note })));
  for (const [note, all] of Map.groupBy(notes, ({ note }) => note)) {
    const names = all.map(({ name }) => name).join(", ");
    output.tell([{ kind: "note", message: `${names}: ${note}` }]);
  }
}

/** Loads the named tokenizers, in order. Each gets a unique name. */
export async function openTokenizers(
  files: readonly string[],
  asked: AskedTokenizer,
  budget: MemoryBudget,
  output: Output,
): Promise<NamedTokenizer[]> {
  const named = files
    .map((typed) => readNamed("a tokenizer", typed))
    .map(findNamed)
    .flatMap(expandSizes);
  const names = uniqueNames(named, nameOfTokenizer);
  const twice = named.find((one, i) =>
    named.some((other, j) => j < i && names.get(other) === names.get(one)),
  );
  if (twice !== undefined) {
    throw usageError(`two tokenizers are called "${names.get(twice)}"`, "give each a name: NAME=PATH");
  }
  const { pattern, specialTokens, specialTokensAsText } = readSupplements(asked);
  const tokenizers: NamedTokenizer[] = [];
  while (tokenizers.length < named.length) {
    const some = loadTogether(named.slice(tokenizers.length), budget);
    const loads = some.map(({ path }) =>
      loadInWorker({ path, options: { pattern, specialTokens }, isDecoded: true }),
    );
    // All are awaited, so that the first failure in order is the one reported.
    await Promise.allSettled(loads);
    for (const [i, one] of some.entries()) {
      const parts = await loads[i]!;
      tokenizers.push({ name: names.get(one)!, path: one.path, parts: { ...parts, specialTokensAsText } });
    }
    if (some.some(({ path }) => loadingBytes(path) > 0)) collectGarbage();
  }
  warnOfTokenizers(tokenizers, output);
  return tokenizers;
}

/**
 * Returns as many of these tokenizers, from the first on, as are loaded together. Each large one is loaded by a thread
 * of its own, and together they use at most half of the memory.
 */
function loadTogether<T extends Named>(named: readonly T[], budget: MemoryBudget): T[] {
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

/** Finds a tokenizer. If it was found by name, it keeps that name. */
function findNamed(typed: Named): Named {
  const { name = null, path } = findTokenizer(typed.path);
  return { name: typed.name ?? name, path };
}

/**
 * Expands a directory with several sizes, which represents all of them: `bpe train -n 16000,32000` writes a tokenizer
 * for each size.
 */
function expandSizes(named: Named): Named[] {
  const { name, path } = named;
  if (!isDirectory(path) || tokenizersIn(path).length > 0) return [named];
  const sizes = sizesIn(path);
  if (sizes.length === 0) return [named];
  return sizes.map((size) => ({ name: `${name ?? basename(path)}/${size}`, path: join(path, size) }));
}

/** Returns the name of the tokenizer's directory, if its file has a usual name. */
export function nameOfTokenizer(path: string): string {
  const isUsual = usualNames.includes(basename(path));
  return (isUsual ? basename(dirname(path)) : basename(path).replace(/(?<=.)\.(json|tiktoken)$/, "")) || path;
}

/** Names each tokenizer: by the given name, otherwise by the short name, or by the path if two names would be equal. */
export function uniqueNames<T extends Named>(
  all: readonly T[],
  shortName: (path: string) => string,
): Map<T, string> {
  const names = all.map(({ name, path }) => name ?? shortName(path));
  const isFree = (name: string) => names.filter((other) => other === name).length === 1;
  return new Map(all.map((one, i) => [one, one.name ?? (isFree(names[i]!) ? names[i]! : one.path)]));
}
