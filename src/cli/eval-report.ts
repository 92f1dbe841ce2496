import { bytes, counted, seconds } from "../bytes/quantities.ts";
import {
  addCounts,
  type CostliestWord,
  type Evaluation,
  type NamedTokenizer,
  shownWords,
  type TextFacts,
  type TokenizerResult,
} from "../evaluation/evaluation.ts";
import {
  type CostParity,
  type Measure,
  type Measures,
  modelMeasures,
  parityCosts,
  parityMeasures,
  shownValue,
  type TermTokens,
  termMeasures,
  textMeasures,
  type VocabularyFacts,
  vocabularyMeasures,
} from "../evaluation/measures.ts";
import type { ModelCost } from "../evaluation/model-cost.ts";
import type { Evaluated, NamedText } from "../pipeline/evaluate.ts";
import {
  type CostlyWord,
  type Fact,
  type Highlight,
  type MeasureTable,
  type Sample,
  type TextComparison,
  usual,
} from "../report/report-data.ts";
import { bytesOf, differingPassages } from "../report/text-sections.ts";
import { build } from "../runtime/version.ts";
import { findingOf, ownAndBest } from "./eval-text.ts";
import { cutSamples, headBytesMax, reportTokenizer, samplesMax, sampleTextOf } from "./report-writer.ts";
import { writeReport } from "./write-report.ts";

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
  const isCompared = tokenizers.length > 1;
  const cutters = tokenizers.map(({ parts }) => ({ parts, tokens: parts.tokens }));
  const sampled = texts
    .flatMap(({ name, inputs }) => {
      const bytesMax = isCompared ? headBytesMax : undefined;
      const text = inputs.map((input) => sampleTextOf(input, bytesMax)).find((text) => text !== null);
      return text == null ? [] : [{ name, bytes: text }];
    })
    .slice(0, samplesMax);
  const samples = cutSamples(sampled, cutters);
  await writeReport(path, {
    title: `${counted(tokenizers.length, "tokenizer")} on ${counted(texts.length, "text")}`,
    finding: findingOf(evaluation).join("; ") || undefined,
    highlights: isCompared ? [] : highlightsOf(evaluation),
    sizes: evaluation.tokenizers.map(({ vocabularySize }) => vocabularySize),
    measures: measureTables(evaluation),
    measuresNote: unspacedNote(evaluation.texts),
    compared: isCompared ? comparedTexts(comparison, samples) : undefined,
    costliest: evaluation.texts.flatMap(({ name, isSpaced }, i) => {
      const words = evaluation.tokenizers.map(({ texts }) =>
        shownWords(texts[i]!.dearestWords, wordsShown).map(costlyWord),
      );
      return isSpaced ? [{ text: name, words }] : [];
    }),
    tokenizers: tokenizers.map(({ name, parts }, i) => reportTokenizer(name, parts, { counts: countsOf(i) })),
    samples: isCompared ? [] : samples,
    provenance: factsOf(comparison),
  });
}

const wordsShown = 10;
const piecesShown = 12;

const costlyWord = ({ count, tokens, pieces }: CostliestWord): CostlyWord => ({
  count,
  tokens,
  pieces: pieces.slice(0, piecesShown),
  isCut: pieces.length > piecesShown || pieces.length < tokens / count,
});

/** The first numbers that a reader sees of one tokenizer: what it does. */
function highlightsOf({ texts, tokenizers }: Evaluation): Highlight[] {
  const [, ...keys] = essentialKeys;
  return keys.flatMap((key): Highlight[] => {
    const measure = textMeasures.find((measure) => measure.key === key)!;
    const value = measure.value(tokenizers[0]!.overall);
    return value === null || (measure.isOfWords && !texts.every(({ isSpaced }) => isSpaced))
      ? []
      : [
          {
            name: measure.name,
            value: measure.shown(value),
            note: `${measure.formula}; usual: ${usual[key]}`,
          },
        ];
  });
}

/** What is shown at once, bytes per token as dots, too. */
const essentialKeys = [
  "tokens",
  "bytes_per_token",
  "fertility",
  "single_token_share",
  "vocabulary_utilization",
] as const;

/** What another measure says, turned over or without a constant: not in the report. */
const repeatedKeys = new Set(["words_per_token", "tokens_per_character", "continued_share"]);

/** Counts that stand below the shares that are made of them. */
const countOfShare: Record<string, string> = {
  single_token_share: "single_token_words",
  vocabulary_utilization: "used_tokens",
  not_utf8_share: "not_utf8_tokens",
};

/** Why some texts have no measures of words. */
function unspacedNote(texts: readonly TextFacts[]): string | undefined {
  const names = texts.filter(({ isSpaced }) => !isSpaced).map(({ name }) => name);
  if (names.length === 0) return undefined;
  return `No measures of words: ${names.join(", ")}. More than half of the characters are of scripts that put no spaces between words, such as Chinese, Japanese or Thai.`;
}

