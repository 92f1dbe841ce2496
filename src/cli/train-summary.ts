import { join } from "node:path";
import { escapeBytes } from "../bytes/escape.ts";
import { bytes, counted, grouped, seconds } from "../bytes/quantities.ts";
import { longestWithLetters, shapeOf } from "../bytes/token-shape.ts";
import type { ExtensionRecord, IdsRecord, TrainingRecord } from "../formats/training-json.ts";
import { describeLlamaCpp } from "../pattern/pattern.ts";
import type { Extended, SuperwordFacts, TrainedVocabulary } from "../pipeline/learn-merges.ts";
import type { TrainedIds } from "../pipeline/train-ids.ts";
import { type ModelSettings, roleNames } from "../vocabulary/model-settings.ts";
import { copyTokenBytes, notKept, type TokenBytes, type Vocabulary } from "../vocabulary/vocabulary.ts";
import { rowLines } from "./output.ts";

/** What a summary says beside what was learned and its record. */
type Outcome = {
  readonly output: string;
  /** The path of the former result, if it was kept. */
  readonly keptPath: string | null;
  /** More rows about the corpus. */
  readonly notes: readonly (readonly [name: string, text: string])[];
};

/** The summary that people read at the end of `bpe train`. */
export function trainingSummary(
  { vocabulary, statistics, superwordFacts }: TrainedVocabulary,
  record: TrainingRecord,
  model: ModelSettings,
  { output, keptPath, notes }: Outcome,
): string[] {
  const shapes = shapesOf(vocabulary);
  const textBytes = statistics.reduce((sum, found) => sum + found.textBytes, 0);
  const { inputs, timings } = record;
  const documentCount = inputs.reduce((sum, input) => sum + input.documents, 0);
  const perSecond = (amount: number, ms: number) => amount / Math.max(ms / 1000, 1e-3);
  const rate = textBytes === 0 ? "" : ` (${grouped(perSecond(textBytes / 1e6, timings.countMs))} MB/s)`;
  const noun = inputs.some((input) => input.path === "-") ? "input" : "file";
  const corpus = `${bytes(textBytes)} in ${counted(inputs.length, noun)}, ${counted(documentCount, "document")}`;
  return rowLines([
    ["corpus", inputs.length === 0 ? "" : corpus],
    ...notes,
    ...languageRows(record.languages),
    ["weights", weightsText(record.options.weights)],
    ["seed tokens", seedsText(record.options)],
    ...roleRows(model),
    ["superwords", superwordText(superwordFacts)],
    ...countsRows(record.counts.map(({ path }) => path)),
    ["pattern", record.options.pattern.name ?? "a regular expression"],
    ["normal form", record.options.normalization ?? ""],
    ["llama.cpp", describeLlamaCpp(record.options.pattern.name)],
    ["pretokens", `${grouped(record.wordCount)}, ${grouped(record.distinctWordCount)} of them distinct`],
    ["merges", grouped(record.mergeCount)],
    [
      "time",
      [
        `counting ${seconds(timings.countMs / 1000)}${rate}`,
        `merging ${seconds(timings.mergeMs / 1000)} (${grouped(perSecond(record.mergeCount, timings.mergeMs))} merges/s)`,
        `writing ${seconds(timings.writeMs / 1000)}`,
        `in all ${seconds(timings.totalMs / 1000)}`,
      ].join(", "),
    ],
    ["memory", `${bytes(record.peakMemoryBytes)} at its peak`],
    ["bytes/token", compression(record)],
    ["absorbed", intermediates(record)],
    ["longest", shapes.longestTokens.join(" ")],
    ["whitespace", whitespaceAndSeparators(shapes)],
    ["written", writtenFiles(output, record.options.sizes, record.files)],
    ["kept", keptPath ?? ""],
  ]);
}

