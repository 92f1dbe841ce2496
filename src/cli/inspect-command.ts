import { escapeBytes } from "../bytes/escape.ts";
import { bytes, counted, grouped } from "../bytes/quantities.ts";
import { idMergesPath } from "../formats/id-merges.ts";
import { recordedLedger } from "../formats/training-json.ts";
import { describeLlamaCpp, type PatternName, patterns } from "../pattern/pattern.ts";
import { shellLine } from "../runtime/hints.ts";
import { inTurns } from "../runtime/turns.ts";
import type { AddedToken } from "../text/cutting.ts";
import { tokenBytesOf } from "../tokenizer/token-table.ts";
import { allAddedTokens, type TokenizerParts } from "../tokenizer/tokenizer-parts.ts";
import {
  type Share,
  type VocabularyStatistics,
  vocabularyStatistics,
} from "../tokenizer/vocabulary-statistics.ts";
import type { LedgerFacts } from "../vocabulary/ledger.ts";
import type { Invocation } from "./arguments.ts";
import { type CountedText, countTokens } from "./counted-text.ts";
import { writeLines, writeStdout } from "./data-output.ts";
import { alsoCalled } from "./help.ts";
import { type Line, type Output, type Piece, plain, stylesFor } from "./output.ts";
import { takeReportPlace } from "./report-option.ts";
import { blanksAndRules } from "./token-shapes.ts";
import { openTokenizer, readBesideTokenizer } from "./tokenizer-options.ts";

/** `bpe inspect`: describes a tokenizer; with `--text`, also how it encodes a text. */
export async function runInspect(invocation: Invocation, output: Output): Promise<void> {
  const path = invocation.files[0]!;
  const idMerges = idMergesPath(path);
  if (idMerges !== undefined) return (await import("./ids-command.ts")).runInspectIds(invocation, idMerges);
  const textPath = invocation.options.text("text");
  const reportPath = await takeReportPlace(invocation, output);
  const parts = await openTokenizer({ path, ...readBesideTokenizer(invocation.options) }, true, output);
  const statistics = await inTurns(vocabularyStatistics(parts.tokens, allAddedTokens(parts), longestShown));
  const isJson = invocation.options.has("json");
  if (!isJson) await writeLines(describeTokenizer(parts, statistics));
  const text = textPath === undefined ? undefined : await countTokens(parts, textPath, reportPath, output);
  if (isJson) {
    const inspection = JSON.stringify(inspectionOf(parts, statistics, text), null, 2);
    await writeStdout(`${inspection}\n`);
  } else if (text !== undefined) await writeLines(describeText(parts, text));
  if (reportPath === undefined) return;
  const { writeInspectReport } = await import("./inspect-report.ts");
  await writeInspectReport(reportPath, shellLine(["bpe", "inspect", ...invocation.typed]), parts, text);
}

const row = (name: string, text: string) => `${name.padEnd(14)}${text}`;

const longestShown = 10;
const specialsShown = 20;
const shownBytesMax = 240;

function describeTokenizer(parts: TokenizerParts, statistics: VocabularyStatistics): string[] {
  const { description, tokens, model, normalization, controlTokens = [] } = parts;
  const addedTokens = allAddedTokens(parts);
  const called = alsoCalled(patterns[description.patternName as PatternName] ?? {});
  const { size, idLimit, invalidCount } = statistics;
  const merges = counted(model.merges.merged.length, "merge");
  const specials = addedTokens.toSorted((a, b) => a.id - b.id);
  return [
    row("tokenizer", `${description.path} (${description.kind})`),
    row("size", `${counted(size, "token")}, ids up to ${idLimit - 1}, ${merges}`),
    row("pattern", description.patternName ?? "a regular expression"),
    ...(called === undefined ? [] : [row("", called)]),
    ...description.patternSources.map((source) => row("", source)),
    row("llama.cpp", describeLlamaCpp(description.patternName)),
    ...(normalization === null ? [] : [row("normal form", normalization)]),
    row(
      "special",
      specials.length === 0
        ? "none"
        : counted(specials.length, "token") + (controlTokens.length > 0 ? ", not found in a text" : ""),
    ),
    ...specials.slice(0, specialsShown).map(({ id, content, ...flags }) => {
      const set = Object.entries(flags).filter(([name, value]) => value && name !== "special");
      const shown = `${id} ${content}`;
      return row("", [shown, ...set.map(([name]) => name)].join("  "));
    }),
    ...(specials.length > specialsShown ? [row("", `and ${specials.length - specialsShown} more`)] : []),
    ...statistics.longestIds.map((id, i) =>
      row(i === 0 ? "longest" : "", `${tokenBytesOf(tokens, id).length} bytes  ${id} "${shown(parts, id)}"`),
    ),
    ...(blanksAndRules(statistics) === "" ? [] : [row("blank", blanksAndRules(statistics))]),
    ...table("by script", statistics.scripts, size - addedTokens.length),
    ...table("by bytes", statistics.lengths, size - addedTokens.length),
    row("not UTF-8", `${counted(invalidCount, "token")} with a part of a character`),
  ];
}

