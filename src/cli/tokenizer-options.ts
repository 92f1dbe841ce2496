import { usageError } from "../errors.ts";
import { resolvePattern } from "../pattern/pattern.ts";
import { loadInWorker } from "../pipeline/load-in-worker.ts";
import type { SpecialTokenOption, TokenizerParts } from "../tokenizer/tokenizer-parts.ts";
import type { Invocation } from "./arguments.ts";
import type { Output } from "./output.ts";
import { warnOfSlowPattern } from "./warnings.ts";

/** The options of every command that uses a tokenizer. Looks at no file. */
export function readTokenizerOptions({ options }: Invocation) {
  return {
    path: options.text("tokenizer")!,
    ...readBesideTokenizer(options),
    dtype: options.word("dtype"),
  };
}

/** `--pattern` and `--special-token`, for tokenizer files that hold neither. */
export function readBesideTokenizer(options: Invocation["options"]) {
  const pattern = options.text("pattern");
  const specialTokens = (options.get("special-token") ?? []).map(readSpecialToken);
  const seen = new Set<string>();
  for (const { text } of specialTokens) {
    if (seen.has(text)) throw usageError(`--special-token "${text}" is given twice`);
    seen.add(text);
  }
  return {
    pattern: pattern === undefined ? undefined : resolvePattern(pattern),
    specialTokens,
  };
}

/** `TEXT` or `TEXT=ID`; the text may hold `=` itself, so the last one counts, and only before a number. */
function readSpecialToken(typed: string): SpecialTokenOption {
  const [, text, id] = /^(.*)=(\d+)$/s.exec(typed) ?? [undefined, typed, undefined];
  if (text === "" || text === undefined) throw usageError("--special-token: a special token is empty");
  return { text, id: id === undefined ? undefined : Number(id) };
}

type Asked = Omit<ReturnType<typeof readTokenizerOptions>, "dtype">;

/** Loads the tokenizer, and warns of what is not applied. `isDecoded`: its ids will be turned into bytes. */
export async function openTokenizer(
  { path, pattern, specialTokens }: Asked,
  isDecoded: boolean,
  output: Output,
): Promise<TokenizerParts> {
  const parts = await loadInWorker({ path, options: { pattern, specialTokens }, isDecoded });
  warnOfTokenizer(parts, output);
  return parts;
}

/** Warns of what in a tokenizer's files is not applied, and of a slow pattern. */
export function warnOfTokenizer(parts: TokenizerParts, output: Pick<Output, "warn">): void {
  for (const note of parts.notes) output.warn(note);
  const { patternName: name, patternSources: sources } = parts.description;
  warnOfSlowPattern({ name, sources, compiled: parts.pattern }, output);
}
