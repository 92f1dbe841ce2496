import { grouped } from "../../bytes/quantities.ts";
import type { FullEvaluation, TextFacts } from "../../evaluation/evaluation.ts";
import { ownAndBest, shortTextBytes } from "../../evaluation/finding.ts";
import {
  bestOf,
  type Measure,
  type Measures,
  modelMeasures,
  parityCosts,
  parityMeasures,
  shownValue,
  termMeasures,
  textMeasures,
  vocabularyMeasures,
} from "../../evaluation/measures.ts";
import { shownWords } from "../../evaluation/shown-words.ts";
import { linearAxis, percent } from "../axes.ts";
import type { EvalData } from "../page-data.ts";
import { bar, type Column, dataTable } from "./data-table.ts";
import { type Child, chooser, factList, fold, h, replace, section } from "./dom.ts";
import { type Dot, dotPlot, key, legend } from "./dot-plot.ts";
import { cutText, stackedExcerpts, tokensOf } from "./excerpt-view.ts";
import { signsNote, tokenCode, withSigns } from "./token-text.ts";

/** The view of `bpe eval`: the picture that proves the finding, what both cut differently, one table, and the rest. */
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
      fold("All measures", () => allMeasures(evaluation, names)),
      wordsOf(evaluation, names),
      fold("Vocabularies: scripts, token lengths, longest tokens", () => vocabularies(evaluation, names)),
      tokenizers[0]!.terms.length > 0 && fold("Terms", () => terms(evaluation, names), true),
      texts.length > 1 &&
        tokenizers[0]!.parity !== null &&
        fold("Parity of the texts", () => parity(evaluation, names)),
      evaluation.model !== null && fold("What a model pays", () => modelTable(evaluation, names), true),
      fold("Where this comes from", () => factList(made)),
    ),
  ];
}

/** Bytes per token as dots, a row for each text. */
function picture(evaluation: FullEvaluation): Child {
  const { texts, tokenizers } = evaluation;
  const pair = ownAndBest(evaluation);
  const isNamed = (t: number) => tokenizers.length < 3 || t === pair?.own || t === pair?.best;
  const rows = texts.map(({ name, bytes, trainedBy }, i) => ({
    name,
    note: noteOf(bytes, trainedBy),
    dots: tokenizers.flatMap((of, colour): Dot[] => {
      const value = of.texts[i]!.bytesPerToken;
      const shown = shownDigits(value);
      return value === null ? [] : [{ colour, value, name: of.name, shown, isNamed: isNamed(colour) }];
    }),
  }));
  const values = rows.flatMap(({ dots }) => dots.map(({ value }) => value));
  if (values.length === 0) return null;
  const sized = tokenizers.map(({ name, vocabularySize }) => `${name}, ${grouped(vocabularySize)} tokens`);
  return h(
    "section",
    { id: "picture", "aria-label": "Bytes per token" },
    dotPlot(
      linearAxis("bytes per token; more is better", values),
      rows.filter(({ dots }) => dots.length > 0),
    ),
    tokenizers.length > 1 && legend(sized),
  );
}

const shownDigits = (value: number | null) => value?.toFixed(2) ?? "–";

