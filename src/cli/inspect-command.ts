import { escapeBytes } from "../bytes/escape.ts";
import { bytes, counted, grouped } from "../bytes/quantities.ts";
import { findInputs } from "../corpus/find-inputs.ts";
import { inspectFirstStream } from "../corpus/inspect-input.ts";
import { ratio, usedCount } from "../evaluation/evaluation.ts";
import { recordedLedger, recordedReading } from "../formats/training-json.ts";
import { describeLlamaCpp, type PatternName, patterns } from "../pattern/pattern.ts";
import { shellLine } from "../runtime/hints.ts";
import { inTurns } from "../runtime/turns.ts";
import { tokenBytesOf } from "../tokenizer/token-table.ts";
import { allAddedTokens, type TokenizerParts } from "../tokenizer/tokenizer-parts.ts";
import {
  type Share,
  type VocabularyStatistics,
  vocabularyStatistics,
} from "../tokenizer/vocabulary-statistics.ts";
import type { Invocation } from "./arguments.ts";
import { type CountedText, countTokensOf } from "./counted-text.ts";
import { writeLines, writeStdout } from "./data-output.ts";
import { alsoCalled } from "./help.ts";
import { type Line, lineColumns, type Output, type Piece, plain, stylesFor } from "./output.ts";
import { takeReportPlace, writtenLine } from "./report-option.ts";
import { type Row, rowLines, usualColumns, widthOf } from "./summary-rows.ts";
import { openTokenizer, readBesideTokenizer } from "./tokenizer-options.ts";
import { whitespaceAndSeparators } from "./train-summary.ts";

/** `bpe inspect`: describes a tokenizer; with `--text`, also how it encodes a text. */
export async function runInspect(invocation: Invocation, output: Output): Promise<void> {
  const path = invocation.files[0]!;
  const textPath = invocation.options.text("text");
  const reportPath = await takeReportPlace(invocation, output);
  const parts = await openTokenizer({ path, ...readBesideTokenizer(invocation.options) }, true, output);
  const statistics = await inTurns(
    vocabularyStatistics(parts.tokens, allAddedTokens(parts), longestShown, parts.model.merges),
  );
  const isJson = invocation.options.has("json");
  if (!isJson) await writeLines(describeTokenizer(parts, statistics));
  const text = textPath === undefined ? undefined : await countTokens(parts, textPath, output);
  if (isJson) {
    const inspection = JSON.stringify(inspectionOf(parts, statistics, text), null, 2);
    await writeStdout(`${inspection}\n`);
  } else if (text !== undefined) await writeLines(describeText(parts, text));
  if (reportPath === undefined) return;
  const { writeInspectReport } = await import("./inspect-report.ts");
  const command = shellLine(["bpe", "inspect", ...invocation.typed]);
  await writeInspectReport(reportPath, {
    command,
    parts,
    rows: tokenizerRows(parts, statistics),
    statistics,
    text,
  });
  output.succeed(writtenLine(reportPath), {});
}

/** Encodes a text, and counts its tokens. */
export async function countTokens(parts: TokenizerParts, path: string, output: Output): Promise<CountedText> {
  const options = { trained: recordedReading([parts.description.path]) };
  const inputs = await inspectFirstStream(findInputs([path], options), options);
  output.keepOutputsFrom(inputs);
  return countTokensOf(parts, { path, inputs }, output);
}

const nameColumns = 14;

const longestShown = 10;
const specialsShown = 20;
const shownBytesMax = 240;

const describeTokenizer = (parts: TokenizerParts, statistics: VocabularyStatistics) =>
  rowLines(tokenizerRows(parts, statistics), lineColumns(1), nameColumns);

function tokenizerRows(parts: TokenizerParts, statistics: VocabularyStatistics): Row[] {
  const { description, tokens, model, normalization, controlTokens = [] } = parts;
  const addedTokens = allAddedTokens(parts);
  const called = alsoCalled(patterns[description.patternName as PatternName] ?? {});
  const { size, idLimit, invalidCount } = statistics;
  const merges = counted(model.merges.merged.length, "merge");
  const specials = addedTokens.toSorted((a, b) => a.id - b.id);
  const notFound = controlTokens.length > 0 ? ", not found in a text" : "";
  return [
    ["tokenizer", `${description.path} (${description.kind})`],
    ["size", `${counted(size, "token")}, ids up to ${idLimit - 1}, ${merges}`],
    ["pattern", description.patternName ?? "a regular expression"],
    ["", called ?? ""],
    // Whole, as whoever copies it needs it.
    ...description.patternSources.map((source): Row => ["", [source]]),
    ["llama.cpp", describeLlamaCpp(description.patternName)],
    ["normal form", normalization ?? ""],
    ["special", specials.length === 0 ? "none" : counted(specials.length, "token") + notFound],
    ...specials.slice(0, specialsShown).map(({ id, content, ...flags }): Row => {
      const set = Object.entries(flags).filter(([name, value]) => value && name !== "special");
      return ["", [[`${id} ${content}`, ...set.map(([name]) => name)].join("  ")]];
    }),
    ["", specials.length > specialsShown ? `and ${specials.length - specialsShown} more` : ""],
    ...statistics.longestIds.map((id, i): Row => {
      const { length } = tokenBytesOf(tokens, id);
      return [i === 0 ? "longest" : "", [`${length} bytes  ${id} "${shown(parts, id)}"`]];
    }),
    ["whitespace", whitespaceAndSeparators(statistics)],
    ...shareRows("by script", statistics.scripts, size - addedTokens.length),
    ...shareRows("by bytes", statistics.lengths, size - addedTokens.length),
    ["not UTF-8", `${counted(invalidCount, "token")} with a part of a character`],
  ];
}

