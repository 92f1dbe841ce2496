import { countNoun, groupDigits } from "#bytes";
import { type evaluations, findings, measures } from "#evaluation";
import * as axes from "../axes.ts";
import type { EvalData } from "../page-data.ts";
import * as dataTables from "./data-table.ts";
import { type Column, ranks, shareTables, words } from "./data-table.ts";
import { type Child, choice, factList, fold, h, section } from "./dom.ts";
import { type Dot, dotPlot, key, legend } from "./dot-plot.ts";
import { passagesNote, sampleSection, stackedExcerpts, wholeTextNote } from "./excerpt-view.ts";
import { piecesText } from "./token-text.ts";

/** The view of `bpe eval`. */
export function evalView({ evaluation, made }: EvalData): Child {
  const { texts, tokenizers, excerpts } = evaluation;
  const names = tokenizers.map(({ name }) => name);
  return [
    tokenizers.length > 1 || texts.length > 1 ? picture(evaluation) : null,
    excerpts.length === 0 ? null : excerptSection(evaluation, names),
    costSection(evaluation, names),
    h(
      "section.folds",
      { id: "more", "aria-label": "More" },
      wordsOf(evaluation, names),
      fold("Vocabularies: scripts and token lengths", () => vocabularies(evaluation, names)),
      tokenizers[0]!.terms.length > 0 && fold("Terms", () => terms(evaluation, names), true),
      texts.length > 1 &&
        tokenizers[0]!.parity !== null &&
        fold("How evenly the texts are encoded", () => parity(evaluation, names)),
      evaluation.model !== null && fold("What a model pays", () => modelTable(evaluation, names), true),
      fold("Provenance", () => factList(made)),
    ),
  ];
}

/** Bytes per token as dots, one row per text that has tokens. */
function picture(evaluation: evaluations.FullEvaluation): Child {
  const { texts, tokenizers } = evaluation;
  const rows = texts.map((text, i) => ({
    name: text.name,
    note: noteOf(text),
    dots: tokenizers.flatMap((of, colour): Dot[] => {
      const value = of.texts[i]!.bytesPerToken;
      return value === null ? [] : [{ colour, value, name: of.name, shown: value.toFixed(2) }];
    }),
  }));
  const values = rows.flatMap(({ dots }) => dots.map(({ value }) => value));
  if (values.length === 0) return null;
  return h(
    "section",
    { id: "picture", "aria-label": "Bytes per token" },
    dotPlot(
      axes.linearAxis("bytes per token; more is better", values),
      rows.filter(({ dots }) => dots.length > 0),
    ),
    tokenizers.length > 1 &&
      legend(
        tokenizers.map(({ name, path, kind, vocabularySize }) => [
          name,
          h(
            "small",
            ` ${countNoun(vocabularySize, "token")}, ${path.endsWith(kind) ? lastParts(path) : `${kind} in ${lastParts(path)}`}`,
          ),
        ]),
      ),
  );
}

