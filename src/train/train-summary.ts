import { join } from "node:path";
import { countNoun, escapeBytes, formatBytes, formatSeconds, groupDigits } from "#bytes";
import type { trainingRecords } from "#formats";
import type { learning } from "#merge";
import { patternForms } from "#pattern";
import { summaryRows } from "#terminal";
import { modelSettings, type TokenBytes, tokenShapes, type Vocabulary } from "#tokenizer";

type Form = {
  /** Whether the summary is complete: `--summary full`. */
  readonly isFull: boolean;
  /** The column where lines have to end; null without a terminal. */
  readonly columns: number | null;
};

/** What a summary says in addition to the results and the record. */
type Outcome = Form & {
  readonly output: string;
  /** The path of the former result, if it was kept. */
  readonly keptPath: string | null;
  /** The path of the page of --report. */
  readonly report?: string | undefined;
  /** If false, the summary calls the pattern the default. */
  readonly isPatternChosen: boolean;
  /** The value of `--pattern`, which may be another name of the pattern. */
  readonly patternTyped?: string | undefined;
  /** More rows about the corpus. */
  readonly notes: readonly (readonly [name: string, text: string])[];
};

/**
 * A row's name, and its text in the full and in the short summary. If a text is empty, that summary has no such row.
 */
type SummaryRow = readonly [name: string, full: summaryRows.Row[1], short: summaryRows.Row[1]];

const inBoth = (name: string, text: summaryRows.Row[1]): SummaryRow => [name, text, text];
const inFull = (name: string, text: summaryRows.Row[1]): SummaryRow => [name, text, ""];

const shortLinesMax = 8;
/** Rows that a short summary leaves out, one after the other, until it has at most `shortLinesMax` rows. */
const spared = ["memory", "pattern", "base"];

function summaryLines(rows: readonly SummaryRow[], { isFull, columns }: Form): string[] {
  if (isFull)
    return summaryRows.rowLines(
      rows.map(([name, full]) => [name, full]),
      columns,
    );
  let short = rows.flatMap(([name, , text]): summaryRows.Row[] => (text.length === 0 ? [] : [[name, text]]));
  for (const name of spared) if (short.length > shortLinesMax) short = short.filter(([one]) => one !== name);
  return summaryRows.rowLines(short, columns);
}

export const trainingSummary = (
  trained: learning.TrainedVocabulary,
  record: trainingRecords.TrainingRecord,
  model: modelSettings.ModelSettings,
  outcome: Outcome,
) => {
  const shapes = outcome.isFull ? shapesOf(trained.vocabulary) : undefined;
  return summaryLines(trainingRows(trained, record, model, outcome, shapes), outcome);
};

/**
 * Returns the full summary, for the page. Leaves out the rows about the longest tokens and whitespace, because the page
 * has a table of all tokens.
 */
export const pageSummary = (
  trained: learning.TrainedVocabulary,
  record: trainingRecords.TrainingRecord,
  model: modelSettings.ModelSettings,
  outcome: Omit<Outcome, keyof Form>,
): [name: string, text: string][] =>
  trainingRows(trained, record, model, outcome, undefined).flatMap(([name, full]) => {
    const text = [full].flat().join(" ");
    return text === "" ? [] : [[name, text]];
  });

function trainingRows(
  trained: Pick<learning.TrainedVocabulary, "vocabulary" | "statistics" | "superwordFacts">,
  record: trainingRecords.TrainingRecord,
  model: modelSettings.ModelSettings,
  outcome: Omit<Outcome, keyof Form>,
  shapes: LearnedShapes | undefined,
): SummaryRow[] {
  const { output, keptPath, notes, report = "" } = outcome;
  const { options } = record;
  const { name } = options.pattern;
  const { vocabulary } = trained;
  const roles = rolesText(model);
  const counts = countsText(record.counts.map(({ path }) => path));
  return [
    inBoth("corpus", corpusText(trained, record.inputs)),
    ...notes.map(([name, text]) => inBoth(name, text)),
    ...languageRows(record.languages),
    inFull("weights", weightsText(options.weights)),
    inFull("seed tokens", seedsText(options)),
    inBoth("added", model.fromTemplate.length === 0 ? "" : [...model.fromTemplate, "(by the chat template)"]),
    ["roles", roles, model.proposed.length > 0 ? roles : ""],
    inFull("superwords", superwordText(trained.superwordFacts)),
    ["counts", counts, record.inputs.length === 0 ? counts : ""],
    inBoth("pattern", outcome.isPatternChosen ? patternText(name, outcome.patternTyped) : defaultPattern),
    inFull("normal form", options.normalization ?? ""),
    inFull("llama.cpp", patternForms.describeLlamaCpp(name)),
    inFull("pretokens", pretokensText(record)),
    inBoth("vocabulary", vocabularyText(vocabulary.size, record)),
    inFull("half size", halfText(record)),
    inFull("absorbed", intermediates(record)),
    inFull("longest", shapes?.longestTokens ?? ""),
    inFull("whitespace", shapes === undefined ? "" : tokenShapes.describeCounts(shapes)),
    timeRow(trained, record),
    memoryRow(record),
    writtenRow(output, options.sizes, record.files),
    inBoth("report", report),
    inBoth("kept", keptPath === null ? "" : [keptPath]),
  ];
}

