import { alphas, type Evaluation, type Measures, type TextFacts } from "../evaluation/evaluation.ts";

/** The name of the rows of all texts together. */
const allTexts = "(all)";

type Row = {
  readonly tokenizer: string;
  readonly text: string;
  readonly vocabularySize: number;
  readonly facts: Pick<TextFacts, "bytes" | "characters" | "words">;
  readonly measures: Measures;
};

const columns: readonly (readonly [name: string, value: (row: Row) => string | number | null])[] = [
  ["tokenizer", ({ tokenizer }) => tokenizer],
  ["text", ({ text }) => text],
  ["vocabulary_size", ({ vocabularySize }) => vocabularySize],
  ["bytes", ({ facts }) => facts.bytes],
  ["characters", ({ facts }) => facts.characters],
  ["words", ({ facts }) => facts.words],
  ["tokens", ({ measures }) => measures.tokens],
  ["bytes_per_token", ({ measures }) => measures.bytesPerToken],
  ["characters_per_token", ({ measures }) => measures.charactersPerToken],
  ["words_per_token", ({ measures }) => measures.wordsPerToken],
  ["fertility", ({ measures }) => measures.fertility],
  ["single_token_words", ({ measures }) => measures.singleTokenWords],
  ["single_token_share", ({ measures }) => measures.singleTokenShare],
  ["continued_words", ({ measures }) => measures.continuedWords],
  ["continued_share", ({ measures }) => measures.continuedShare],
  ["used_tokens", ({ measures }) => measures.usedTokens],
  ["vocabulary_utilization", ({ measures }) => measures.vocabularyUtilization],
  ...alphas.flatMap((alpha, i) => [
    [`renyi_entropy_${alpha}`, ({ measures }: Row) => measures.renyi[i]!.entropy] as const,
    [`renyi_efficiency_${alpha}`, ({ measures }: Row) => measures.renyi[i]!.efficiency] as const,
  ]),
  ["not_utf8_tokens", ({ measures }) => measures.notUtf8Tokens],
  ["not_utf8_share", ({ measures }) => measures.notUtf8Share],
];

/** One row for each tokenizer and text, and one for all texts of a tokenizer; numbers with all their digits. */
export function evaluationCsv({ texts, tokenizers }: Evaluation): string {
  const sumOf = (field: "bytes" | "characters" | "words") =>
    texts.reduce((sum, text) => sum + text[field], 0);
  const all = { bytes: sumOf("bytes"), characters: sumOf("characters"), words: sumOf("words") };
  const rows = tokenizers.flatMap(({ name: tokenizer, vocabularySize, texts: measured, overall }): Row[] => [
    ...measured.map((measures, i) => ({
      tokenizer,
      text: measures.text,
      vocabularySize,
      facts: texts[i]!,
      measures,
    })),
    { tokenizer, text: allTexts, vocabularySize, facts: all, measures: overall },
  ]);
  const lines = [columns.map(([name]) => name), ...rows.map((row) => columns.map(([, value]) => value(row)))];
  return lines.map((cells) => `${cells.map(cell).join(",")}\n`).join("");
}

/** As RFC 4180 has it: quoted where it must be. */
function cell(value: string | number | null): string {
  const text = value === null ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
