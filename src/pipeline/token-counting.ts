import type { Input } from "../corpus/input.ts";
import type { NamedTokenizer, TokenCounts } from "../evaluation/evaluation.ts";
import {
  countSpecialTokens,
  holdsWhiteSpace,
  scatteredTable,
  type TextWords,
} from "../evaluation/text-words.ts";
import { type CompiledPattern, patternDigest } from "../pattern/pattern.ts";
import { inTurns } from "../runtime/turns.ts";
import { canBeCut, cuttingTokens } from "../text/cutting.ts";
import type { TokenizerParts } from "../tokenizer/tokenizer-parts.ts";
import type { WordTable } from "../words/word-table.ts";
import { encodeCorpus } from "./encode-corpus.ts";
import { byBytes, type Report, type StageProgress } from "./stage-progress.ts";

/** How far an evaluation is, which goes through its texts several times: the bytes of all passes together. */
export class EvaluationProgress {
  private doneBytes = 0;

  /** @param totalBytes of all passes; null if it is not known */
  constructor(
    private readonly totalBytes: number | null,
    private readonly report: Report,
  ) {}

  /** What one pass through a text reports to. */
  readonly passReport: Report = ({ done }: StageProgress) =>
    this.report({ stage: "measuring", done: this.doneBytes + done, total: this.totalBytes, unit: "bytes" });

  /** A pass over so many bytes has ended. */
  endPass(bytes: number): void {
    this.doneBytes += bytes;
  }
}

/** Counts the pretokens of a text. */
export type CountPretokens = (
  pattern: CompiledPattern,
  sources: readonly string[],
  specialTokens: readonly string[],
) => Promise<WordTable>;

export type TokenCountingOptions = {
  readonly tokenizers: readonly NamedTokenizer[];
  readonly inputs: readonly Input[];
  readonly workerCount: number;
  readonly words: TextWords;
  readonly count: CountPretokens;
};

/** The tokens of a text are those of its pretokens, if they are encoded by themselves, and others that are counted already. */
export type PreparedTokens = { readonly pretokens: WordTable | null; readonly others: TokenCounts };

/**
 * Counts the tokens of a text, by id, for one tokenizer after the other: exactly those that encoding the text gives.
 *
 * Most tokenizers cut a text into pretokens and encode each by itself. So the distinct pretokens are counted and encoded, and
 * tokenizers with one pattern share the counting, if they have the same special tokens or none of theirs occurs. A text that a
 * normal form, a prefix space or an added token changes is encoded as a whole.
 */
export class TokenCounting {
  /** Counted pretokens, with the number of tokenizers that have yet to use them. */
  private readonly counted = new Map<string, { table: WordTable | undefined; usersLeft: number }>();

  private constructor(
    private readonly options: TokenCountingOptions,
    private readonly progress: EvaluationProgress,
    /** Where each tokenizer cuts the text; null if it is to be encoded as a whole. */
    private readonly cuts: readonly (SpecialCuts | null)[],
  ) {
    for (const [t, cut] of cuts.entries()) {
      if (cut === null) continue;
      const key = keyOf(options.tokenizers[t]!.parts, cut.tokens);
      const entry = this.counted.get(key);
      if (entry === undefined) this.counted.set(key, { table: undefined, usersLeft: 1 });
      else entry.usersLeft++;
    }
  }

  /** Looks for the special tokens first. */
  static async begin(options: TokenCountingOptions, progress: EvaluationProgress): Promise<TokenCounting> {
    const { tokenizers, words, inputs } = options;
    const cuts: (SpecialCuts | null)[] = [];
    for (const { parts } of tokenizers) {
      cuts.push(canBeCut(parts) ? await specialCutsOf(parts, words) : null);
    }
    const counting = new TokenCounting(options, progress, cuts);
    const parts = tokenizers.map((tokenizer) => tokenizer.parts);
    const passes = counting.counted.size + cuts.filter((cut) => cut === null).length;
    for (let saved = passCount(parts) - passes; saved > 0; saved--) {
      progress.endPass(sizeOf(inputs));
    }
    return counting;
  }

