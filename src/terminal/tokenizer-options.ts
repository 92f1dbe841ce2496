import { basename, dirname } from "node:path";
import { formats, namedTokenizers } from "#formats";
import { loadInWorker } from "#jobs";
import type { optionTables, sharedOptions } from "#options";
import type { TokenizerParts } from "#tokenizer";
import type { Output } from "./output.ts";

/** The options of commands that use a tokenizer. */
export type Asked = optionTables.Requested<typeof sharedOptions.tokenizerSupplements> & {
  readonly tokenizer?: string | undefined;
  readonly specialTokensAsText?: boolean | undefined;
};

/** Reads `--pattern` and `--special-token`, for tokenizer files that lack them, and `--special-tokens-as-text`. */
export const readSupplements = async ({
  pattern,
  specialTokens = [],
  specialTokensAsText = false,
}: Asked) => ({
  pattern: pattern === undefined ? undefined : (await import("#pattern/pattern")).resolve(pattern),
  specialTokens,
  specialTokensAsText,
});

/** Finds the tokenizer that `--tokenizer` names, without loading it. Adds what `readSupplements` returns. */
export const tokenizerOf = async (asked: Asked) => ({
  ...namedTokenizers.find(asked.tokenizer!),
  ...(await readSupplements(asked)),
});

type FoundWithSupplements = Awaited<ReturnType<typeof readSupplements>> &
  Pick<namedTokenizers.Found, "path"> &
  Partial<namedTokenizers.Found>;

/**
 * Loads the tokenizer, and warns about its settings that are not applied. `isDecoded` says whether ids will be decoded.
 */
export async function open(
  { name, path, pattern, specialTokens, specialTokensAsText }: FoundWithSupplements,
  isDecoded: boolean,
  output: Output,
): Promise<TokenizerParts> {
  const parts = await loadInWorker({ path, options: { pattern, specialTokens }, isDecoded });
  warnOf([{ name: name ?? nameOf(path), parts }], output);
  return { ...parts, specialTokensAsText };
}

/** Warns about settings that are not applied. Tokenizers with the same setting get one warning together. */
export function warnOf(
  tokenizers: readonly { readonly name: string; readonly parts: TokenizerParts }[],
  output: Pick<Output, "tell">,
): void {
  const notes = tokenizers.flatMap(({ name, parts }) => parts.notes.map((note) => ({ name, note })));
  for (const [note, all] of Map.groupBy(notes, ({ note }) => note)) {
    const names = all.map(({ name }) => name).join(", ");
    output.tell([{ kind: "note", message: `${names}: ${note}` }]);
  }
}

/**
 * Returns the name of the tokenizer's directory if its file has a usual name, such as tokenizer.json. Otherwise returns
 * the name of the file or directory, without an ending .json or .tiktoken.
 */
export function nameOf(path: string): string {
  const isUsual = formats.usualNames.includes(basename(path));
  return (isUsual ? basename(dirname(path)) : basename(path).replace(/(?<=.)\.(json|tiktoken)$/, "")) || path;
}
