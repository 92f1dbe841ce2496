import type { TextMemory } from "../../../src/corpus/range-reader.ts";
import { TaskTexts, type TaskTextsOptions } from "../../../src/corpus/task-texts.ts";
import type { CompiledPattern } from "../../../src/pattern/compiled-pattern.ts";
import * as cuttings from "../../../src/text/cutting.ts";
import type { Pretokens } from "../../../src/text/pretokens.ts";
import { TextChain } from "../../../src/text/text-chain.ts";
import type { WordCounter } from "../../../src/words/word-counter.ts";

type Options = Pick<TaskTextsOptions, "inputs" | "windowBytes"> & {
  readonly pattern: CompiledPattern;
  readonly specialTokens?: readonly string[];
  /** The size in bytes from which files are mapped into memory. */
  readonly mappedBytesLeast?: number | undefined;
  readonly pretokens?: Pretokens;
  readonly memory?: TextMemory;
};

/** Returns a reader of tasks that counts their pretokens in `counter`, as a thread does. */
export function countingTexts(options: Options, counter: WordCounter): TaskTexts {
  const { pattern, specialTokens, mappedBytesLeast, pretokens, ...rest } = options;
  const mapping =
    mappedBytesLeast === undefined ? undefined : { window: counter.window, fileBytesLeast: mappedBytesLeast };
  // If pretokens are given, special tokens stay text.
  const cutting = { ...cuttings.plain(pattern, specialTokens), specialTokensAsText: pretokens !== undefined };
  const chain = new TextChain(cutting, counter, pretokens);
  return new TaskTexts(chain, { ...rest, mapping });
}