function table(name: string, shares: readonly Share[], total: number): string[] {
  return shares
    .filter(({ tokenCount }) => tokenCount > 0)
    .map((share, i) => {
      const percent = `${((100 * share.tokenCount) / Math.max(1, total)).toFixed(1)} %`;
      return row(
        i === 0 ? name : "",
        `${share.name.padEnd(24)}${grouped(share.tokenCount).padStart(9)}${percent.padStart(9)}`,
      );
    });
}

const shown = ({ tokens }: TokenizerParts, id: number) =>
  escapeBytes(tokenBytesOf(tokens, id).subarray(0, shownBytesMax));

/** How a text is encoded: bytes per token, how much of the vocabulary it uses, and its first tokens. */
function describeText(parts: TokenizerParts, text: CountedText): Line[] {
  const { path, textBytes, idCount, counts, sample } = text;
  const usedCount = counts.reduce((sum, count) => sum + Number(count > 0), 0);
  return [
    row("text", `${path}: ${bytes(textBytes)}, ${counted(idCount, "token")}`),
    row("bytes/token", idCount === 0 ? "-" : (textBytes / idCount).toFixed(3)),
    row("used", `${grouped(usedCount)} of ${counted(parts.tokens.tokenCount, "token")}`),
    [row("begins", ""), ...showTokens(sample.map((id) => shown(parts, id)))],
  ];
}

/** Background colours, used in turn, so that the ends of tokens can be seen. */
const backgrounds = [44, 42, 45, 46];

function showTokens(tokens: readonly string[]): Piece[] {
  if (stylesFor(1) === plain) return [tokens.join("|")];
  return tokens.map((text, i) => ({ text, code: `30;${backgrounds[i % backgrounds.length]}` }));
}

/** What `bpe inspect --json` prints: docs/inspection.schema.json. */
type Inspection = {
  readonly format: "bpe-inspection";
  readonly version: 1;
  readonly path: string;
  readonly kind: string;
  /** How many tokens there are, and one more than the largest id. */
  readonly vocabularySize: number;
  readonly idLimit: number;
  readonly mergeCount: number;
  readonly pattern: string | null;
  readonly patternSources: readonly string[];
  readonly normalForm: string | null;
  readonly specialTokens: readonly InspectedSpecial[];
  readonly longestTokens: readonly InspectedToken[];
  readonly blankTokens: number;
  readonly ruleTokens: number;
  readonly scripts: readonly Share[];
  readonly lengths: readonly Share[];
  readonly notUtf8Tokens: number;
  /** What its training said of it; null without a record. */
  readonly training: LedgerFacts | null;
  readonly text: InspectedText | null;
};

/** `isFound`: whether it is found in a text. */
type InspectedSpecial = AddedToken & { readonly isFound: boolean };

/** `token`: escaped as everywhere people read it. */
type InspectedToken = { readonly id: number; readonly bytes: number; readonly token: string };

type InspectedText = {
  readonly path: string;
  readonly bytes: number;
  readonly tokens: number;
  readonly bytesPerToken: number | null;
  readonly usedTokens: number;
  readonly firstTokens: readonly InspectedToken[];
};

function inspectionOf(
  parts: TokenizerParts,
  statistics: VocabularyStatistics,
  text: CountedText | undefined,
): Inspection {
  const { description, model, normalization, controlTokens = [] } = parts;
  const inspected = (id: number): InspectedToken => {
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
    blankTokens: statistics.blankCount,
    ruleTokens: statistics.ruleCount,
    scripts: statistics.scripts,
    lengths: statistics.lengths,
    notUtf8Tokens: statistics.invalidCount,
    training: recordedLedger(description.path),
    text: text === undefined ? null : inspectedText(text, inspected),
  };
}

function inspectedText(
  { path, textBytes, idCount, counts, sample }: CountedText,
  inspected: (id: number) => InspectedToken,
): InspectedText {
  return {
    path,
    bytes: textBytes,
    tokens: idCount,
    bytesPerToken: idCount === 0 ? null : textBytes / idCount,
    usedTokens: counts.reduce((sum, count) => sum + Number(count > 0), 0),
    firstTokens: sample.map(inspected),
  };
}
