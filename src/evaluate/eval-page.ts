import { countNoun, escapeBytes, formatBytes, formatDay, formatSeconds, groupDigits } from "#bytes";
import { type evaluations, excerpts, findings, vocabularyStatistics } from "#evaluation";
import { type pageData, yardsticks } from "#pages";
import { reports } from "#reports";
import { runSliced } from "#runtime";
import { type TokenizerParts, tokenizers, tokenTables } from "#tokenizer";
import { shownWords } from "./shown-words.ts";

// This file is loaded on demand, for `--json` and `--report`, to keep startup fast.

type Compared = {
  readonly evaluation: evaluations.Evaluation;
  readonly tokenizers: readonly evaluations.NamedTokenizer[];
  readonly texts: readonly evaluations.NamedText[];
  readonly warn: reports.Warn;
};

/** Adds the contents of vocabularies, and excerpts, to an evaluation. */
export async function fullEvaluation({
  evaluation,
  tokenizers,
  texts,
  warn,
}: Compared): Promise<evaluations.FullEvaluation> {
  const details: evaluations.VocabularyDetails[] = [];
  for (const { parts } of tokenizers) details.push(await vocabularyDetails(parts));
  return {
    ...evaluation,
    tokenizers: evaluation.tokenizers.map((tokenizer, t) => ({ ...tokenizer, ...details[t]! })),
    excerpts: excerpts.select(cutPassages({ texts, tokenizers, warn })),
  };
}

const longestShown = 12;

async function vocabularyDetails(parts: TokenizerParts): Promise<evaluations.VocabularyDetails> {
  const { tokens, model } = parts;
  const { scripts, lengths, longestIds } = await runSliced(
    vocabularyStatistics.of(tokens, tokenizers.allAddedTokens(parts), longestShown, model.merges),
  );
  const longestTokens = longestIds.map((id) => {
    const token = tokenTables.bytesOf(tokens, id);
    return { id, bytes: token.length, token: escapeBytes(token) };
  });
  return { scripts, lengths, longestTokens };
}

/** Takes a passage from each of the first texts, and encodes it with each tokenizer. */
export function cutPassages({ texts, tokenizers, warn }: Omit<Compared, "evaluation">) {
  const bytesMax = tokenizers.length > 1 ? reports.searchedBytes : undefined;
  return reports.cutSamples(
    reports.sampleTextsOf(texts, warn, bytesMax),
    tokenizers.map(({ parts }) => reports.cutterOf(parts)),
  );
}

/** Writes the page of `bpe eval`, with the measures of each tokenizer on each text. */
export async function writeEvalPage(
  path: string,
  evaluation: evaluations.FullEvaluation,
  run: { readonly command: string; readonly elapsedMs: number },
): Promise<void> {
  const finding = findings.of(evaluation);
  const title = titleOf(evaluation);
  const text: pageData.PageText = {
    title: finding === null ? title : findings.spell(finding.sentence, evaluation),
    origin: `bpe eval · ${formatDay(new Date())}`,
    finding: reports.phrasesOf(finding?.sentence ?? [title], evaluation.tokenizers),
    more: [
      ...reports.phrasesOf(finding?.more ?? [], evaluation.tokenizers),
      ...(evaluation.tokenizers.length === 1 ? [` ${yardsticks.usual.published}`] : []),
    ],
    cautions: findings.cautionsOf(evaluation),
    table: tableOf(evaluation),
    reading: "Bytes per token: more is better, because the same text is fewer tokens.",
  };
  const shown = withShownParts(evaluation);
  await reports.writePage(path, text, { view: "eval", evaluation: shown, made: factsOf(evaluation, run) });
}

const wordsShown = 10;
const piecesShown = 12;

/** Leaves out words and tokens that the page does not show, because with many texts they are most of its size. */
function withShownParts(evaluation: evaluations.FullEvaluation): evaluations.FullEvaluation {
  const shown = (words: readonly evaluations.CostliestWord[]) =>
    shownWords(words, wordsShown).map((word) => ({ ...word, pieces: word.pieces.slice(0, piecesShown) }));
  return {
    ...evaluation,
    tokenizers: evaluation.tokenizers.map((tokenizer) => ({
      ...tokenizer,
      texts: tokenizer.texts.map((measured, i) => ({
        ...measured,
        costliestWords: evaluation.texts[i]!.isSpaced ? shown(measured.costliestWords) : [],
      })),
    })),
  };
}

const titleOf = ({ tokenizers, texts }: evaluations.FullEvaluation) =>
  `${countNoun(tokenizers.length, "tokenizer")} on ${countNoun(texts.length, "text")}`;

const tableOf = ({ texts, tokenizers }: evaluations.FullEvaluation): pageData.PageText["table"] => ({
  head: ["tokenizer", "vocabulary", ...texts.map(({ name }) => name)],
  rows: tokenizers.map(({ name, vocabularySize, texts: measured }) => [
    name,
    groupDigits(vocabularySize),
    ...measured.map(({ bytesPerToken }) => bytesPerToken?.toFixed(3) ?? "–"),
  ]),
});

const namesShown = 3;

function factsOf(
  { texts, tokenizers, wordPattern }: evaluations.FullEvaluation,
  { command, elapsedMs }: { readonly command: string; readonly elapsedMs: number },
): pageData.Fact[] {
  return [
    ["command", command],
    ...tokenizers.map(({ name, path, kind }) => ["tokenizer", `${name}: ${path} (${kind})`] as const),
    ...texts.map(({ name, inputs, bytes: size, words }) => {
      const more = inputs.length > namesShown ? ` and ${inputs.length - namesShown} more` : "";
      const files = inputs.slice(0, namesShown).join(", ") + more;
      return ["text", `${name}: ${formatBytes(size)}, ${countNoun(words, "word")}, ${files}`] as const;
    }),
    ["words are found by", wordPattern],
    ["time", formatSeconds(elapsedMs / 1000)],
    ...reports.pageFacts(),
  ];
}
