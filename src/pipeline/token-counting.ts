import type { Input } from "../corpus/input.ts";
import type { NamedTokenizer } from "../evaluation/evaluation.ts";
import type { TokenCounts } from "../evaluation/measures.ts";
import { scatteredTable } from "../evaluation/scattered-order.ts";
import { countSpecialTokens } from "../evaluation/special-occurrences.ts";
import { holdsWhiteSpace, type TextWords } from "../evaluation/text-words.ts";
import { type CompiledPattern, patternDigest } from "../pattern/pattern.ts";
import { inTurns } from "../runtime/turns.ts";
import { canBeCut, cuttingTokens } from "../tokenizer/text-cutting.ts";
import type { TokenizerParts } from "../tokenizer/tokenizer-parts.ts";
import type { WordTable } from "../words/word-table.ts";
import { encodeCorpus } from "./encode-corpus.ts";
import type { EvaluationThreads } from "./evaluation-threads.ts";
import { byBytes, type Report } from "./stage-progress.ts";

/** Counts the pretokens of a text. */
export type CountPretokens = (
  pattern: CompiledPattern,
  sources: readonly string[],
  specialTokens: readonly string[],
) => Promise<WordTable>;

export type TokenCountingOptions = {
  readonly tokenizers: readonly NamedTokenizer[];
  readonly specialTokensAsText: boolean;
  readonly inputs: readonly Input[];
  readonly workerCount: number;
  readonly words: TextWords;
  readonly count: CountPretokens;
  readonly threads: EvaluationThreads;
};

/**
 * Counts the tokens of a text, by id, for one tokenizer after the other: exactly those that encoding the text gives.
 *
 * Most tokenizers cut a text into pretokens and encode each by itself. So the distinct pretokens are counted and encoded, and
 * tokenizers with one pattern and the same special tokens share the counting. A text that a normal form, a prefix space or an
 * added token changes is encoded as a whole.
 */
export class TokenCounting {
  /** Counted pretokens, with the number of tokenizers that have yet to use them. */
  private readonly counted = new Map<string, { table: WordTable | undefined; usersLeft: number }>();

  constructor(
    private readonly options: TokenCountingOptions,
    private readonly report: Report,
  ) {
    for (const { parts } of options.tokenizers) {
      if (!this.isEncodedByPretokens(parts)) continue;
      const key = this.keyOf(parts);
      const entry = this.counted.get(key);
      if (entry === undefined) this.counted.set(key, { table: undefined, usersLeft: 1 });
      else entry.usersLeft++;
    }
  }

  async tokensOf(tokenizer: number): Promise<TokenCounts> {
    const { words, threads, tokenizers } = this.options;
    const { parts } = tokenizers[tokenizer]!;
    if (!this.isEncodedByPretokens(parts)) return this.tokensOfWholeText(parts);
    const table = await this.pretokensOf(parts);
    const specialBytes = words.textBytes - bytesOf(table);
    if (specialBytes === 0) return threads.tokensOf(tokenizer, table);
    const specialTokens = this.specialTokensOf(parts);
    // Their occurrences are found in the words of the text, which end at white space.
    if (specialTokens.some(holdsWhiteSpace)) return this.tokensOfWholeText(parts);
    const contents = specialTokens.map((text) => Buffer.from(text));
    const occurrences = await inTurns(countSpecialTokens(words, contents));
    const foundBytes = contents.reduce((sum, { length }, i) => sum + length * occurrences[i]!, 0);
    if (foundBytes !== specialBytes) return this.tokensOfWholeText(parts);
    const counts = await threads.tokensOf(tokenizer, table);
    const idOf = new Map(parts.addedTokens.map(({ content, id }) => [content, id]));
    specialTokens.forEach((text, i) => {
      counts[idOf.get(text)!]! += occurrences[i]!;
    });
    return counts;
  }

  private isEncodedByPretokens(parts: TokenizerParts): boolean {
    return canBeCut(parts, this.options.specialTokensAsText);
  }

  /** The special tokens at which the text is cut. */
  private specialTokensOf(parts: TokenizerParts): string[] {
    const tokens = cuttingTokens(parts, this.options.specialTokensAsText);
    return [...new Set(tokens)].filter((token) => token !== "").sort();
  }

  private keyOf(parts: TokenizerParts): string {
    return JSON.stringify([patternDigest(parts.pattern), this.specialTokensOf(parts)]);
  }

  private async pretokensOf(parts: TokenizerParts): Promise<WordTable> {
    const key = this.keyOf(parts);
    const entry = this.counted.get(key)!;
    entry.table ??= scatteredTable(
      await this.options.count(parts.pattern, parts.description.patternSources, this.specialTokensOf(parts)),
    );
    if (--entry.usersLeft === 0) this.counted.delete(key);
    return entry.table;
  }

  /** Encodes the text from its beginning to its end. */
  private async tokensOfWholeText(parts: TokenizerParts): Promise<TokenCounts> {
    const { inputs, specialTokensAsText, workerCount } = this.options;
    const counts = new Float64Array(parts.tokens.idLimit);
    const sink = {
      write(ids: Uint16Array | Uint32Array) {
        for (let i = 0; i < ids.length; i++) counts[ids[i]!]!++;
      },
      endInput() {},
    };
    const tell = byBytes(this.report, "encoding", null);
    await encodeCorpus({ inputs, parts, specialTokensAsText, workerCount }, sink, ({ bytesDone }) =>
      tell(bytesDone),
    );
    return counts;
  }
}

/** Bytes of all occurrences of the words. */
function bytesOf({ wordCount, starts, counts }: WordTable): number {
  let byteCount = 0;
  for (let word = 0; word < wordCount; word++)
    byteCount += counts[word]! * (starts[word + 1]! - starts[word]!);
  return byteCount;
}
