import { bytes, counted, grouped } from "../bytes/quantities.ts";
import { usedCount } from "../evaluation/evaluation.ts";
import { readWrittenLedger } from "../formats/tokens-tsv.ts";
import { recordedLedger } from "../formats/training-json.ts";
import { percent } from "../pages/axes.ts";
import { type Fact, type Highlight, usual } from "../report/report-data.ts";
import { inTurns } from "../runtime/turns.ts";
import { build } from "../runtime/version.ts";
import { allAddedTokens, type TokenizerParts } from "../tokenizer/tokenizer-parts.ts";
import type { VocabularyStatistics } from "../tokenizer/vocabulary-statistics.ts";
import type { CountedText } from "./counted-text.ts";
import { cutSamples, reportTokenizer, sampleTextsOf, shortName } from "./report-writer.ts";
import type { Row } from "./summary-rows.ts";
import { writeReport } from "./write-report.ts";

// Loaded only with `--report`: no other start gets longer.

/** What `bpe inspect` found. */
type Inspected = {
  readonly command: string;
  readonly name: string;
  readonly parts: TokenizerParts;
  /** What it prints of the tokenizer. */
  readonly rows: readonly Row[];
  readonly statistics: VocabularyStatistics;
  readonly text: CountedText | undefined;
};

/** The report of `bpe inspect`: one tokenizer, what is known of its training, and one text if there is one. */
export async function writeInspectReport(
  path: string,
  { command, name, parts, rows, statistics, text }: Inspected,
): Promise<void> {
  const { tokens } = parts;
  const ledger = (await inTurns(readWrittenLedger(parts))) ?? undefined;
  const whole = ledger?.facts.curve.at(-1);
  const ofText = text && { of: shortName(text.path), endCounts: text.counts };
  const counts = ofText ?? (ledger && { of: "the corpus of its training", endCounts: ledger.endCounts });
  await writeReport(path, {
    title: `Tokenizer ${name}: ${counted(tokens.tokenCount, "token")}`,
    highlights: [
      ...vocabularyHighlights(parts, statistics),
      ...textHighlights(parts, text),
      ...trainingHighlights(parts),
    ],
    warnings: parts.notes,
    summary: summaryOf(rows, allAddedTokens(parts).length),
    tokenizers: [reportTokenizer(name, parts, { counts, ledger })],
    // Of an empty corpus there is no curve.
    compression: whole && {
      baseSize: whole.vocabSize - (ledger!.tokensAfter.length - 1),
      tokensAfter: ledger!.tokensAfter,
    },
    samples:
      text === undefined ? [] : cutSamples(sampleTextsOf(text.inputs), [{ parts, tokens: parts.tokens }]),
    provenance: [
      ["command", command],
      ...(text === undefined ? [] : ([["text", text.path]] as const)),
      ["written", new Date().toISOString()],
      ["bpe", `${build.version}, Bun ${build.bunVersion}, commit ${build.commit}`],
    ],
  });
}

function vocabularyHighlights(
  { tokens, model, description }: TokenizerParts,
  { whitespaceCount, separatorCount, invalidCount }: VocabularyStatistics,
): Highlight[] {
  return [
    {
      name: "vocabulary",
      value: grouped(tokens.tokenCount),
      note: counted(model.merges.merged.length, "merge"),
    },
    { name: "pattern", value: description.patternName ?? "its own" },
    {
      name: "whitespace and separators",
      value: grouped(whitespaceCount + separatorCount),
      note: `${grouped(whitespaceCount)} of whitespace, ${grouped(separatorCount)} such as -----`,
    },
    {
      name: "parts of characters",
      value: percent(invalidCount / Math.max(1, tokens.tokenCount)),
      note: `${counted(invalidCount, "token")} that are not UTF-8; usual: ${usual.notUtf8}`,
    },
  ];
}

function textHighlights(parts: TokenizerParts, text: CountedText | undefined): Highlight[] {
  if (text === undefined) return [];
  const { textBytes, idCount, counts } = text;
  const used = usedCount(counts);
  return [
    {
      name: "bytes per token",
      value: (textBytes / Math.max(1, idCount)).toFixed(3),
      note: `${bytes(textBytes)}, ${counted(idCount, "token")}; usual: ${usual.bytes_per_token}`,
    },
    {
      name: "vocabulary used",
      value: percent(used / Math.max(1, parts.tokens.tokenCount)),
      note: `${counted(used, "token")} in the text; usual: ${usual.vocabulary_utilization}`,
    },
  ];
}

/** What the record of its training says, where there is one. */
function trainingHighlights({ description, model }: TokenizerParts): Highlight[] {
  const facts = recordedLedger(description.path);
  if (facts === null || facts.bytesPerToken === null) return [];
  const { bytesPerToken, half, residueCount } = facts;
  return [
    {
      name: "bytes per token in training",
      value: bytesPerToken.toFixed(3),
      ...(half !== null && { note: `${half.bytesPerToken.toFixed(3)} at half the size` }),
    },
    {
      name: "intermediate tokens",
      value: percent(residueCount / Math.max(1, model.merges.merged.length)),
      note: `${grouped(residueCount)} of the learned tokens; usual: ${usual.intermediates}`,
    },
  ];
}

/** Rows that have a section. Special tokens have one if there are more than a few. */
const withSection = new Set(["longest", "by script", "by bytes"]);
const specialsMax = 3;

/** A row without a name goes on with the one before it. */
function summaryOf(rows: readonly Row[], specialCount: number): Fact[] {
  const summary: [string, string][] = [];
  let group = "";
  for (const [name, whole] of rows) {
    const text = [whole].flat().join(" ");
    if (name !== "") group = name;
    if (text === "" || withSection.has(group)) continue;
    if (group === "special" && name === "" && specialCount > specialsMax) continue;
    summary.push([name, text]);
  }
  return summary;
}