/** The comparison with o200k is from docs/size-and-pattern.md. */
const defaultPattern =
  "gpt2 (default; o200k needs 7 % fewer tokens for English: bpe help docs/size-and-pattern.md)";

function patternText(name: string | null, typed: string | undefined): string {
  if (name === null) return "a regular expression";
  // gpt4 and gpt-4 differ only by a hyphen, but are different patterns.
  if (name === "gpt4") return "gpt4 (gpt-4 is cl100k)";
  if (typed === "gpt-4") return "cl100k (gpt-4; gpt4 is another pattern)";
  return (typed ?? name) === name ? name : `${name} (${typed})`;
}

export function extensionSummary(
  trained: learning.Extended,
  record: trainingRecords.Extension,
  outcome: Outcome,
): string[] {
  const { output, keptPath, notes } = outcome;
  const { base, options } = record;
  const { tokens, specialTokens, reservedTokens } = trained.extensions.at(-1)!;
  const hasCorpus = record.inputs.length + record.counts.length > 0;
  const { length } = tokens;
  const last = base.vocabSize + length - 1;
  const ids = length === 0 ? "" : length === 1 ? `, id ${last}` : `, ids ${base.vocabSize} to ${last}`;
  const before = base.bytesPerToken === null ? "" : ` (base: ${base.bytesPerToken.toFixed(3)})`;
  const reserved = `${countNoun(reservedTokens.length, "token")}, to ${groupDigits(options.vocabSize)} ids`;
  const rows: SummaryRow[] = [
    inBoth("base", `${base.path}, ${groupDigits(base.vocabSize)} ids`),
    inBoth("corpus", corpusText(trained, record.inputs)),
    ...notes.map(([name, text]) => inBoth(name, text)),
    inFull("weights", weightsText(options.weights)),
    inBoth("documents", hasCorpus ? documentsText(options) : ""),
    inFull("counts", countsText(record.counts.map(({ path }) => path))),
    inFull("pretokens", hasCorpus ? pretokensText(record) : ""),
    inFull("seed tokens", seedsText(options)),
    inBoth("new tokens", `${groupDigits(length)}${ids}${perToken(record)}${before}`),
    inBoth("special", specialsText(specialTokens)),
    inBoth(
      "renamed",
      Object.entries(options.rename ?? {})
        .map((pair) => pair.join(" -> "))
        .join(", "),
    ),
    inFull("reserved", reservedTokens.length === 0 ? "" : reserved),
    inFull("rule", options.compat),
    hasCorpus ? timeRow(trained, record) : inBoth("time", ms(record.timings.totalMs)),
    memoryRow(record),
    writtenRow(output, options.sizes, record.files),
    inBoth(...summaryRows.embeddingsRow(base.path, join(output, String(options.sizes?.at(-1) ?? "")))),
    inBoth("kept", keptPath === null ? "" : [keptPath]),
  ];
  return summaryLines(rows, outcome);
}

type LearnedFromIds = {
  readonly alphabetSize: number;
  readonly mergeCount: number;
  readonly symbolCount: number;
  readonly tokenCount: number;
  /** The number of documents in each input. */
  readonly documentCounts: readonly number[];
};

/**
 * Returns the summary of `bpe ids train`. The full and the short form have the same rows, but the short one may leave
 * out names of files.
 */
