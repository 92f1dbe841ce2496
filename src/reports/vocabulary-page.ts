import { countNoun, formatBytes, formatDay, formatSeconds, groupDigits } from "#bytes";
import type { Input } from "#corpus";
import type { CountedText } from "#encoding";
import { evaluations, excerpts, type vocabularyStatistics } from "#evaluation";
import { recordFiles, type trainingRecords, writtenCounts } from "#formats";
import type { learning } from "#merge";
import { axes, curves, type pageData, yardsticks } from "#pages";
import type { compiledPatterns } from "#pattern";
import { runSliced } from "#runtime";
import type { summaryRows } from "#terminal";
import { type AddedToken, cuttings, type Normalization } from "#text";
import { asLearned, type TokenizerParts, tokenizers, type Vocabulary, vocabularies } from "#tokenizer";
import { packLoaded, packTrained } from "./packed-vocabulary.ts";
import {
  cutSamples,
  cutterOf,
  deflate,
  pageFacts,
  programFact,
  sampleTextsOf,
  shortName,
  textsOfInputs,
  type Warn,
  writePage,
} from "./report-writer.ts";

// The pages of `bpe train` and `bpe inspect`.

/** A finished training. */
export type Finished = {
  readonly inputs: readonly Input[];
  /** How the tokenizer cuts text. */
  readonly pattern: compiledPatterns.ResolvedPattern;
  readonly normalization: Normalization | null;
  /** The directory that was written. */
  readonly output: string;
  readonly trained: learning.TrainedVocabulary;
  readonly record: trainingRecords.TrainingRecord;
  /** All warnings of the run, including the page's. */
  readonly warnings: readonly string[];
  readonly warn: Warn;
  readonly summary: readonly pageData.Fact[];
};

/**
 * Writes the page of a training. If there are several sizes, the page shows the largest, and marks the others on the
 * curve.
 */
export async function writeTrainingPage(path: string, finished: Finished): Promise<void> {
  const { output, trained, record, warnings, summary } = finished;
  const { vocabulary, smaller, tokenCounts } = trained;
  const addedTokens = addedTokensOf(vocabulary);
  // The excerpts are made before `text`, because making them may add a warning to its `cautions`: a file of the corpus
  // may have become unreadable.
  const excerpts = excerptsOf(finished);
  const learnedSize = vocabulary.size - vocabulary.reservedCount;
  const { tokensAfter } = tokenCounts;
  const curve =
    tokensAfter[0]! > 0
      ? curves.of(
          { baseSize: learnedSize - vocabulary.mergeCount, tokensAfter },
          smaller.map(({ size, reservedCount }) => size - reservedCount),
        )
      : null;
  const text: pageData.PageText = {
    title: `${shortName(output)}: ${groupDigits(vocabulary.size)} tokens`,
    origin: `bpe train · tokenizer written to ${shortName(output)}/ · ${formatDay(new Date())}`,
    finding: [curveSentence(vocabulary.size, curve)],
    more: [
      [
        trainingSentence(record),
        ...(curve === null
          ? []
          : [`Its tokens average ${lengthIn(curve)}.`, newTextNote, yardsticks.usual.published]),
      ].join(" "),
    ],
    cautions: warnings,
    ...curveTable(curve),
  };
  await writePage(path, text, {
    view: "train",
    record,
    vocabulary: packTrained(vocabulary, tokenCounts, deflate),
    addedTokens,
    textName: null,
    curve,
    excerpts,
    summary,
    made: factsOf(record),
  });
}

/** States whether the size is right, or else how long the tokens are. */
function curveSentence(size: number, curve: curves.Curve | null): string {
  if (curve === null) return `${countNoun(size, "token")}; the corpus has no text.`;
  return curves.sizeVerdict(size, curve) ?? `${countNoun(size, "token")} average ${lengthIn(curve)}.`;
}

/** "3.85 bytes each in the training text" */
const lengthIn = ({ points }: curves.Curve) =>
  `${points.at(-1)!.bytesPerToken.toFixed(2)} bytes each in the training text`;

const newTextNote = "New text usually has fewer bytes per token than this one.";

function trainingSentence({ inputs, wordCount, timings }: trainingRecords.TrainingRecord): string {
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  const documents = countNoun(sum(inputs.map((input) => input.documents)), "document");
  const corpus =
    inputs.length === 0
      ? `${groupDigits(wordCount)} pretokens of word counts`
      : `${formatBytes(sum(inputs.map(({ textBytes }) => textBytes)))} in ${documents}`;
  const time = formatSeconds(timings.totalMs / 1000);
  return `Learned from ${corpus}, in ${time}.`;
}

