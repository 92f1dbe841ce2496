import type { Normalization } from "../bytes/normalization.ts";
import { bytes, counted, grouped, seconds } from "../bytes/quantities.ts";
import type { Input } from "../corpus/input.ts";
import type { TrainingRecord } from "../formats/training-json.ts";
import type { ResolvedPattern } from "../pattern/pattern.ts";
import {
  type Fact,
  type Highlight,
  type ReportBody,
  type ReportFrame,
  type ReportTokenizer,
  vocabularyTokenizer,
} from "../report/report-data.ts";
import type { RankedMerges } from "../tokenizer/encoding-model.ts";
import { tokenBytesOf } from "../tokenizer/token-table.ts";
import { trainedParts } from "../tokenizer/tokenizer-parts.ts";
import type { Ledger } from "../vocabulary/ledger.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import { cutSamples, type SampleText, shortName } from "./report-writer.ts";

/** What a training is given, as far as its report shows it. */
export type Setting = {
  /** The sample texts are the beginnings of the first ones. */
  readonly inputs: readonly Input[];
  /** How the tokenizer cuts text. */
  readonly pattern: ResolvedPattern;
  readonly normalization: Normalization | null;
  /** The directory that is written. */
  readonly output: string;
};

/** What a training learned, as far as its report shows it. */
export type Learned = {
  readonly vocabulary: Vocabulary;
  /** Sizes of the other vocabularies, without reserved tokens. */
  readonly smallerSizes: readonly number[];
  readonly ledger: Ledger;
};

/** What the sections show: the vocabulary; of several sizes the largest, with the others marked on the curve. */
export function trainReportBody(
  { pattern, normalization, output }: Setting,
  { vocabulary, smallerSizes, ledger }: Learned,
  texts: readonly SampleText[],
): ReportBody {
  const learnedSize = vocabulary.size - vocabulary.reservedCount;
  const tokenizer = vocabularyTokenizer(shortName(output), vocabulary, ledger, "the corpus");
  const merges =
    normalization === null
      ? mergesWithin(
          texts.map(({ bytes }) => bytes),
          vocabulary,
          tokenizer,
        )
      : undefined;
  const parts = trainedParts(vocabulary, pattern, normalization, merges);
  const hasText = ledger.tokensAfter[0]! > 0;
  return {
    tokenizers: [tokenizer],
    compression: hasText
      ? {
          baseSize: learnedSize - vocabulary.mergeCount,
          tokensAfter: ledger.tokensAfter,
          smallerSizes,
        }
      : undefined,
    samples: cutSamples(texts, [{ parts, tokens: tokenizer.tokens }]),
  };
}

/**
 * The merges whose token is in one of the texts. No other merge is ever made there, so the texts are cut as by all merges, and
 * the encoder is built in a tenth of the time.
 */
export function mergesWithin(
  texts: readonly Uint8Array[],
  { tokenIds }: Vocabulary,
  { merges, tokens }: Pick<ReportTokenizer, "merges" | "tokens">,
): RankedMerges {
  // A token that is only where two texts meet is one too many, which does no harm.
  const text = Buffer.concat(texts);
  const isWithin = new Uint8Array(tokens.idLimit);
  for (let i = 0; i < text.length; i++) isWithin[tokenIds[text[i]!]!] = 1;
  const { left, right, merged } = merges;
  const ranks: number[] = [];
  for (let rank = 0; rank < merged.length; rank++) {
    if (isWithin[left[rank]!] === 0 || isWithin[right[rank]!] === 0) continue;
    const id = merged[rank]!;
    if (!text.includes(tokenBytesOf(tokens, id))) continue;
    isWithin[id] = 1;
    ranks.push(rank);
  }
  const within = (ids: Int32Array) => Int32Array.from(ranks, (rank) => ids[rank]!);
  return { left: within(left), right: within(right), merged: within(merged) };
}

/** What only the finished training knows: its times, its files. */
export function trainReportFrame(
  { output }: Setting,
  { vocabulary }: Learned,
  record: TrainingRecord,
): ReportFrame {
  return {
    title: `Tokenizer ${shortName(output)}: ${grouped(vocabulary.size)} tokens`,
    highlights: highlightsOf(record, vocabulary.size),
    provenance: factsOf(record, output),
  };
}

function highlightsOf(record: TrainingRecord, size: number): Highlight[] {
  const { bytesPerToken, tokenCount, half, residueCount, mergeCount, timings, wordCount } = record;
  return [
    { name: "vocabulary", value: grouped(size), note: counted(mergeCount, "merge") },
    {
      name: "bytes per token",
      value: bytesPerToken?.toFixed(3) ?? "–",
      note:
        half === null
          ? `${counted(tokenCount, "token")}`
          : `${half.bytesPerToken.toFixed(3)} at half the size`,
    },
    {
      name: "intermediate tokens",
      value: grouped(residueCount),
      note: `${((100 * residueCount) / Math.max(1, mergeCount)).toFixed(1)} % of the learned tokens`,
    },
    { name: "trained in", value: seconds(timings.totalMs / 1000), note: `${grouped(wordCount)} pretokens` },
  ];
}

const inputsShown = 20;

/** Where the tokenizer comes from: what was asked for, what was read, and what did the work. */
function factsOf(record: TrainingRecord, output: string): Fact[] {
  const { options, inputs, counts, timings } = record;
  const sources = [options.pattern.regex].flat();
  return [
    ["command", record.command],
    ["in", record.workingDirectory],
    ["started", record.startedAt],
    ...inputs
      .slice(0, inputsShown)
      .map(
        ({ path, sizeBytes, documents, weight, language }) =>
          [
            "input",
            `${path}: ${bytes(sizeBytes)}, ${counted(documents, "document")}${weight === undefined ? "" : `, weight ${weight}`}${language === undefined ? "" : `, language ${language}`}`,
          ] as const,
      ),
    ...(inputs.length > inputsShown ? [["", `and ${inputs.length - inputsShown} more`] as const] : []),
    ...counts.slice(0, inputsShown).map(({ path }) => ["counts", path] as const),
    ...(counts.length > inputsShown ? [["", `and ${counts.length - inputsShown} more`] as const] : []),
    ["pattern", options.pattern.name ?? "a regular expression"],
    ...sources.map((source) => ["", source] as const),
    ["special tokens", options.specialTokens.join(" ") || "none"],
    ["agrees with", options.compat],
    ["pretokens", `${grouped(record.wordCount)}, ${grouped(record.distinctWordCount)} of them distinct`],
    ["written", `${output}: ${record.files.join(", ")}`],
    ["SHA-256 of the merges", record.mergesSha256],
    [
      "time",
      `counting ${seconds(timings.countMs / 1000)}, merging ${seconds(timings.mergeMs / 1000)}, writing ${seconds(timings.writeMs / 1000)}, in all ${seconds(timings.totalMs / 1000)}`,
    ],
    ["memory", `${bytes(record.peakMemoryBytes)} at its peak, ${counted(options.workers, "worker")}`],
    ["bpe", `${record.version}, Bun ${record.bunVersion}, commit ${record.commit}`],
  ];
}