export function idsSummary(
  { alphabetSize, mergeCount, symbolCount, tokenCount, documentCounts }: LearnedFromIds,
  record: Pick<trainingRecords.Ids, "timings" | "peakMemoryBytes" | "files">,
  outcome: Omit<Outcome, "notes" | "isPatternChosen">,
): string[] {
  const documentCount = documentCounts.reduce((sum, count) => sum + count, 0);
  const size = countNoun(alphabetSize + mergeCount, "token");
  const rate = `${(symbolCount / tokenCount).toFixed(3)} ids per token`;
  const { timings, files } = record;
  const rows: SummaryRow[] = [
    inBoth("corpus", `${countNoun(symbolCount, "id")} in ${countNoun(documentCount, "document")}`),
    inBoth("alphabet", `${groupDigits(alphabetSize)} ids`),
    inBoth("vocabulary", `${size}, ${countNoun(mergeCount, "merge")}; ${rate}`),
    inBoth(
      "time",
      `${ms(timings.totalMs)}: reading ${ms(timings.countMs)}, ${mergingText(timings, mergeCount)}`,
    ),
    memoryRow(record),
    writtenRow(outcome.output, undefined, files),
    inBoth("kept", outcome.keptPath === null ? "" : [outcome.keptPath]),
  ];
  return summaryLines(rows, outcome);
}

const ms = (time: number) => formatSeconds(time / 1000);
const perSecond = (amount: number, time: number) => Math.round(amount / Math.max(time / 1000, 1e-3));

const textBytesOf = ({ statistics }: Work) => statistics.reduce((sum, found) => sum + found.textBytes, 0);

type Work = Pick<learning.TrainedVocabulary, "statistics">;

function corpusText(trained: Work, inputs: trainingRecords.TrainingRecord["inputs"]): string {
  if (inputs.length === 0) return "";
  const documentCount = inputs.reduce((sum, input) => sum + input.documents, 0);
  const noun = inputs.some((input) => input.path === "-") ? "input" : "file";
  const text = formatBytes(textBytesOf(trained));
  return `${text} in ${countNoun(inputs.length, noun)}, ${countNoun(documentCount, "document")}`;
}

const pretokensText = ({
  wordCount,
  distinctWordCount,
}: trainingRecords.TrainingRecord | trainingRecords.Extension) =>
  `${groupDigits(wordCount)}, ${groupDigits(distinctWordCount)} of them distinct`;

function vocabularyText(size: number, record: trainingRecords.TrainingRecord): string {
  const { sizes = [] } = record.options;
  const sized =
    sizes.length === 0 ? countNoun(size, "token") : `${sizes.length} sizes up to ${countNoun(size, "token")}`;
  return `${sized}, ${countNoun(record.mergeCount, "merge")}${perToken(record)}`;
}

const perToken = (record: { readonly bytesPerToken: number | null }) => {
  const text = bytesPerTokenText(record);
  return text === undefined ? "" : `; ${text}`;
};

/** Formats the most important result, bytes per token; undefined without text. */
export const bytesPerTokenText = ({ bytesPerToken }: { readonly bytesPerToken: number | null }) =>
  bytesPerToken === null ? undefined : `${bytesPerToken.toFixed(3)} bytes per token`;

/** Formats the bytes per token with half of the vocabulary. */
const halfText = ({ half }: trainingRecords.TrainingRecord) =>
  half === null
    ? ""
    : `${half.bytesPerToken.toFixed(3)} bytes per token with ${groupDigits(half.vocabSize)} tokens`;

function timeRow(
  trained: Work,
  { timings, mergeCount }: trainingRecords.TrainingRecord | trainingRecords.Extension,
): SummaryRow {
  const timesOf = (isFull: boolean) => timesText(textBytesOf(trained), timings, mergeCount, isFull);
  return ["time", timesOf(true), timesOf(false)];
}

/**
 * Formats the time of a training and of its parts. If opening files and numbering tokens took little time, they are
 * left out. The short form also leaves out writing if that took little time.
 */
export function timesText(
  textBytes: number,
  timings: trainingRecords.TrainingRecord["timings"],
  mergeCount: number,
  isFull: boolean,
): string {
  const { totalMs, countMs, mergeMs, writeMs } = timings;
  const otherMs = totalMs - countMs - mergeMs - writeMs;
  const isTiny = textBytes > 0 && textBytes < ratedBytes;
  const rate = textBytes < ratedBytes ? "" : ` (${formatBytes(perSecond(textBytes, countMs))}/s)`;
  const parts = [
    `counting ${ms(countMs)}${rate}`,
    isTiny ? `merging ${ms(mergeMs)}` : mergingText(timings, mergeCount),
    ...(isFull || writeMs >= toldMs ? [`writing ${ms(writeMs)}`] : []),
    ...(otherMs >= toldMs ? [`opening files and numbering tokens ${ms(otherMs)}`] : []),
  ];
  return `${ms(totalMs)}: ${parts.join(", ")}`;
}

