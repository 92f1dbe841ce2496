import { bytes, counted, grouped, seconds } from "../bytes/quantities.ts";
import {
  addCounts,
  type Evaluation,
  type Measures,
  type NamedTokenizer,
  type TokenCounts,
} from "../evaluation/evaluation.ts";
import type { Evaluated, NamedText } from "../pipeline/evaluate.ts";
import type { Fact, Matrix } from "../report/report-data.ts";
import { build } from "../runtime/version.ts";
import { cutSamples, reportTokenizer, samplesMax, sampleTextOf, writeReport } from "./report-writer.ts";

/** What `bpe eval` compared, and what came out. */
type Comparison = Evaluated & {
  readonly tokenizers: readonly NamedTokenizer[];
  readonly texts: readonly NamedText[];
  readonly specialTokensAsText: boolean;
  readonly command: string;
  readonly elapsedMs: number;
};

/** The report of `bpe eval`: each tokenizer on each text, side by side. */
export async function writeEvalReport(path: string, comparison: Comparison): Promise<void> {
  const { evaluation, tokenizers, texts, tokenCounts, specialTokensAsText } = comparison;
  const of = texts.length === 1 ? texts[0]!.name : "all texts together";
  const cutters = tokenizers.map(({ parts }) => ({ parts, tokens: parts.tokens }));
  const sampled = texts.flatMap(({ name, inputs }) => {
    const text = inputs.map(sampleTextOf).find((text) => text !== null);
    return text == null ? [] : [{ name, bytes: text }];
  });
  await writeReport(path, {
    title: `${counted(tokenizers.length, "tokenizer")} on ${counted(texts.length, "text")}`,
    highlights: evaluation.tokenizers.map(({ name, overall, vocabularySize }) => ({
      name,
      value: `${overall.bytesPerToken?.toFixed(3) ?? "–"} bytes per token`,
      note: `${grouped(vocabularySize)} tokens in the vocabulary, ${grouped(overall.usedTokens)} of them used`,
    })),
    matrix: matrixOf(evaluation),
    tokenizers: tokenizers.map(({ name, parts }, i) =>
      reportTokenizer(name, parts, {
        counts: { of, endCounts: sumOfTexts(tokenCounts[i]!, parts.tokens.idLimit) },
      }),
    ),
    samples: cutSamples(sampled.slice(0, samplesMax), cutters, { specialTokensAsText }),
    provenance: factsOf(comparison),
  });
}

/** How often each token occurs in all texts, by id. */
function sumOfTexts(counts: readonly TokenCounts[], idLimit: number): TokenCounts {
  const sum = new Float64Array(idLimit);
  for (const ofText of counts) addCounts(sum, ofText);
  return sum;
}

/** The measures that the heat maps show; docs/eval.md has the formulas of these and others. */
function matrixOf({ tokenizers, texts }: Evaluation): Matrix {
  const valuesOf = (value: (measures: Measures) => number | null) =>
    tokenizers.map((tokenizer) => tokenizer.texts.map(value));
  return {
    tokenizers: tokenizers.map(({ name }) => name),
    texts: texts.map(({ name }) => name),
    measures: [
      {
        name: "Bytes per token",
        note: "Higher is better.",
        best: "high",
        values: valuesOf((measures) => measures.bytesPerToken),
      },
      {
        name: "Fertility",
        note: "Tokens per word; lower is better.",
        best: "low",
        values: valuesOf((measures) => measures.fertility),
      },
    ],
  };
}

const namesShown = 3;

function factsOf({ evaluation, command, elapsedMs, tokenizers }: Comparison): Fact[] {
  const { texts, wordPattern } = evaluation;
  return [
    ["command", command],
    ...tokenizers.map(
      ({ name, path, parts }) => ["tokenizer", `${name}: ${path} (${parts.description.kind})`] as const,
    ),
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
