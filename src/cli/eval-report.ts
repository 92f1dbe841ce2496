import { bytes, counted, grouped, seconds } from "../bytes/quantities.ts";
import { addCounts, type NamedTokenizer } from "../evaluation/evaluation.ts";
import type { Measures } from "../evaluation/measures.ts";
import type { Evaluated, NamedText } from "../pipeline/evaluate.ts";
import type { Fact } from "../report/report-data.ts";
import { build } from "../runtime/version.ts";
import { overallTables, textTable } from "./evaluation-tables.ts";
import { cutSamples, reportTokenizer, samplesMax, sampleTextOf, writeReport } from "./report-writer.ts";

// Loaded only with `--report`: no other start gets longer.

/** What `bpe eval` compared, and what came out. */
type Comparison = Evaluated & {
  readonly tokenizers: readonly NamedTokenizer[];
  readonly texts: readonly NamedText[];
  readonly command: string;
  readonly elapsedMs: number;
};

/** The report of `bpe eval`: each tokenizer on each text, side by side. */
export async function writeEvalReport(path: string, comparison: Comparison): Promise<void> {
  const { evaluation, tokenizers, texts, tokenCounts } = comparison;
  const of = texts.length === 1 ? texts[0]!.name : "all texts together";
  const countsOf = (tokenizer: number) => {
    const endCounts = new Float64Array(tokenizers[tokenizer]!.parts.tokens.idLimit);
    for (const ofText of tokenCounts[tokenizer]!) addCounts(endCounts, ofText);
    return { of, endCounts };
  };
  const valuesOf = (value: (measures: Measures) => number | null) =>
    evaluation.tokenizers.map((tokenizer) => tokenizer.texts.map(value));
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
    // docs/evaluate.md has the formulas of these measures and of others.
    matrix: {
      tokenizers: tokenizers.map(({ name }) => name),
      texts: texts.map(({ name }) => name),
      measures: [
        {
          name: "Bytes per token",
          note: "Higher is better.",
          best: "high",
          values: valuesOf(({ bytesPerToken }) => bytesPerToken),
        },
        {
          name: "Fertility",
          note: "Tokens per word; lower is better.",
          best: "low",
          values: valuesOf(({ fertility }) => fertility),
        },
        {
          name: "Tokens per character",
          note: "Lower is better.",
          best: "low",
          values: valuesOf(({ tokensPerCharacter }) => tokensPerCharacter),
        },
      ],
    },
    sideBySide: [...(texts.length === 1 ? [textTable(evaluation, 0)] : []), ...overallTables(evaluation)],
    tokenizers: tokenizers.map(({ name, parts }, i) => reportTokenizer(name, parts, { counts: countsOf(i) })),
    samples: cutSamples(sampled.slice(0, samplesMax), cutters),
    provenance: factsOf(comparison),
  });
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