/**
 * Opening files and numbering tokens are left out if both together took fewer milliseconds than this. So is writing, in
 * the short form.
 */
const toldMs = 1000;
/**
 * The size of a text from which a speed is shown. With less text, startup takes most of the time, so a speed would mean
 * nothing.
 */
const ratedBytes = 1e6;

const mergingText = ({ mergeMs }: trainingRecords.TrainingRecord["timings"], mergeCount: number) =>
  `merging ${ms(mergeMs)} (${groupDigits(perSecond(mergeCount, mergeMs))}/s)`;

const memoryRow = ({ peakMemoryBytes }: Pick<trainingRecords.TrainingRecord, "peakMemoryBytes">) =>
  inBoth("memory", `${formatBytes(peakMemoryBytes)} at its peak`);

/** Formats new special tokens with their ids. If there are many, formats the first ones. */
function specialsText(tokens: learning.Extended["extensions"][number]["specialTokens"]): string {
  const some = tokens.slice(0, 5).map(({ content, id }) => `${content} ${id}`);
  return `${some.join(", ")}${tokens.length > 5 ? ` and ${tokens.length - 5} more` : ""}`;
}

/**
 * Describes where documents end, apart from the ends of inputs and records. Also says which added tokens of the base
 * were read as text.
 */
function documentsText({
  specialTokens,
  reservedTokens,
  documentsEndAt,
}: trainingRecords.Extension["options"]) {
  const named = new Set([...documentsEndAt, ...reservedTokens]);
  const asText = specialTokens.filter((text) => !named.has(text));
  const some = (texts: readonly string[]) =>
    `${texts.slice(0, 3).join(" ")}${texts.length > 3 ? ` and ${texts.length - 3} more` : ""}`;
  const ends = documentsEndAt.length === 0 ? "one per input or record" : `end at ${some(documentsEndAt)}`;
  return asText.length === 0 ? ends : `${ends}; -s also ends them at ${some(asText)}`;
}

/**
 * Returns a row with the files of a tokenizer. With several sizes, each has a directory with files of the same names,
 * so these are listed once.
 */
function writtenRow(
  output: string,
  sizes: readonly number[] | undefined,
  files: readonly string[],
): SummaryRow {
  const names =
    sizes === undefined
      ? files
      : files.filter((name) => name.startsWith(`${sizes[0]}/`)).map((name) => name.split("/")[1]!);
  const places = sizes === undefined ? [output] : sizes.map((size) => join(output, String(size)));
  const place = `${sizes === undefined ? output : `${output}/${sizes.join(", ")}`}: `;
  return [
    "written",
    [
      ...places.map((place, i) => place + (i < places.length - 1 ? "," : ":")),
      ...summaryRows.withCommas(names),
    ],
    place +
      summaryRows.namesWithin(
        names,
        summaryRows.usualColumns - summaryRows.nameColumns - summaryRows.widthOf(place),
      ),
  ];
}

function intermediates({
  residueCount,
  neverReachedCount,
  mergeCount,
}: trainingRecords.TrainingRecord): string {
  if (mergeCount === 0) return "";
  const share = `${((100 * residueCount) / mergeCount).toFixed(1)} %`;
  const gone = neverReachedCount === 0 ? "" : `, ${groupDigits(neverReachedCount)} of them occur nowhere`;
  return `${countNoun(residueCount, "intermediate token")} (${share})${gone}`;
}

const seedsText = ({ seedTokens = [] }: Pick<trainingRecords.TrainingRecord["options"], "seedTokens">) =>
  seedTokens.length === 0 ? "" : groupDigits(seedTokens.length);

const weightsText = (weights: trainingRecords.TrainingRecord["options"]["weights"] = []) =>
  weights.map(({ name, glob, weight }) => `${name ?? glob} ${weight}`).join(", ");