const curveTable = (curve: curves.Curve | null): Pick<pageData.PageText, "table" | "reading"> => ({
  table: {
    head: ["tokens", "bytes per token"],
    rows: (curve?.table ?? []).map(({ size, bytesPerToken }) => [
      groupDigits(size),
      bytesPerToken.toFixed(3),
    ]),
  },
  reading: `Average bytes per token of the corpus, by size of the vocabulary: more is better. ${curves.sizeRule}`,
});

const addedTokensOf = ({ specialTokens, specialIds }: Vocabulary): AddedToken[] =>
  specialTokens.map((content, s) => ({ id: specialIds[s]!, content, ...cuttings.plainSpecial }));

/**
 * Cuts a passage of each of the first inputs by the new tokenizer. Tries `asLearned.encode` first, because setting up
 * an encoder (`cutterOf`) takes long.
 */
function excerptsOf({ inputs, pattern, normalization, warn, trained }: Finished): excerpts.Excerpt[] {
  const { vocabulary } = trained;
  const parts = tokenizers.trained(vocabulary, pattern, normalization);
  const encode = (text: Uint8Array) => asLearned.encode(parts, text) ?? cutterOf(parts).encode(text);
  const bytesOf = (id: number) => bytesOfId(vocabulary, id);
  return excerpts.select(
    cutSamples(sampleTextsOf(textsOfInputs(inputs), warn), [{ parts, encode, bytesOf }]),
  );
}

function bytesOfId({ entries, specialTokens, tokenBytes }: Vocabulary, id: number): Uint8Array {
  const entry = entries[id]!;
  return vocabularies.isSpecialEntry(entry)
    ? new TextEncoder().encode(specialTokens[vocabularies.specialOfEntry(entry)])
    : tokenBytes.copy(entry);
}

/** Returns the provenance of a training. */
function factsOf(record: trainingRecords.TrainingRecord): pageData.Fact[] {
  const { options, inputs, counts } = record;
  const only = inputs.length === 1 && counts.length === 0 ? inputs[0]! : null;
  return [
    ["command", record.command],
    ["directory", record.workingDirectory],
    ["started", record.startedAt],
    ...(only === null ? [] : [["input", `${only.path}: ${formatBytes(only.sizeBytes)}`] as const]),
    ...[options.pattern.regex].flat().map((source) => ["pattern", source] as const),
    ["tie-breaking", options.compat],
    ["SHA-256 of the merges", record.mergesSha256],
    programFact(record),
  ];
}

/** The results of `bpe inspect`. */
export type Inspected = {
  readonly command: string;
  readonly name: string;
  readonly parts: TokenizerParts;
  /** The printed rows. */
  readonly rows: readonly summaryRows.Row[];
  readonly statistics: vocabularyStatistics.VocabularyStatistics;
  readonly text: CountedText | undefined;
  /** The output of `--json`. */
  readonly inspection: unknown;
  readonly warn: Warn;
};

/**
 * Writes the page of a tokenizer for `bpe inspect`, with its training if that is known, and with a text if one is
 * given.
 */
export async function writeInspectionPage(path: string, inspected: Inspected): Promise<void> {
  const { command, name, parts, rows, statistics, text, inspection } = inspected;
  const tokenCounts = (await runSliced(writtenCounts.read(parts))) ?? undefined;
  const curve = curveOfTraining(parts, tokenCounts);
  const page: pageData.PageText = {
    title: `${name}: ${countNoun(parts.tokens.tokenCount, "token")}`,
    origin: `bpe inspect · tokenizer ${name} · ${formatDay(new Date())}`,
    finding: [inspectionSentence(inspected, curve)],
    more: [inspectionDetails(inspected, curve).join(" ")],
    cautions: parts.notes,
    ...(curve === null ? scriptTable(statistics) : curveTable(curve)),
  };
  await writePage(path, page, {
    view: "inspect",
    inspection,
    vocabulary: packLoaded(parts, { tokenCounts, textCounts: text?.counts }, deflate),
    addedTokens: tokenizers.allAddedTokens(parts),
    textName: text === undefined ? null : shortName(text.path),
    curve,
    excerpts:
      text === undefined
        ? []
        : excerpts.select(
            cutSamples(sampleTextsOf(textsOfInputs(text.inputs), inspected.warn), [cutterOf(parts)]),
          ),
    summary: summaryOf(rows),
    made: [
      ["command", command],
      ...(text === undefined ? [] : ([["text", text.path]] as const)),
      ...pageFacts(),
    ],
  });
}