const shareRows = (name: string, shares: readonly Share[], total: number): Row[] =>
  shares
    .filter(({ tokenCount }) => tokenCount > 0)
    .map((share, i) => {
      const percent = `${((100 * share.tokenCount) / Math.max(1, total)).toFixed(1)} %`;
      const numbers = grouped(share.tokenCount).padStart(9) + percent.padStart(9);
      return [i === 0 ? name : "", share.name.padEnd(24) + numbers];
    });

const shown = ({ tokens }: TokenizerParts, id: number) =>
  escapeBytes(tokenBytesOf(tokens, id).subarray(0, shownBytesMax));

/** How a text is encoded: bytes per token, how much of the vocabulary it uses, and its first tokens. */
function describeText(parts: TokenizerParts, text: CountedText): Line[] {
  const { path, textBytes, idCount, counts, sample } = text;
  const rows: Row[] = [
    ["text", `${path}: ${bytes(textBytes)}, ${counted(idCount, "token")}`],
    ["bytes/token", idCount === 0 ? "-" : (textBytes / idCount).toFixed(3)],
    ["used", `${grouped(usedCount(counts))} of ${counted(parts.tokens.tokenCount, "token")}`],
  ];
  const begins = showTokens(firstOf(sample.map((id) => shown(parts, id))));
  return [...rowLines(rows, lineColumns(1), nameColumns), ["begins".padEnd(nameColumns), ...begins]];
}

/** Three lines of a usual terminal. `--json` and the report have more. */
const beginsColumns = 3 * usualColumns - nameColumns;

/** The first tokens of a text, as many as are shown; each stands beside a line between two. */
function firstOf(tokens: readonly string[]): readonly string[] {
  let used = 0;
  const end = tokens.findIndex((token) => {
    used += widthOf(token) + 1;
    return used > beginsColumns;
  });
  return end < 0 ? tokens : tokens.slice(0, Math.max(1, end));
}

/** Background colours, used in turn, so that the ends of tokens can be seen. */
const backgrounds = [44, 42, 45, 46];

function showTokens(tokens: readonly string[]): Piece[] {
  if (stylesFor(1) === plain) return [tokens.join("|")];
  return tokens.map((text, i) => ({ text, code: `30;${backgrounds[i % backgrounds.length]}` }));
}

/** What `bpe inspect --json` prints: docs/inspection.schema.json. */
function inspectionOf(
  parts: TokenizerParts,
  statistics: VocabularyStatistics,
  text: CountedText | undefined,
) {
  const { description, model, normalization, controlTokens = [] } = parts;
  const inspected = (id: number) => {
    const bytes = tokenBytesOf(parts.tokens, id);
    return { id, bytes: bytes.length, token: escapeBytes(bytes) };
  };
  const control = new Set(controlTokens);
  return {
    format: "bpe-inspection",
    version: 1,
    path: description.path,
    kind: description.kind,
    vocabularySize: statistics.size,
    idLimit: statistics.idLimit,
    mergeCount: model.merges.merged.length,
    pattern: description.patternName,
    patternSources: description.patternSources,
    normalForm: normalization,
    specialTokens: allAddedTokens(parts)
      .map((token) => ({ ...token, isFound: !control.has(token) }))
      .sort((a, b) => a.id - b.id),
    longestTokens: statistics.longestIds.map(inspected),
    // These two keys are older than the words.
    blankTokens: statistics.whitespaceCount,
    ruleTokens: statistics.separatorCount,
    scripts: statistics.scripts,
    lengths: statistics.lengths,
    notUtf8Tokens: statistics.invalidCount,
    // Null without a record.
    training: recordedLedger(description.path),
    text:
      text === undefined
        ? null
        : {
            path: text.path,
            bytes: text.textBytes,
            tokens: text.idCount,
            bytesPerToken: ratio(text.textBytes, text.idCount),
            usedTokens: usedCount(text.counts),
            firstTokens: text.sample.map(inspected),
          },
  };
}