/** The summary of `bpe train --extend`. */
export function extensionSummary(
  { extensions, pretokenBytes, tokenCount, tokenCountBefore }: Extended,
  { base, options, files, timings, wordCount, distinctWordCount, peakMemoryBytes }: ExtensionRecord,
  { output, notes }: Outcome,
): string[] {
  const { tokens, reservedTokens } = extensions.at(-1)!;
  const { length } = tokens;
  const rate = (tokens: number) => (tokens === 0 ? "none" : (pretokenBytes / tokens).toFixed(3));
  const ms = (time: number) => seconds(time / 1000);
  const reserved =
    reservedTokens.length === 0
      ? ""
      : `${counted(reservedTokens.length, "token")}, to ${grouped(options.vocabSize)} ids`;
  const ids = length === 0 ? "" : `, ids ${base.vocabSize} to ${base.vocabSize + length - 1}`;
  return rowLines([
    ["base", `${base.path}, ${grouped(base.vocabSize)} ids`],
    ...notes,
    ["weights", weightsText(options.weights)],
    ["documents", documentsText(options)],
    ["pretokens", `${grouped(wordCount)}, ${grouped(distinctWordCount)} of them distinct`],
    ["new tokens", `${grouped(length)}${ids}`],
    ["reserved", reserved],
    ["rule", options.compat],
    [
      "time",
      `counting ${ms(timings.countMs)}, merging ${ms(timings.mergeMs)}, in all ${ms(timings.totalMs)}`,
    ],
    ["memory", `${bytes(peakMemoryBytes)} at its peak`],
    ["bytes/token", `${rate(tokenCount)}, with the base ${rate(tokenCountBefore)}`],
    ["written", writtenFiles(output, options.sizes, files)],
  ]);
}

/** The summary of `bpe train --input-format ids`. */
export function idsSummary(
  { merges, symbolCount, tokenCount, documentCounts, mergeMs }: TrainedIds,
  { timings, peakMemoryBytes, files }: Pick<IdsRecord, "timings" | "peakMemoryBytes" | "files">,
  wantedCount: number,
  output: string,
): string[] {
  const documentCount = documentCounts.reduce((sum, count) => sum + count, 0);
  const mergeCount = merges.left.length;
  const early = mergeCount < wantedCount ? " (stopped early: the corpus gives no more)" : "";
  return rowLines([
    ["corpus", `${counted(symbolCount, "id")} in ${counted(documentCount, "document")}`],
    ["alphabet", `${grouped(merges.alphabetSize)} ids`],
    ["merges", `${grouped(mergeCount)}${early}`],
    ["time", `merging ${seconds(mergeMs / 1000)}, in all ${seconds(timings.totalMs / 1000)}`],
    ["memory", `${bytes(peakMemoryBytes)} at its peak`],
    ["ids/token", (symbolCount / tokenCount).toFixed(3)],
    ["written", `${output}: ${files.join(", ")}`],
  ]);
}

/** Where documents end beside the ends of inputs and records, and whether special tokens of the base were text. */
function documentsText({ specialTokens, reservedTokens, documentsEndAt }: ExtensionRecord["options"]) {
  const named = new Set([...documentsEndAt, ...reservedTokens]);
  const asText = specialTokens.filter((text) => !named.has(text));
  const some = (texts: readonly string[]) =>
    `${texts.slice(0, 3).join(" ")}${texts.length > 3 ? ` and ${texts.length - 3} more` : ""}`;
  const ends = documentsEndAt.length === 0 ? "end with their inputs" : `end at ${some(documentsEndAt)}`;
  return asText.length === 0
    ? ends
    : `${ends}; special tokens of the base that are text (no -s): ${some(asText)}`;
}

/** The files of a tokenizer; those of several have the same names in a directory for each size. */
function writtenFiles(
  output: string,
  sizes: readonly number[] | undefined,
  files: readonly string[],
): string {
  if (sizes === undefined) return `${output}: ${files.join(", ")}`;
  const names = files.filter((name) => name.startsWith(`${sizes[0]}/`)).map((name) => name.split("/")[1]);
  return `${sizes.map((size) => join(output, String(size))).join(", ")}: ${names.join(", ")}`;
}

/** Bytes per token, and what the second half of the vocabulary bought. */
function compression({ bytesPerToken, half }: TrainingRecord): string {
  if (bytesPerToken === null) return "";
  const before =
    half === null ? "" : `, ${half.bytesPerToken.toFixed(3)} at half the size (${grouped(half.vocabSize)})`;
  return bytesPerToken.toFixed(3) + before;
}

/** Tokens that later merges absorbed. */
function intermediates({ residueCount, neverReachedCount, mergeCount }: TrainingRecord): string {
  if (mergeCount === 0) return "";
  const share = `${((100 * residueCount) / mergeCount).toFixed(1)} %`;
  const gone = neverReachedCount === 0 ? "" : `, ${grouped(neverReachedCount)} of them occur nowhere`;
  return `${counted(residueCount, "intermediate token")} (${share})${gone}`;
}

/** Who reads the summary knows inputs by the names of their weights. */
const seedsText = ({ seedTokens = [] }: TrainingRecord["options"]) =>
  seedTokens.length === 0 ? "" : grouped(seedTokens.length);

