import { escapeBytes } from "../bytes/escape.ts";
import { recordedLedger } from "../tokenizer/load/read-training-record.ts";
import { tokenBytesOf } from "../tokenizer/token-table.ts";
import { type AddedToken, allAddedTokens, type TokenizerParts } from "../tokenizer/tokenizer-parts.ts";
import type { Share, VocabularyStatistics } from "../tokenizer/vocabulary-statistics.ts";
import type { LedgerFacts } from "../vocabulary/ledger.ts";
import type { CountedText } from "./counted-text.ts";

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

export function inspectionOf(
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
