import { escapeBytes } from "../bytes/escape.ts";
import { bytes, counted, dayOf, grouped, seconds } from "../bytes/quantities.ts";
import type {
  Evaluation,
  FullEvaluation,
  NamedText,
  NamedTokenizer,
  VocabularyDetails,
} from "../evaluation/evaluation.ts";
import { excerptsOf } from "../evaluation/excerpts.ts";
import { cautionsOf, type FindingPart, findingOf, spelled } from "../evaluation/finding.ts";
import type { Fact } from "../pages/page-data.ts";
import { type PageText, type Phrase, pageFile } from "../pages/page-file.ts";
import { inTurns } from "../runtime/turns.ts";
import { build } from "../runtime/version.ts";
import { tokenBytesOf } from "../tokenizer/token-table.ts";
import { allAddedTokens, type TokenizerParts } from "../tokenizer/tokenizer-parts.ts";
import { vocabularyStatistics } from "../tokenizer/vocabulary-statistics.ts";
import { writeChunks } from "./data-output.ts";
import { readPageTemplate } from "./embedded-pages.ts";
import { cutSamples, headBytesMax, samplesMax, sampleTextOf } from "./report-writer.ts";

// Loaded only with `--json` and `--report`: no other start gets longer.

type Compared = {
  readonly evaluation: Evaluation;
  readonly tokenizers: readonly NamedTokenizer[];
  readonly texts: readonly NamedText[];
};

/** Adds to an evaluation what each vocabulary holds, and where the tokenizers cut the texts differently. */
export async function fullEvaluation({ evaluation, tokenizers, texts }: Compared): Promise<FullEvaluation> {
  const details: VocabularyDetails[] = [];
  for (const { parts } of tokenizers) details.push(await vocabularyDetails(parts));
  return {
    ...evaluation,
    tokenizers: evaluation.tokenizers.map((tokenizer, t) => ({ ...tokenizer, ...details[t]! })),
    excerpts: excerptsOf(cutBeginnings(texts, tokenizers)),
  };
}

const longestShown = 12;

async function vocabularyDetails(parts: TokenizerParts): Promise<VocabularyDetails> {
  const { tokens, model } = parts;
  const { scripts, lengths, longestIds } = await inTurns(
    vocabularyStatistics(tokens, allAddedTokens(parts), longestShown, model.merges),
  );
  const longestTokens = longestIds.map((id) => {
    const token = tokenBytesOf(tokens, id);
    return { id, bytes: token.length, token: escapeBytes(token) };
  });
  return { scripts, lengths, longestTokens };
}

/** How each tokenizer cuts the beginning of each of the first texts. */
export function cutBeginnings(texts: readonly NamedText[], tokenizers: readonly NamedTokenizer[]) {
  const bytesMax = tokenizers.length > 1 ? headBytesMax : undefined;
  const sampled = texts.flatMap(({ name, inputs }) => {
    const text = inputs.map((input) => sampleTextOf(input, bytesMax)).find((text) => text !== null);
    return text == null ? [] : [{ name, bytes: text }];
  });
  const cutters = tokenizers.map(({ parts }) => ({ parts, tokens: parts.tokens }));
  return cutSamples(sampled.slice(0, samplesMax), cutters);
}

/** Writes the page of `bpe eval`: each tokenizer on each text, side by side. */
export async function writeEvalPage(
  path: string,
  evaluation: FullEvaluation,
  run: { readonly command: string; readonly elapsedMs: number },
): Promise<void> {
  const finding = findingOf(evaluation);
  const phrases = (parts: readonly FindingPart[] = []): Phrase[] =>
    parts.map((part) =>
      typeof part === "string" ? part : { text: evaluation.tokenizers[part]!.name, colour: part },
    );
  const title = titleOf(evaluation);
  const text: PageText = {
    title: finding === null ? title : spelled(finding.sentence, evaluation),
    origin: `bpe eval · ${dayOf(new Date())}`,
    finding: finding === null ? [title] : phrases(finding.sentence),
    more: phrases(finding?.more),
    cautions: cautionsOf(evaluation),
    table: tableOf(evaluation),
    reading: "Bytes per token: more is better, because the same text is fewer tokens.",
  };
  const made = factsOf(evaluation, run);
  const page = pageFile(readPageTemplate(), text, { view: "eval", evaluation, made });
  await writeChunks(path, [new TextEncoder().encode(page)]);
}

const titleOf = ({ tokenizers, texts }: FullEvaluation) =>
  `${counted(tokenizers.length, "tokenizer")} on ${counted(texts.length, "text")}`;

const tableOf = ({ texts, tokenizers }: FullEvaluation): PageText["table"] => ({
  head: ["tokenizer", "vocabulary", ...texts.map(({ name }) => name)],
  rows: tokenizers.map(({ name, vocabularySize, texts: measured }) => [
    name,
    grouped(vocabularySize),
    ...measured.map(({ bytesPerToken }) => bytesPerToken?.toFixed(3) ?? "–"),
  ]),
});

const namesShown = 3;

function factsOf(
  { texts, tokenizers, wordPattern }: FullEvaluation,
  { command, elapsedMs }: { readonly command: string; readonly elapsedMs: number },
): Fact[] {
  return [
    ["command", command],
    ...tokenizers.map(({ name, path, kind }) => ["tokenizer", `${name}: ${path} (${kind})`] as const),
    ...texts.map(({ name, inputs, bytes: size, words }) => {
      const more = inputs.length > namesShown ? ` and ${inputs.length - namesShown} more` : "";
      const files = inputs.slice(0, namesShown).join(", ") + more;
      return ["text", `${name}: ${bytes(size)}, ${counted(words, "word")}, ${files}`] as const;
    }),
    ["words are found by", wordPattern],
    ["time", seconds(elapsedMs / 1000)],
    ["written", new Date().toISOString()],
    ["bpe", `${build.version}, Bun ${build.bunVersion}, commit ${build.commit}`],
  ];
}