/**
 * Returns the curve of the tokenizer's training, computed from its token counts or, without these, drawn through the
 * points of its record. Returns null if no points are recorded.
 */
function curveOfTraining(
  { description }: TokenizerParts,
  tokenCounts: writtenCounts.WrittenTokenCounts | undefined,
): curves.Curve | null {
  const points = (recordFiles.readTokenCountFacts(description.path)?.curve ?? []).map(
    ({ vocabSize, bytesPerToken }) => ({
      size: vocabSize,
      bytesPerToken,
    }),
  );
  if (points.length === 0) return null;
  if (tokenCounts === undefined) return curves.through(points);
  const { tokensAfter } = tokenCounts;
  return curves.of({ baseSize: points.at(-1)!.size - (tokensAfter.length - 1), tokensAfter });
}

/** States the bytes per token on the given text, or else a fact about the training, or else the most common scripts. */
function inspectionSentence(
  { name, parts, statistics, text }: Inspected,
  curve: curves.Curve | null,
): string {
  const size = parts.tokens.tokenCount;
  if (text !== undefined && text.idCount > 0) {
    const perToken = (text.textBytes / text.idCount).toFixed(2);
    return `${name} averages ${perToken} bytes per token on ${shortName(text.path)}, with ${countNoun(size, "token")}.`;
  }
  if (curve !== null) return curveSentence(size, curve);
  const [first, second] = statistics.scripts;
  const total = statistics.scripts.reduce((sum, { tokenCount }) => sum + tokenCount, 0);
  const share = ({ name, tokenCount }: { name: string; tokenCount: number }) =>
    `${axes.percent(tokenCount / total)} ${name}`;
  const kinds = [first, second].flatMap((of) => (of === undefined ? [] : [share(of)]));
  return `${name} has ${countNoun(size, "token")}${kinds.length === 0 ? "" : `: ${kinds.join(", ")}`}.`;
}

/**
 * Describes the tokenizer, and its training if that is known. If there is a text, states the share of the tokens that
 * the text uses. With a training or a text, adds usual values for comparison.
 */
function inspectionDetails({ parts, text }: Inspected, curve: curves.Curve | null): string[] {
  const { tokens, model, description } = parts;
  const pattern =
    description.patternName === null ? "a pattern of its own" : `pattern ${description.patternName}`;
  const merges = `${description.kind}, ${pattern}, ${countNoun(model.merges.merged.length, "merge")}.`;
  const trained = curve === null ? [] : [`Its tokens average ${lengthIn(curve)}.`];
  if (text === undefined)
    return [merges, ...trained, ...(curve === null ? [] : [yardsticks.usual.published])];
  const used = axes.percent(evaluations.usedCount(text.counts) / Math.max(1, tokens.tokenCount));
  return [
    merges,
    ...trained,
    ...(curve === null ? [] : [curveSentence(tokens.tokenCount, curve)]),
    yardsticks.usual.published,
    `The text uses ${used} of the tokens; large vocabularies: ${yardsticks.usual.usedShare}.`,
  ];
}

const scriptTable = ({
  scripts,
}: vocabularyStatistics.VocabularyStatistics): Pick<pageData.PageText, "table" | "reading"> => ({
  table: {
    head: ["script", "tokens"],
    rows: scripts.map(({ name, tokenCount }) => [name, groupDigits(tokenCount)]),
  },
  reading: "Tokens by the script of their first letter; without a letter, by content.",
});

/** The rows that the page shows elsewhere. */
const shownElsewhere = new Set(["longest", "by script", "by bytes"]);

/** Returns the rows of a summary. A row without a name continues the row before. */
function summaryOf(rows: readonly summaryRows.Row[]): pageData.Fact[] {
  const summary: [string, string][] = [];
  let group = "";
  for (const [name, whole] of rows) {
    const text = [whole].flat().join(" ");
    if (name !== "") group = name;
    // Special tokens have a table of their own.
    if (text === "" || shownElsewhere.has(group) || (group === "special" && name === "")) continue;
    summary.push([name, text]);
  }
  return summary;
}
