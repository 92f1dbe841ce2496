import type { Normalization } from "../bytes/normalization.ts";
import { bytes, counted, grouped, seconds } from "../bytes/quantities.ts";
import type { Input } from "../corpus/input.ts";
import type { TrainingRecord } from "../formats/training-json.ts";
import type { ResolvedPattern } from "../pattern/pattern.ts";
import {
  type Fact,
  type FrameTable,
  type Highlight,
  type ReportBody,
  type ReportFrame,
  type ReportTokenizer,
  usual,
  vocabularyTokenizer,
} from "../report/report-data.ts";
import { runToEnd } from "../runtime/turns.ts";
import type { RankedMerges } from "../tokenizer/encoding-model.ts";
import { tokenBytesOf } from "../tokenizer/token-table.ts";
import { trainedParts } from "../tokenizer/tokenizer-parts.ts";
import { scriptClasses } from "../tokenizer/vocabulary-statistics.ts";
import type { Ledger } from "../vocabulary/ledger.ts";
import type { ModelSettings } from "../vocabulary/model-settings.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import { cutSamples, type SampleText, shortName } from "./report-writer.ts";
import { type LearnedShapes, pageSummary, shapesOf, type Told } from "./train-summary.ts";

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

/** What is known at the end: its record, and what people are told. */
export type Finished = {
  readonly record: TrainingRecord;
  readonly warnings: readonly string[];
  /** What the summary is made from. */
  readonly told: Omit<Told, "vocabulary">;
  readonly model: ModelSettings;
  readonly outcome: Parameters<typeof pageSummary>[3];
};