function noteOf(bytes: number, trainedBy: readonly string[]): string {
  const size = bytes < 1e6 ? `${Number((bytes / 1e3).toPrecision(2))} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
  return [
    size,
    ...(bytes < shortTextBytes ? ["too short"] : []),
    ...(trainedBy.length > 0 ? ["trained on"] : []),
  ].join(", ");
}

function excerptSection(evaluation: FullEvaluation, names: readonly string[]): Child {
  const { excerpts, tokenizers } = evaluation;
  if (tokenizers.length === 1) {
    return section(
      "samples",
      "Texts cut into tokens",
      `Beginnings of texts; each colour is a token. ${signsNote} Its id is under the pointer, or use the arrow keys.`,
      excerpts.map(({ text, content, cuts }) => [
        h("h3", {}, text),
        cutText(tokensOf(new TextEncoder().encode(content), cuts[0]!)),
      ]),
    );
  }
  const changing = names.filter((_, t) => excerpts[0]!.cuts[t] === null);
  const pair = ownAndBest(evaluation);
  return section(
    "differences",
    "The same text, cut by both",
    `Where they differ most, in the first 16 KB of each text. Plain text is cut alike; elsewhere the tokens of one are above those of the other. ${signsNote}${
      changing.length === 0
        ? ""
        : ` Not compared, because they change the texts before they cut them: ${changing.join(", ")}.`
    }`,
    stackedExcerpts(names, excerpts, pair === null ? [0, 1] : [pair.own, pair.best]),
  );
}

/** Says something of this text: measures of words need spaces between them. */
const says = ({ isOfWords }: Measure<never>, texts: readonly TextFacts[]) =>
  !isOfWords || texts.every(({ isSpaced }) => isSpaced);

/** Counts that say what their shares say, and measures that another one says turned over. */
const repeated = new Set([
  "words_per_token",
  "tokens_per_character",
  "continued_words",
  "continued_share",
  "single_token_words",
]);

/** The measures with a value, in the order in which people want them. */
function measuresOf({ texts, tokenizers }: FullEvaluation): Measure<Measures>[] {
  const first = ["bytes_per_token", "tokens", "fertility", "single_token_share"];
  const known = textMeasures.filter(
    (measure) =>
      !repeated.has(measure.key) &&
      texts.some((text) => says(measure, [text])) &&
      tokenizers.some((of) => measure.value(of.overall) !== null),
  );
  const placeOf = ({ key }: Measure<Measures>) =>
    first.indexOf(key) < 0 ? first.length : first.indexOf(key);
  return known.toSorted((a, b) => placeOf(a) - placeOf(b));
}

/** One table: tokenizers down, texts across; the reader chooses the measure. */
function costSection(evaluation: FullEvaluation, names: readonly string[]): Child {
  const measures = measuresOf(evaluation);
  const place = h("div");
  const note = h("p.quiet", { "aria-live": "polite" });
  const show = (measure: Measure<Measures>) => {
    const shown = evaluation.texts.flatMap((text, i) => (says(measure, [text]) ? [i] : []));
    const silent = evaluation.texts.flatMap(({ name }, i) => (shown.includes(i) ? [] : [name]));
    replace(note, [
      `${measure.formula}. ${directionOf(measure)}`,
      silent.length > 0 && ` ${unspacedNote(silent)}`,
    ]);
    replace(place, measureTable(evaluation, names, measure, shown));
  };
  show(measures[0]!);
  const chosen = chooser(
    "measure",
    measures.map(({ name }) => name),
    0,
    (i) => show(measures[i]!),
  );
  return section("measures", "What each costs", null, h("p.choosers", {}, chosen), note, place);
}

const unspacedNote = (names: readonly string[]) =>
  `Not of ${names.join(", ")}: more than half of the characters are of scripts that put no spaces between words.`;

const directionOf = ({ better }: Measure<never>) =>
  better === null
    ? "Neither more nor less is better."
    : `${better === "higher" ? "More" : "Less"} is better; the best of each text is bold.`;

type Indexed = { readonly t: number };

function measureTable(
  { texts, tokenizers }: FullEvaluation,
  names: readonly string[],
  measure: Measure<Measures>,
  shown: readonly number[],
): Child {
  const columns = shown.map((i): Column<Indexed> => {
    const values = tokenizers.map((of) => measure.value(of.texts[i]!));
    const bests = bestOf(measure, values);
    const largest = Math.max(...values.map((value) => value ?? 0), 1e-12);
    const textOf = (t: number) => shownValue(measure, tokenizers[t]!.texts[i]!);
    return {
      head: texts[i]!.name,
      key: ({ t }) => values[t]!,
      isAscending: measure.better === "lower",
      cell: ({ t }) => [
        bests.has(t) ? h("b", {}, textOf(t), h("span.unseen", {}, " best")) : textOf(t),
        tokenizers.length > 1 && values[t] !== null && bar(values[t]! / largest, t),
      ],
    };
  });
  return dataTable<Indexed>({
    label: measure.name,
    columns: [nameColumn(names), sizeColumn(tokenizers), ...columns],
    rows: names.map((_, t) => ({ t })),
  });
}

const nameColumn = (names: readonly string[]): Column<Indexed> => ({
  head: "tokenizer",
  key: ({ t }) => names[t]!,
  isAscending: true,
  cell: ({ t }) => [names.length > 1 && key(t), names[t]],
});

const sizeColumn = (tokenizers: FullEvaluation["tokenizers"]): Column<Indexed> => ({
  head: "vocabulary",
  key: ({ t }) => tokenizers[t]!.vocabularySize,
  cell: ({ t }) => grouped(tokenizers[t]!.vocabularySize),
});

type MeasureRow = { readonly name: string; readonly formula: string; readonly cells: readonly Child[] };

/** A table of measures, tokenizers across. The best of each row is bold. */
function measureRows<Of>(
  label: string,
  list: readonly Measure<Of>[],
  names: readonly string[],
  of: (t: number) => Of,
): Child {
  const rows = list.flatMap((measure): MeasureRow[] => {
    const values = names.map((_, t) => measure.value(of(t)));
    if (values.every((value) => value === null)) return [];
    const bests = bestOf(measure, values);
    const cells = names.map((_, t) => {
      const shown = shownValue(measure, of(t));
      return bests.has(t) ? h("b", {}, shown) : shown;
    });
    return [{ name: measure.name, formula: measure.formula, cells }];
  });
  return dataTable<MeasureRow>({
    label,
    columns: [
      { head: "measure", cell: ({ name, formula }) => [name, h("small", {}, formula)] },
      ...names.map(
        (name, t): Column<MeasureRow> => ({ head: [key(t), name], cell: ({ cells }) => cells[t] }),
      ),
    ],
    rows,
  });
}

/** Every measure of one text, which the reader chooses. */
function allMeasures({ texts, tokenizers }: FullEvaluation, names: readonly string[]): Child {
  const place = h("div");
  const show = (i: number) => {
    const text = texts[i];
    const facts = text === undefined ? texts : [text];
    const list = textMeasures.filter((measure) => says(measure, facts));
    replace(place, [
      text !== undefined &&
        h(
          "p.quiet",
          {},
          `${grouped(text.bytes)} bytes, ${grouped(text.characters)} characters, ${grouped(text.words)} words`,
        ),
      measureRows(
        text?.name ?? "all texts",
        list,
        names,
        (t): Measures => tokenizers[t]!.texts[i] ?? tokenizers[t]!.overall,
      ),
    ]);
  };
  show(0);
  const offered = texts.map(({ name }) => name);
  if (texts.length > 1) offered.push("all texts together, the largest counting most");
  return [texts.length > 1 && h("p.choosers", {}, chooser("text", offered, 0, show)), place];
}

const wordsShown = 10;
const piecesShown = 12;

/** The words that cost each tokenizer most, on texts with spaces between words. */
function wordsOf({ texts, tokenizers }: FullEvaluation, names: readonly string[]): Child {
  const some = texts.flatMap(({ name, isSpaced }, i) =>
    isSpaced && tokenizers.some((of) => of.texts[i]!.dearestWords.length > 0) ? [{ name, i }] : [],
  );
  if (some.length === 0) return null;
  return fold("Costliest words", () => [
    h(
      "p.lead",
      {},
      "The words that take most tokens beyond one for each time they occur: how often they occur, and their tokens.",
    ),
    some.map(({ name, i }) => [
      h("h3", {}, name),
      h(
        "div.columns",
        {},
        tokenizers.map((of, t) =>
          h(
            "div",
            {},
            names.length > 1 && h("h4", {}, key(t), names[t]),
            h("ol.costly", {}, shownWords(of.texts[i]!.dearestWords, wordsShown).map(wordItem)),
          ),
        ),
      ),
    ]),
  ]);
}

type Costly = FullEvaluation["tokenizers"][number]["texts"][number]["dearestWords"][number];

const wordItem = ({ count, tokens, pieces }: Costly) =>
  h(
    "li",
    {},
    h("span.count", {}, `${grouped(count)} × `),
    h(
      "span.pieces",
      { dir: "auto" },
      pieces.slice(0, piecesShown).map((piece) => h("i", {}, withSigns(piece))),
    ),
    (pieces.length > piecesShown || pieces.length < tokens / count) && "…",
  );

function vocabularies({ tokenizers }: FullEvaluation, names: readonly string[]): Child {
  const shares = (kind: string, of: (t: number) => readonly { name: string; tokenCount: number }[]) => {
    const all = names.map((_, t) => of(t));
    const counts = all.map((list) => new Map(list.map(({ name, tokenCount }) => [name, tokenCount])));
    const sums = all.map((list) => list.reduce((sum, { tokenCount }) => sum + tokenCount, 0));
    const shareOf = (t: number, name: string) => (counts[t]!.get(name) ?? 0) / Math.max(1, sums[t]!);
    const rows = [...new Set(all.flatMap((list) => list.map(({ name }) => name)))].map((name) => ({ name }));
    const largest = Math.max(...rows.flatMap(({ name }) => names.map((_, t) => shareOf(t, name))), 1e-9);
    return dataTable<{ name: string }>({
      label: kind,
      columns: [
        { head: kind, cell: ({ name }) => name },
        ...names.map(
          (name, t): Column<{ name: string }> => ({
            head: [key(t), name],
            key: (row) => shareOf(t, row.name),
            cell: (row) => [percent(shareOf(t, row.name)), bar(shareOf(t, row.name) / largest, t)],
          }),
        ),
      ],
      rows,
    });
  };
  return [
    h(
      "p.lead",
      {},
      "Shares of the tokens that are not special, by the script of their first letter or what they hold, and by length.",
    ),
    shares("script", (t) => tokenizers[t]!.scripts),
    shares("bytes", (t) => tokenizers[t]!.lengths),
    measureRows("Vocabularies", vocabularyMeasures, names, (t) => tokenizers[t]!),
    h("h3", {}, "Longest tokens"),
    h(
      "div.columns",
      {},
      tokenizers.map(({ longestTokens }, t) =>
        h(
          "div",
          {},
          h("h4", {}, key(t), names[t]),
          h(
            "ol.plain",
            {},
            longestTokens.map(({ id, bytes, token }) =>
              h(
                "li",
                {},
                tokenCode(withSigns(token)),
                h("span.quiet", {}, ` ${grouped(bytes)} bytes, id ${id}`),
              ),
            ),
          ),
        ),
      ),
    ),
  ];
}

function terms({ tokenizers }: FullEvaluation, names: readonly string[]): Child {
  const [alone, inText] = termMeasures.map(({ formula }) => formula);
  type Term = { readonly i: number; readonly term: string };
  return [
    h("p.lead", {}, `Tokens of each term, ${alone}; after the stroke, ${inText}.`),
    dataTable<Term>({
      label: "Terms",
      columns: [
        { head: "term", key: ({ term }) => term, isAscending: true, cell: ({ term }) => term },
        ...names.map(
          (name, t): Column<Term> => ({
            head: [key(t), name],
            key: ({ i }) => tokenizers[t]!.terms[i]!.tokensBehindSpace,
            isAscending: true,
            cell: ({ i }) =>
              `${tokenizers[t]!.terms[i]!.tokens} / ${tokenizers[t]!.terms[i]!.tokensBehindSpace}`,
          }),
        ),
      ],
      rows: tokenizers[0]!.terms.map(({ term }, i) => ({ term, i })),
      pageRows: 50,
    }),
  ];
}

/** Texts whose characters differ by less than this factor may say the same. */
const parallelFactor = 2;

function parity({ texts, tokenizers }: FullEvaluation, names: readonly string[]): Child {
  const characters = texts.map((text) => text.characters);
  const mayBeParallel = Math.max(...characters) < parallelFactor * Math.min(...characters);
  const costs = parityCosts.filter(
    (cost) => says(cost as never, texts) && (mayBeParallel || cost.name !== "whole text"),
  );
  const [gini, ratio] = parityMeasures as [(typeof parityMeasures)[0], (typeof parityMeasures)[0]];
  const rows = costs.flatMap((cost) =>
    tokenizers.map(({ parity }, t) => ({ t, cost: cost.name, of: cost.of(parity!) })),
  );
  type Row = (typeof rows)[number];
  const text = (head: string, cell: (row: Row) => string): Column<Row> => ({
    head,
    cell,
    key: cell,
    isText: true,
    isAscending: true,
  });
  return [
    h(
      "p.lead",
      {},
      "How alike the texts are in what they cost. A Gini coefficient of 0 is parity; the cost ratio is the costliest text divided by the cheapest.",
    ),
    dataTable<Row>({
      label: "Parity of the texts",
      columns: [
        {
          head: "tokenizer",
          key: ({ t }) => names[t]!,
          isAscending: true,
          cell: ({ t }) => [key(t), names[t]],
        },
        text("tokens", ({ cost }) => cost),
        {
          head: gini.name,
          key: ({ of }) => of.gini,
          isAscending: true,
          cell: ({ of }) => shownValue(gini, of),
        },
        {
          head: ratio.name,
          key: ({ of }) => of.costRatio,
          isAscending: true,
          cell: ({ of }) => shownValue(ratio, of),
        },
        text("cheapest text", ({ of }) => of.cheapestText),
        text("costliest text", ({ of }) => of.costliestText),
      ],
      rows,
    }),
  ];
}

const modelTable = ({ tokenizers, model }: FullEvaluation, names: readonly string[]): Child => [
  h(
    "p.lead",
    {},
    `${grouped(model!.layers)} layers of width ${grouped(model!.d)}, a context of ${grouped(model!.context)} tokens.`,
  ),
  measureRows("Model", modelMeasures, names, (t) => tokenizers[t]!.modelCost!),
];