const weightsText = (weights: TrainingRecord["options"]["weights"] = []) =>
  weights.map(({ name, glob, weight }) => `${name ?? glob} ${weight}`).join(", ");

/** A row for each language, and for its dev text. */
const languageRows = (languages: TrainingRecord["languages"] = []) =>
  languages.map(({ language, isDev, textBytes, wordCount, distinctWordCount }, i): [string, string] => {
    const words = `${counted(wordCount, "pretoken")}, ${grouped(distinctWordCount)} of them distinct`;
    return [
      i === 0 ? "languages" : " ",
      `${language}${isDev ? " (dev)" : ""}: ${bytes(textBytes)}, ${words}`,
    ];
  });

const countsRowsMax = 3;

/** A row for each file of word counts, or one row for many. */
function countsRows(paths: readonly string[]): [string, string][] {
  if (paths.length <= countsRowsMax) return paths.map((path) => ["counts", path]);
  return [["counts", `${paths[0]} … ${paths.at(-1)} (${counted(paths.length, "file")})`]];
}

function superwordText(facts: SuperwordFacts | undefined): string {
  if (facts === undefined) return "";
  const dropped = facts.droppedCount === 0 ? "" : `, ${grouped(facts.droppedCount)} left out`;
  return (
    `behind ${grouped(facts.inheritedCount)} merges${dropped}, from ${grouped(facts.pretokenCount)} pretokens, ` +
    `${grouped(facts.distinctWordCount)} of them distinct`
  );
}

/** What the summary says of roles: those that nobody asked for are named as proposed. */
function roleRows({ roles, proposed }: ModelSettings): [string, string][] {
  const given = roleNames.filter((role) => roles[role] !== undefined);
  if (given.length === 0) return [];
  const tokens = [...new Set(given.map((role) => roles[role]!))];
  const parts = tokens.map((token) => {
    const names = given.filter((role) => roles[role] === token);
    return `${token} is ${names.join(" and ")}`;
  });
  const isProposed = given.every((role) => proposed.includes(role));
  const note =
    proposed.length === 0 ? "" : isProposed ? " (by its name)" : ` (${proposed.join(", ")} by name)`;
  return [["roles", parts.join(", ") + note]];
}

/** What people see of the tokens that were learned. */
type LearnedShapes = ShapeCounts & {
  /** The longest tokens with a letter, as they are shown; of equally long ones the first learned. */
  readonly longestTokens: readonly string[];
};

/** How many tokens have the shapes `whitespace` and `separator`. */
type ShapeCounts = { readonly whitespaceCount: number; readonly separatorCount: number };

const longestCount = 10;

function shapesOf({ tokenBytes, mergeCount }: Vocabulary): LearnedShapes {
  const { lengths } = tokenBytes;
  const first = lengths.length - mergeCount;
  const shapes = Array.from({ length: mergeCount }, (_, i) => shapeOfToken(tokenBytes, first + i));
  const longest = longestWithLetters(lengths, (token) => shapes[token - first]!, longestCount, first);
  return {
    longestTokens: longest.map((token) => shownToken(tokenBytes, token)),
    whitespaceCount: shapes.filter((shape) => shape === "whitespace").length,
    separatorCount: shapes.filter((shape) => shape === "separator").length,
  };
}

/** A token of so many bytes is judged by its beginning. */
const judgedBytes = 1 << 12;

function shapeOfToken(tokens: TokenBytes, token: number) {
  const start = tokens.starts[token]!;
  if (start !== notKept) return shapeOf(tokens.kept, start, start + tokens.lengths[token]!);
  const bytes = copyTokenBytes(tokens, token, judgedBytes);
  return shapeOf(bytes, 0, bytes.length);
}

/** How many whitespace tokens and separator tokens there are, or nothing if there are none. */
export function whitespaceAndSeparators({ whitespaceCount, separatorCount }: ShapeCounts): string {
  const parts = [
    ...(whitespaceCount > 0 ? [counted(whitespaceCount, "whitespace token")] : []),
    ...(separatorCount > 0 ? [`${counted(separatorCount, "separator token")}, such as -----`] : []),
  ];
  return parts.join(", ");
}

const shownCharacters = 60;

/** A token in quotes, escaped; a long one as its beginning and its length. */
function shownToken(tokens: TokenBytes, token: number): string {
  const text = escapeBytes(copyTokenBytes(tokens, token, 4 * shownCharacters));
  if (text.length <= shownCharacters) return `"${text}"`;
  return `"${text.slice(0, shownCharacters)}…" (${grouped(tokens.lengths[token]!)} bytes)`;
}