  /** What the tokens of a tokenizer are counted from. The text is read here; no word is encoded yet. */
  async prepare(tokenizer: number): Promise<PreparedTokens> {
    const { words, tokenizers } = this.options;
    const { parts } = tokenizers[tokenizer]!;
    const cut = this.cuts[tokenizer]!;
    const wholeText = async () => ({ pretokens: null, others: await this.tokensOfWholeText(parts) });
    if (cut === null) return wholeText();
    const pretokens = await this.pretokensOf(parts, cut.tokens);
    const others = new Float64Array(parts.tokens.idLimit);
    const specialBytes = words.textBytes - bytesOf(pretokens);
    if (specialBytes === 0) return { pretokens, others };
    const { tokens, occurrences } = cut;
    if (occurrences === null) return wholeText();
    const foundBytes = tokens.reduce((sum, text, i) => sum + Buffer.byteLength(text) * occurrences[i]!, 0);
    if (foundBytes !== specialBytes) return wholeText();
    const idOf = new Map(parts.addedTokens.map(({ content, id }) => [content, id]));
    tokens.forEach((text, i) => {
      others[idOf.get(text)!]! += occurrences[i]!;
    });
    return { pretokens, others };
  }

  private async pretokensOf(parts: TokenizerParts, specialTokens: readonly string[]): Promise<WordTable> {
    const key = keyOf(parts, specialTokens);
    const entry = this.counted.get(key)!;
    const { patternSources } = parts.description;
    entry.table ??= await inTurns(
      scatteredTable(await this.options.count(parts.pattern, patternSources, specialTokens)),
    );
    if (--entry.usersLeft === 0) this.counted.delete(key);
    return entry.table;
  }

  /** Encodes the text from its beginning to its end. */
  private async tokensOfWholeText(parts: TokenizerParts): Promise<TokenCounts> {
    const { inputs, workerCount } = this.options;
    const counts = new Float64Array(parts.tokens.idLimit);
    const sink = {
      write(ids: Uint16Array | Uint32Array) {
        for (let i = 0; i < ids.length; i++) counts[ids[i]!]!++;
      },
      endInput() {},
    };
    const tell = byBytes(this.progress.passReport, "encoding", null);
    await encodeCorpus({ inputs, parts, workerCount }, sink, ({ bytesDone }) => tell(bytesDone));
    this.progress.endPass(sizeOf(inputs));
    return counts;
  }
}

/** The special tokens at which the text is cut. */
const specialTokensOf = (parts: TokenizerParts): string[] =>
  [...new Set(cuttingTokens(parts))].filter((token) => token !== "").sort();

/** The special tokens at which a text has to be cut, and how often each occurs; null if that is not known. */
type SpecialCuts = { readonly tokens: readonly string[]; readonly occurrences: Float64Array | null };

async function specialCutsOf(parts: TokenizerParts, words: TextWords): Promise<SpecialCuts> {
  const tokens = specialTokensOf(parts);
  // Their occurrences are found in the words of the text, which end at white space.
  if (tokens.some(holdsWhiteSpace)) return { tokens, occurrences: null };
  const contents = tokens.map((text) => Buffer.from(text));
  const occurrences = await inTurns(countSpecialTokens(words, contents));
  // Where none occurs the text is cut as if there were none.
  return occurrences.some((count) => count > 0) ? { tokens, occurrences } : { tokens: [], occurrences: null };
}

/** Tokenizers with one key cut texts into the same pretokens. */
const keyOf = (parts: TokenizerParts, specialTokens: readonly string[]) =>
  JSON.stringify([patternDigest(parts.pattern), specialTokens]);

/** How often a text is read for the tokens of these tokenizers, at most. */
export function passCount(tokenizers: readonly TokenizerParts[]): number {
  const counted = tokenizers.filter((parts) => canBeCut(parts));
  const keys = new Set(counted.map((parts) => keyOf(parts, specialTokensOf(parts))));
  return keys.size + tokenizers.length - counted.length;
}

/** Bytes of all occurrences of the words. */
function bytesOf({ wordCount, starts, counts }: WordTable): number {
  let byteCount = 0;
  for (let word = 0; word < wordCount; word++)
    byteCount += counts[word]! * (starts[word + 1]! - starts[word]!);
  return byteCount;
}

/** Bytes of the inputs, as they were listed. */
export const sizeOf = (inputs: readonly Input[]) => inputs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