/** What the sections show: the vocabulary; of several sizes the largest, with the others marked on the curve. */
export function trainReportBody(
  { pattern, normalization, output }: Setting,
  { vocabulary, smallerSizes, ledger }: Learned,
  texts: readonly SampleText[],
): { body: ReportBody; shapes: LearnedShapes } {
  const learnedSize = vocabulary.size - vocabulary.reservedCount;
  const byId = vocabularyTokenizer(shortName(output), vocabulary, ledger, "the corpus");
  const classes = classesOf(vocabulary, byId);
  const tokenizer = { ...byId, ...(classes && { classes }) };
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
  const shapes = shapesOf(vocabulary, classes);
  const body = {
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
  return { body, shapes };
}

/** The classes of the tokens by id; undefined if a special token shares an id: what is made of that token has its class. */
export function classesOf(
  { size, tokenIds, specialTokens }: Vocabulary,
  { tokens, merges }: ReportTokenizer,
): Uint8Array | undefined {
  if (tokenIds.length + specialTokens.length !== size) return undefined;
  return runToEnd(scriptClasses(tokens, merges));
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
  { record, warnings, told, model, outcome }: Finished,
  shapes: LearnedShapes,
): ReportFrame {
  const summary = pageSummary({ ...told, vocabulary }, record, model, outcome, shapes);
  return {
    title: `Tokenizer ${shortName(output)}: ${grouped(vocabulary.size)} tokens`,
    highlights: highlightsOf(record, vocabulary),
    warnings,
    summary,
    tables: [inputTable(record), languageTable(record)].filter((table) => table !== null),
    provenance: factsOf(record),
  };
}

function highlightsOf(record: TrainingRecord, { size, specialTokens }: Vocabulary): Highlight[] {
  const { bytesPerToken, tokenCount, half, residueCount, mergeCount, timings, inputs, options } = record;
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  const specials = specialTokens.length === 0 ? "" : `, ${counted(specialTokens.length, "special token")}`;
  const documents = counted(sum(inputs.map((input) => input.documents)), "document");
  return [
    {
      name: "bytes per token",
      value: bytesPerToken?.toFixed(3) ?? "–",
      note:
        half === null
          ? `${counted(tokenCount, "token")}`
          : `${half.bytesPerToken.toFixed(3)} at half the size`,
    },
    { name: "vocabulary", value: grouped(size), note: `${counted(mergeCount, "merge")}${specials}` },
    inputs.length === 0
      ? { name: "corpus", value: `${grouped(record.wordCount)} pretokens`, note: "from word counts" }
      : {
          name: "corpus",
          value: bytes(sum(inputs.map(({ sizeBytes }) => sizeBytes))),
          note: `${documents} in ${counted(inputs.length, "input")}`,
        },
    {
      name: "intermediate tokens",
      value: `${((100 * residueCount) / Math.max(1, mergeCount)).toFixed(1)} %`,
      note: `${grouped(residueCount)} of the learned tokens; usual: ${usual.intermediates}`,
    },
    {
      name: "time",
      value: seconds(timings.totalMs / 1000),
      note: `${bytes(record.peakMemoryBytes)} of memory, ${counted(options.workers, "worker")}`,
    },
  ];
}

const inputsShown = 500;

/** The files that were read, of which there are several; null where a row says all. */
function inputTable({ inputs, counts }: TrainingRecord): FrameTable | null {
  const rows = [
    ...inputs.map(({ path, sizeBytes, documents, invalidBytes, weight, language }) => ({
      path,
      cells: [grouped(sizeBytes), grouped(documents), grouped(invalidBytes)],
      weight,
      language,
    })),
    ...counts.map(({ path, sizeBytes, weight }) => ({
      path: `${path} (word counts)`,
      cells: [grouped(sizeBytes), "–", "–"],
      weight,
      language: undefined,
    })),
  ];
  if (rows.length < 2) return null;
  const hasWeights = rows.some(({ weight }) => weight !== undefined);
  const hasLanguages = rows.some(({ language }) => language !== undefined);
  return {
    id: "inputs",
    title: "Inputs",
    ...(rows.length > inputsShown && {
      text: `The first ${inputsShown} of ${grouped(rows.length)}; training.json has all.`,
    }),
    head: [
      "file",
      "bytes",
      "documents",
      "bytes that are not UTF-8",
      ...(hasWeights ? ["weight"] : []),
      ...(hasLanguages ? ["language"] : []),
    ],
    rows: rows
      .slice(0, inputsShown)
      .map(({ path, cells, weight, language }) => [
        path,
        ...cells,
        ...(hasWeights ? [weight ?? "–"] : []),
        ...(hasLanguages ? [language ?? "–"] : []),
      ]),
  };
}

/** What was read of each language. */
function languageTable({ languages = [] }: TrainingRecord): FrameTable | null {
  if (languages.length === 0) return null;
  const shareOf = (textBytes: number, isDev: boolean) => {
    const all = languages.reduce((sum, one) => sum + (one.isDev === isDev ? one.textBytes : 0), 0);
    return `${((100 * textBytes) / Math.max(1, all)).toFixed(1)} %`;
  };
  return {
    id: "languages",
    title: "Languages",
    head: ["language", "bytes", "share", "pretokens", "distinct pretokens", "tokens", "bytes per token"],
    rows: languages.map(({ language, isDev, textBytes, wordCount, distinctWordCount, ...one }) => [
      isDev ? `${language} (dev)` : language,
      grouped(textBytes),
      shareOf(textBytes, isDev),
      grouped(wordCount),
      grouped(distinctWordCount),
      grouped(one.tokenCount),
      (one.byteCount / one.tokenCount).toFixed(3),
    ]),
  };
}

const specialsShown = 3;

/** How to make it again: what was asked for, and what did the work. */
function factsOf(record: TrainingRecord): Fact[] {
  const { options, inputs } = record;
  const { specialTokens } = options;
  const only = inputs.length === 1 && record.counts.length === 0 ? inputs[0]! : null;
  return [
    ["command", record.command],
    ["directory", record.workingDirectory],
    ["started", record.startedAt],
    ...(only === null ? [] : [["input", `${only.path}: ${bytes(only.sizeBytes)}`] as const]),
    ...[options.pattern.regex].flat().map((source) => ["pattern", source] as const),
    ...(specialTokens.length > specialsShown
      ? []
      : [["special tokens", specialTokens.join(" ") || "none"] as const]),
    ["agrees with", options.compat],
    ["SHA-256 of the merges", record.mergesSha256],
    ["bpe", `${record.version}, Bun ${record.bunVersion}, commit ${record.commit}`],
  ];
}