/** Says what a text is: its file or number of files, its size, and why its numbers may be doubtful. */
function noteOf({ inputs, bytes, trainedBy }: evaluations.TextFacts): string {
  const size = bytes < 1e6 ? `${Number((bytes / 1e3).toPrecision(2))} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
  return [
    inputs.length === 1 ? lastPart(inputs[0]!) : countNoun(inputs.length, "file"),
    size,
    ...(bytes < findings.shortTextBytes ? ["too short"] : []),
    ...(trainedBy.length > 0 ? ["trained on"] : []),
  ].join(", ");
}

/** Returns the last two parts of a path. */
const lastParts = (path: string) => path.split("/").slice(-2).join("/");

const lastPart = (path: string) => path.slice(path.lastIndexOf("/") + 1);

function excerptSection(evaluation: evaluations.FullEvaluation, names: readonly string[]): Child {
  const { excerpts, tokenizers } = evaluation;
  if (tokenizers.length === 1) return sampleSection(excerpts);
  const changing = names.filter((_, t) => excerpts[0]!.cuts[t] === null);
  const pair = findings.ownAndBest(evaluation);
  return section(
    "differences",
    "The same text, cut by both",
    `${passagesNote("16 kB in the middle of each text", names.length - changing.length)}${
      changing.length === 0 ? "" : ` Not compared, because they normalize the text: ${changing.join(", ")}.`
    }`,
    stackedExcerpts(names, excerpts, pair === null ? [0, 1] : [pair.own, pair.best], (text, shown) =>
      wholeText(evaluation, text, shown),
    ),
  );
}

function wholeText(
  { tokenizers, texts }: evaluations.FullEvaluation,
  text: string,
  pair: readonly number[],
): Child {
  const i = texts.findIndex(({ name }) => name === text);
  const both = pair.map((t) => tokenizers[t]!);
  return wholeTextNote(
    both.map(({ name }) => name),
    both.map((of) => of.texts[i]!.tokens),
  );
}

/** Whether a measure is meaningful for these texts: measures of words need spaces between words. */
const says = ({ isOfWords }: measures.Measure<never>, texts: readonly evaluations.TextFacts[]) =>
  !isOfWords || texts.every(({ isSpaced }) => isSpaced);

/** Returns the measures that have values, suit some text (`says`) and repeat no other measure, the main ones first. */
function measuresOf({
  texts,
  tokenizers,
}: evaluations.FullEvaluation): measures.Measure<measures.Measures>[] {
  const first = ["bytes_per_token", "tokens", "fertility", "single_token_share"];
  const known = measures.ofText.filter(
    (measure) =>
      !measures.repeatsAnother(measure) &&
      texts.some((text) => says(measure, [text])) &&
      tokenizers.some((of) => measure.value(of.overall) !== null),
  );
  const placeOf = ({ key }: measures.Measure<measures.Measures>) =>
    first.indexOf(key) < 0 ? first.length : first.indexOf(key);
  return known.toSorted((a, b) => placeOf(a) - placeOf(b));
}

/** Returns a table of one measure, which the reader chooses: tokenizers as rows, texts as columns. */
function costSection(evaluation: evaluations.FullEvaluation, names: readonly string[]): Child {
  const measures = measuresOf(evaluation);
  const shown = measures.map(({ name }) => name);
  const table = (i: number) => measureTable(evaluation, names, measures[i]!);
  return section("measures", "Results by text", null, choice("measure", shown, table));
}

function noteOnMeasure(
  measure: measures.Measure<measures.Measures>,
  { texts, tokenizers }: evaluations.FullEvaluation,
): string {
  const { better, formula } = measure;
  const percents = showsTokens(measure) ? "how many more tokens are needed than" : "the distance from";
  const best =
    tokenizers.length > 1 ? `; the best of each text is bold, and a percentage is ${percents} that` : "";
  const silent = texts.flatMap((text) => (says(measure, [text]) ? [] : [text.name]));
  const direction =
    better === null
      ? "Neither direction is better."
      : `${better === "higher" ? "More" : "Less"} is better${best}.`;
  const without = `Not for ${silent.join(", ")}: most characters are in scripts without spaces between words.`;
  return [`${formula}.`, direction, ...(silent.length === 0 ? [] : [without])].join(" ");
}

function measureTable(
  evaluation: evaluations.FullEvaluation,
  names: readonly string[],
  measure: measures.Measure<measures.Measures>,
): Child {
  const { texts, tokenizers } = evaluation;
  const columns = texts.map((text, i): Column<number> => {
    const values = tokenizers.map((of) => measure.value(of.texts[i]!));
    const bests = measures.bestOf(measure, values);
    const best = values[[...bests][0] ?? -1] ?? null;
    const textOf = (t: number) => measures.shownValue(measure, tokenizers[t]!.texts[i]!);
    return {
      head: text.name,
      key: (t) => values[t]!,
      isAscending: measure.better === "lower",
      cell: (t) => [
        bests.has(t) ? h("b", textOf(t), h("span.unseen", " best")) : textOf(t),
        best !== null && !bests.has(t) && h("small", ` ${fromBest(measure, values[t]!, best)}`),
      ],
    };
  });
  const sizes = hasOneSize(tokenizers)
    ? undefined
    : tokenizers.map(({ vocabularySize }) => h("small", `of ${countNoun(vocabularySize, "token")}`));
  return [
    h("p.quiet", noteOnMeasure(measure, evaluation)),
    dataTables.of<number>({
      label: measure.name,
      columns: [
        words(
          "tokenizer",
          (t) => names[t]!,
          (t) => [names.length > 1 && key(t), names[t], sizes?.[t]],
        ),
        ...columns.filter((_, i) => says(measure, [texts[i]!])),
      ],
      rows: [...names.keys()],
    }),
  ];
}

const hasOneSize = (tokenizers: evaluations.FullEvaluation["tokenizers"]) =>
  tokenizers.every(({ vocabularySize }) => vocabularySize === tokenizers[0]!.vocabularySize);

/** Whether the table of a measure shows how many more tokens a tokenizer needs than the best one. */
const showsTokens = ({ key }: measures.Measure<measures.Measures>) => key === "bytes_per_token";

/**
 * Formats how far a value is from the best one, as "−13 %". For bytes per token, formats how many more tokens are
 * needed than with the best tokenizer, as "+15 %".
 */
function fromBest(measure: measures.Measure<measures.Measures>, value: number | null, best: number): string {
  if (value === null || value === 0 || best === 0) return "";
  const percent = 100 * ((showsTokens(measure) ? best / value : value / best) - 1);
  return `${percent < 0 ? "−" : "+"}${Math.abs(percent).toFixed(Math.abs(percent) < 9.95 ? 1 : 0)} %`;
}

/** Returns a table of measures, tokenizers as columns. The best values of a row, if there are any, are bold. */
function measureRows<Of>(
  label: string,
  list: readonly measures.Measure<Of>[],
  names: readonly string[],
  of: (t: number) => Of,
): Child {
  type Row = { readonly measure: measures.Measure<Of>; readonly bests: ReadonlySet<number> };
  const rows = list.flatMap((measure): Row[] => {
    const values = names.map((_, t) => measure.value(of(t)));
    return values.every((value) => value === null)
      ? []
      : [{ measure, bests: measures.bestOf(measure, values) }];
  });
  const columnOf = (name: string, t: number): Column<Row> => ({
    head: [key(t), name],
    cell: ({ measure, bests }) => h(bests.has(t) ? "b" : "span", measures.shownValue(measure, of(t))),
  });
  const first: Column<Row> = {
    head: "measure",
    cell: ({ measure: { name, formula } }) => [name, h("small", formula)],
  };
  return dataTables.of<Row>({ label, columns: [first, ...names.map(columnOf)], rows });
}

/** The costliest words of each tokenizer, for texts with spaces between words. */
function wordsOf({ texts, tokenizers }: evaluations.FullEvaluation, names: readonly string[]): Child {
  const some = texts.flatMap(({ name, isSpaced }, i) =>
    isSpaced && tokenizers.some((of) => of.texts[i]!.costliestWords.length > 0) ? [{ name, i }] : [],
  );
  if (some.length === 0) return null;
  const what = "The words with the most tokens beyond one per occurrence: their counts and their tokens.";
  return fold("Costliest words", () => [
    h("p.lead", what),
    some.map(({ name, i }) => [
      h("h3", name),
      sideBySide(names, (t) => h("ol.plain", tokenizers[t]!.texts[i]!.costliestWords.map(wordItem))),
    ]),
  ]);
}

type Costly = evaluations.FullEvaluation["tokenizers"][number]["texts"][number]["costliestWords"][number];

const wordItem = ({ count, tokens, pieces }: Costly) =>
  h(
    "li",
    h("span.quiet", `${groupDigits(count)} × `),
    piecesText(pieces),
    pieces.length < tokens / count && "…",
  );

const vocabularies = ({ tokenizers }: evaluations.FullEvaluation, names: readonly string[]): Child => [
  shareTables(
    tokenizers,
    names.map((name, t) => [key(t), name]),
  ),
  measureRows("Vocabularies", measures.ofVocabulary, names, (t) => tokenizers[t]!),
];

/** Shows the content that `of` returns for each tokenizer, side by side. */
const sideBySide = (names: readonly string[], of: (t: number) => Child) =>
  h(
    "div.columns",
    names.map((name, t) => h("div", names.length > 1 && h("h4", key(t), name), of(t))),
  );

function terms({ tokenizers }: evaluations.FullEvaluation, names: readonly string[]): Child {
  const [alone, inText] = measures.ofTerms.map(({ formula }) => formula);
  type Term = { readonly i: number; readonly term: string };
  const columnOf = (name: string, t: number): Column<Term> => {
    const of = ({ i }: Term) => tokenizers[t]!.terms[i]!;
    return {
      ...ranks([key(t), name], (term) => of(term).tokensBehindSpace),
      cell: (term) => `${of(term).tokens} / ${of(term).tokensBehindSpace}`,
    };
  };
  return [
    h("p.lead", `Tokens of each term, ${alone}; after the stroke, ${inText}.`),
    dataTables.of<Term>({
      label: "Terms",
      columns: [words("term", ({ term }) => term), ...names.map(columnOf)],
      rows: tokenizers[0]!.terms.map(({ term }, i) => ({ term, i })),
      pageRows: 50,
    }),
  ];
}

function parity({ texts, tokenizers }: evaluations.FullEvaluation, names: readonly string[]): Child {
  const costs = measures.costsOf(texts).filter((cost) => says(cost as never, texts));
  const rows = costs.flatMap((cost) =>
    tokenizers.map(({ parity }, t) => ({ t, cost: cost.name, of: cost.of(parity!) })),
  );
  type Row = (typeof rows)[number];
  const what =
    "A Gini coefficient of 0 is parity; the cost ratio is that of the costliest to the cheapest text.";
  return [
    h("p.lead", what),
    dataTables.of<Row>({
      label: "How evenly the texts are encoded",
      columns: [
        words(
          "tokenizer",
          ({ t }) => names[t]!,
          ({ t }) => [key(t), names[t]],
        ),
        words("tokens", ({ cost }) => cost),
        ...measures.ofParity.map((measure) => ({
          ...ranks(measure.name, ({ of }: Row) => measure.value(of)),
          cell: ({ of }: Row) => measures.shownValue(measure, of),
        })),
        words("cheapest text", ({ of }) => of.cheapestText),
        words("costliest text", ({ of }) => of.costliestText),
      ],
      rows,
    }),
  ];
}

function modelTable({ tokenizers, model }: evaluations.FullEvaluation, names: readonly string[]): Child {
  const { layers, d, context } = model!;
  const shape = `${groupDigits(layers)} layers of width ${groupDigits(d)}, a context of ${groupDigits(context)} tokens.`;
  return [
    h("p.lead", shape),
    measureRows("Model", measures.ofModel, names, (t) => tokenizers[t]!.modelCost!),
  ];
}