/** Returns a row for each language's text and dev text: how the vocabulary encodes it. */
function languageRows(languages: trainingRecords.TrainingRecord["languages"] = []): SummaryRow[] {
  const nameOf = ({ language, isDev }: trainingRecords.Language) => `${language}${isDev ? " (dev)" : ""}`;
  const nameWidth = Math.max(0, ...languages.map((one) => summaryRows.widthOf(nameOf(one))));
  const countWidth = Math.max(0, ...languages.map(({ tokenCount }) => groupDigits(tokenCount).length));
  return languages.map((one, i) => {
    const { textBytes, wordCount, distinctWordCount, byteCount, tokenCount, plainTokenCount } = one;
    const name = nameOf(one) + " ".repeat(nameWidth - summaryRows.widthOf(nameOf(one)));
    const tokens = `${groupDigits(tokenCount).padStart(countWidth)} tokens`;
    const plain = `plain training: ${groupDigits(plainTokenCount)}, ${(byteCount / plainTokenCount).toFixed(3)}`;
    const short = `${name}  ${tokens}, ${(byteCount / tokenCount).toFixed(3)} bytes per token (${plain})`;
    const words = `${countNoun(wordCount, "pretoken")}, ${groupDigits(distinctWordCount)} of them distinct`;
    return [i === 0 ? "languages" : " ", `${short}; ${formatBytes(textBytes)}, ${words}`, short];
  });
}

const countsShownMax = 3;

const countsText = (paths: readonly string[]) =>
  paths.length <= countsShownMax
    ? paths.join(", ")
    : `${paths[0]} … ${paths.at(-1)} (${countNoun(paths.length, "file")})`;

function superwordText(facts: learning.SuperwordFacts | undefined): string {
  if (facts === undefined) return "";
  const dropped = facts.droppedCount === 0 ? "" : `, ${groupDigits(facts.droppedCount)} left out`;
  return (
    `after ${groupDigits(facts.inheritedCount)} merges${dropped}, from ${groupDigits(facts.pretokenCount)} pretokens, ` +
    `${groupDigits(facts.distinctWordCount)} of them distinct`
  );
}

/** Describes the roles of special tokens. `proposed` are the roles that were assigned by default. */
function rolesText({ roles, proposed }: modelSettings.ModelSettings): string {
  const given = modelSettings.roleNames.filter((role) => roles[role] !== undefined);
  const tokens = [...new Set(given.map((role) => roles[role]!))];
  const parts = tokens.map((token) => {
    const names = given.filter((role) => roles[role] === token);
    return `${token} is ${names.join(" and ")}`;
  });
  const isProposed = given.every((role) => proposed.includes(role));
  const names = tokens.length === 1 ? "its name" : "their names";
  const note =
    proposed.length === 0 ? "" : isProposed ? ` (by ${names})` : ` (${proposed.join(", ")} by name)`;
  return parts.join(", ") + note;
}

export type LearnedShapes = tokenShapes.ShapeCounts & {
  /** The longest tokens with a letter, formatted. */
  readonly longestTokens: readonly string[];
};

const longestCount = 10;

function shapesOf({ tokenBytes, mergeCount }: Vocabulary): LearnedShapes {
  const { lengths } = tokenBytes;
  const first = lengths.length - mergeCount;
  let [whitespaceCount, separatorCount] = [0, 0];
  const shapeAt = (token: number) => shapeOfToken(tokenBytes, token);
  for (let token = first; token < lengths.length; token++) {
    const shape = shapeAt(token);
    if (shape === "whitespace") whitespaceCount++;
    else if (shape === "separator") separatorCount++;
  }
  const longest = tokenShapes.longestWithLetters(lengths, shapeAt, longestCount, first);
  const longestTokens = longest.map((token) => shownToken(tokenBytes, token));
  return { longestTokens, whitespaceCount, separatorCount };
}

/** The number of a token's first bytes that decide its shape if not all of its bytes are in memory (`TokenBytes`). */
const judgedBytes = 1 << 12;

function shapeOfToken(tokens: TokenBytes, token: number) {
  if (tokens.isKept(token)) {
    const start = tokens.starts[token]!;
    return tokenShapes.of(tokens.kept, start, start + tokens.lengths[token]!);
  }
  const bytes = tokens.copy(token, judgedBytes);
  return tokenShapes.of(bytes, 0, bytes.length);
}

const shownCharacters = 60;

/** Formats a token, escaped and in quotes. A long token is cut, and its length is added. */
function shownToken(tokens: TokenBytes, token: number): string {
  const text = escapeBytes(tokens.copy(token, 4 * shownCharacters));
  if (text.length <= shownCharacters) return `"${text}"`;
  return `"${text.slice(0, shownCharacters)}…" (${groupDigits(tokens.lengths[token]!)} bytes)`;
}