/** All that `bpe eval` measures. */
function measureTables({ texts, tokenizers }: Evaluation): MeasureTable[] {
  const counts = new Set(Object.values(countOfShare));
  const areSpaced = texts.every(({ isSpaced }) => isSpaced);
  const overall = { isSpaced: areSpaced, of: tokenizers.map(({ overall }) => overall) };
  const all = texts.length > 1 ? [{ name: "all texts together", ...overall }] : [];
  const ofTexts = texts.map(({ name, isSpaced }, i) => ({
    name,
    isSpaced,
    of: tokenizers.map(({ texts }) => texts[i]!),
  }));
  const essential = essentialKeys.map((key) => textMeasures.find((measure) => measure.key === key)!);
  const others = textMeasures.filter(({ key }) => !counts.has(key) && !repeatedKeys.has(key));
  const shares = [...new Set([...essential, ...others])];
  const noteOf = (key: string, of: Measures) => {
    const count = textMeasures.find((measure) => measure.key === countOfShare[key]);
    return count === undefined ? undefined : shownValue(count, of);
  };
  const table = tableOf<Measures>("Texts", shares, [...all, ...ofTexts], noteOf);
  const isEssential = ({ name }: { readonly name: string }) =>
    essential.some((measure) => measure.name === name);
  const tables = [
    {
      ...table,
      shownCount: table.measures.filter(isEssential).length,
      drawn: table.measures.findIndex(({ name }) => name === essential[1]!.name),
    },
    parityTable(tokenizers, areSpaced),
    tableOf<VocabularyFacts>("Vocabularies", vocabularyMeasures, [{ name: "", of: tokenizers }]),
    tableOf<ModelCost>(
      "Model",
      modelMeasures,
      tokenizers[0]!.modelCost === null ? [] : [{ name: "", of: tokenizers.map((of) => of.modelCost!) }],
    ),
    tableOf<TermTokens>(
      "Terms",
      termMeasures,
      tokenizers[0]!.terms.map(({ term }, i) => ({
        name: term,
        of: tokenizers.map(({ terms }) => terms[i]!),
      })),
    ),
  ];
  return tables.filter(({ groups }) => groups.length > 0);
}

/** How alike the texts are: a column for each measure of each cost. */
function parityTable(tokenizers: readonly TokenizerResult[], areSpaced: boolean): MeasureTable {
  const costs = parityCosts.filter(({ isOfWords }) => areSpaced || !isOfWords);
  const ofCosts = costs.map((cost) =>
    tableOf<CostParity>(
      cost.name,
      parityMeasures,
      [{ name: "", of: tokenizers.flatMap(({ parity }) => (parity === null ? [] : [cost.of(parity)])) }],
      (key, of) => (key === "cost_ratio" ? `${of.cheapestText} to ${of.costliestText}` : undefined),
    ),
  );
  const hasParity = tokenizers.every(({ parity }) => parity !== null);
  return {
    title: "Parity of the texts",
    measures: ofCosts.flatMap(({ title, measures }) =>
      measures.map((measure) => ({ ...measure, name: `${measure.name} ${title}` })),
    ),
    groups: hasParity
      ? [{ name: "", cells: tokenizers.map((_, t) => ofCosts.flatMap(({ groups }) => groups[0]!.cells[t]!)) }]
      : [],
  };
}

/** A table of those measures that have a value. `noteOf`: what stands below it. */
function tableOf<Of>(
  title: string,
  list: readonly Measure<Of>[],
  groups: readonly { readonly name: string; readonly isSpaced?: boolean; readonly of: readonly Of[] }[],
  noteOf: (key: string, of: Of) => string | undefined = () => undefined,
): MeasureTable {
  const isSaid = ({ isOfWords, value }: Measure<Of>, isSpaced = true, one: Of) =>
    value(one) !== null && (isSpaced || !isOfWords);
  const measures = list.filter((measure) =>
    groups.some(({ isSpaced, of }) => of.some((one) => isSaid(measure, isSpaced, one))),
  );
  return {
    title,
    measures,
    groups: groups.map(({ name, isSpaced, of }) => ({
      name,
      cells: of.map((one) =>
        measures.map((measure) =>
          isSaid(measure, isSpaced, one)
            ? { value: measure.value(one), shown: shownValue(measure, one), note: noteOf(measure.key, one) }
            : { value: null, shown: "-" },
        ),
      ),
    })),
  };
}

/** The texts as those tokenizers cut them that leave their bytes as they are, or change them in the same way. */
function comparedTexts(
  { tokenizers, texts, evaluation }: Comparison,
  samples: readonly Sample[],
): TextComparison {
  const written = tokenizers.map((_, t) =>
    Bun.hash(Buffer.concat(samples.map(({ cuts }) => bytesOf(cuts[t]!)))).toString(),
  );
  const groups = [...Map.groupBy(written.keys(), (t) => written[t]!).values()];
  const alike = groups.reduce((a, b) => (b.length > a.length ? b : a));
  // Those of the finding, if they are among them.
  const found = ownAndBest(evaluation)?.map((one) => alike.indexOf(evaluation.tokenizers.indexOf(one)));
  const [above = 0, below = 1] = found?.includes(-1) ? [] : (found ?? []);
  return {
    pair: [above, below],
    textCount: texts.length,
    tokenizers: alike.map((index) => ({ index, name: tokenizers[index]!.name })),
    texts: samples.map(({ name, cuts }) => ({
      name,
      passages: alike.length < 2 ? [] : differingPassages(alike.map((t) => cuts[t]!)),
    })),
    unlike: tokenizers.flatMap(({ name }, t) => (alike.includes(t) ? [] : [name])),
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
