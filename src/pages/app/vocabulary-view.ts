import { countNoun, formatBytes, groupDigits } from "#bytes";
import { vocabularyStatistics } from "#evaluation";
import type { trainingRecords } from "#formats";
import { runToEnd } from "#runtime";
import type { AddedToken } from "#text";
import * as axes from "../axes.ts";
import type { Curve, CurvePoint } from "../compression-curve.ts";
import * as curves from "../compression-curve.ts";
import type { VocabularyData } from "../page-data.ts";
import * as signs from "../signs.ts";
import type { Token } from "../unpacked.ts";
import * as unpacked from "../unpacked.ts";
import * as yardsticks from "../yardsticks.ts";
import { curveChart } from "./curve-chart.ts";
import * as dataTables from "./data-table.ts";
import { type Column, numbers, ranks, shareTables, words } from "./data-table.ts";
import { append, type Child, factList, fold, h, section } from "./dom.ts";
import { sampleSection } from "./excerpt-view.ts";
import { shownToken, tokenLink, treeSection } from "./merge-tree.ts";
import { firstShown, type Observation, observationsOf } from "./observations.ts";
import { tokenCode } from "./token-text.ts";

export async function vocabularyView(main: HTMLElement, data: VocabularyData): Promise<void> {
  const { curve, vocabulary: packed, textName, excerpts } = data;
  const vocabulary = await unpacked.unpack(packed);
  // Each token once, unlike in `vocabulary.merged`: some files list several pairs for a token.
  const learned = vocabulary.tokens.filter(({ rank }) => rank !== undefined);
  const observations = observationsOf({ learned, lastPairCount: packed.lastPairCount });
  const first = firstShown(learned, vocabulary.tokens);
  const counted = learned.some(({ created }) => created !== null)
    ? "; the number is how often it occurred when it was made, and of a single byte, how often it is in the text"
    : "";
  append(main, [
    h("div.columns", curve !== null && curvePicture(curve), observationSection(observations)),
    treeSection({
      vocabulary,
      first,
      title: "Where does this token come from?",
      text: `Each token is above the two that were merged into it${counted}. Search by text, or by id as #300. Click a part for its own tree.`,
      facts: (token) => factsOf(token, textName),
      hasHalves: true,
    }).element,
    excerpts.length > 0 && sampleSection(excerpts),
    h("section.folds", { id: "more", "aria-label": "More" }, folds(data, vocabulary)),
  ]);
}

const curvePicture = (curve: Curve) =>
  h(
    "section",
    { id: "curve", "aria-label": "Bytes per token" },
    curveChart(curve, "the training corpus"),
    sizeTable(curve),
    curve.doubled !== null && h("p.quiet", axes.unbroken(curves.sizeRule)),
  );

/** A table of smaller sizes, the chosen size, and an estimate for twice the chosen size, if there is one. */
function sizeTable({ points, table, doubled, smallerSizes }: Curve): HTMLElement {
  const chosen = points.at(-1)!.bytesPerToken;
  const noteOf = (point: CurvePoint) =>
    point === doubled ? " (estimate)" : smallerSizes.includes(point.size) ? " (also written)" : "";
  return dataTables.of<CurvePoint>({
    label: "Bytes per token by size of the vocabulary",
    columns: [
      { head: "tokens", cell: (point) => `${groupDigits(point.size)}${noteOf(point)}` },
      { head: "bytes per token", cell: ({ bytesPerToken }) => bytesPerToken.toFixed(3) },
      { head: "tokens needed", cell: ({ bytesPerToken }) => changeText(chosen / bytesPerToken) },
    ],
    rows: doubled === null ? table : [...table, doubled],
  });
}

/** Formats how many more or fewer tokens the text has at this vocabulary size than at the chosen one: "+4.8 %". */
function changeText(share: number): string {
  if (share === 1) return "this tokenizer";
  const percent = 100 * Math.abs(share - 1);
  return `${share > 1 ? "+" : "−"}${percent.toFixed(percent < 9.95 ? 1 : 0)} %`;
}

const observationSection = (observations: readonly Observation[]) =>
  section(
    "look",
    "What is odd in this vocabulary",
    verdictOn(observations),
    h(
      "ul.look",
      observations.map(({ what, why, token, figure, usual, isOdd }) => {
        const reason = [axes.unbroken(why), " ", token !== undefined && tokenLink(token, shownRun(token))];
        const isUsual = !isOdd && usual !== "";
        const text = !isUsual
          ? [h("b", what), " ", reason]
          : h("details", h("summary", what), h("p", reason));
        return h(
          isOdd ? "li.odd" : "li",
          h("div", text),
          h("div", h("b", figure), h("small", axes.unbroken(usual))),
        );
      }),
    ),
  );

/** Returns a token as it is displayed; a run of 4 to 256 equal bytes is displayed as "- × 72". */
function shownRun(token: Token): string {
  const bytes = unpacked.bytesOf(token);
  const isRun = bytes.length > 3 && bytes.length === token.length && bytes.every((byte) => byte === bytes[0]);
  return isRun
    ? `${signs.tokenText(bytes.subarray(0, 1))} × ${groupDigits(token.length)}`
    : shownToken(token);
}

function verdictOn(observations: readonly Observation[]): Child {
  const judged = observations.filter(({ usual }) => usual !== "");
  if (observations.length === 0) return "Nothing that these checks look for.";
  if (judged.length === 0) return "Shares of the learned tokens, which are too few to say what is usual.";
  const odd = judged.filter(({ isOdd }) => isOdd).length;
  const usual = ` Usual is what ${yardsticks.comparedWith} have at this size.`;
  if (odd === 0)
    return [
      h("b.verdict", "Nothing is odd."),
      ` Each share of the learned tokens is within the usual.${usual}`,
    ];
  return `${odd} of ${countNoun(judged.length, "finding")} ${odd === 1 ? "is" : "are"} more than the usual.${usual}`;
}

function factsOf({ id, length, rank, created, end, inText }: Token, textName: string | null): string {
  const first = rank === undefined ? "" : " when it was made";
  const last = end === null || end === created ? [] : [`${signs.timesOf(end)} at the end`];
  return [
    ...(created === null
      ? []
      : [`${signs.timesOf(created)} in the training text${last.length > 0 ? first : ""}`]),
    ...last,
    ...(inText !== null ? [`${signs.timesOf(inText)} in ${textName ?? "the text"}`] : []),
    `id ${groupDigits(id)}`,
    countNoun(length, "byte"),
    rank === undefined ? "not merged" : `merge ${groupDigits(rank + 1)}`,
  ].join(", ");
}

function folds(data: VocabularyData, vocabulary: unpacked.Vocabulary): Child {
  const { record, addedTokens, textName, summary, made } = data;
  const title = `All ${groupDigits(vocabulary.tokens.length)} tokens: merges in order, the longest, the most frequent`;
  return [
    fold(title, () => tokenTable(vocabulary, textName)),
    fold("Scripts and token lengths", () => shares(vocabulary, addedTokens)),
    addedTokens.length > 0 && fold("Special tokens", () => specials(addedTokens)),
    record !== undefined && inputsFold(record),
    (record?.languages?.length ?? 0) > 0 && fold("Languages", () => languages(record!.languages!)),
    summary.length > 0 && fold("Summary", () => factList(summary)),
    fold("Provenance", () => factList(made)),
  ];
}

const pageRows = 20;

/** Selects the columns in which some row has a value. */
const known = <Row>(rows: readonly Row[], columns: readonly Column<Row>[]) =>
  columns.filter(({ key }) => rows.some((row) => key!(row) !== null));

/** A table of all tokens, initially in merge order. */
function tokenTable({ tokens }: unpacked.Vocabulary, textName: string | null): Child {
  const isMerge = ({ rank }: Token) => rank !== undefined;
  return [
    h(
      "p.lead",
      "Each merge joins the most frequent pair of tokens, everywhere. Click a header to sort, or a token for its tree.",
    ),
    dataTables.of<Token>({
      label: "All tokens",
      columns: [
        ranks(
          "merge",
          ({ rank }) => rank,
          (rank) => groupDigits(rank + 1),
        ),
        words("token", ({ text }) => text, tokenLink),
        {
          head: "left + right",
          isText: true,
          cell: ({ left, right }) => left !== undefined && [tokenLink(left), " + ", tokenLink(right!)],
        },
        numbers("bytes", ({ length }) => length),
        ranks("id", ({ id }) => id, String),
        ...known(tokens, [
          numbers("when made", ({ created }) => created),
          numbers("at the end", ({ end }) => end),
          numbers("absorbed", ({ created, end }) =>
            created !== null && end !== null ? created - end : null,
          ),
          numbers(`in ${textName ?? "the text"}`, ({ inText }) => inText),
          numbers("tokens left", ({ tokensLeft }) => tokensLeft),
        ]),
      ],
      rows: [...tokens.filter(isMerge), ...tokens.filter((token) => !isMerge(token))],
      pageRows,
      sorted: { column: 0, isDescending: false },
    }),
  ];
}

/** Tables of the scripts and lengths of tokens. */
function shares(vocabulary: unpacked.Vocabulary, addedTokens: VocabularyData["addedTokens"]): Child {
  const statistics = runToEnd(vocabularyStatistics.of(unpacked.tableOf(vocabulary), addedTokens, 1));
  return shareTables([statistics], ["share"]);
}

function specials(addedTokens: VocabularyData["addedTokens"]): Child {
  const shown = (content: string) => tokenCode(signs.tokenText(new TextEncoder().encode(content)));
  const what = `${groupDigits(addedTokens.length)} tokens are found before the text is cut; none is learned.`;
  return [
    h("p.lead", what),
    dataTables.of<AddedToken>({
      label: "Special tokens",
      columns: [
        words(
          "token",
          ({ content }) => content,
          ({ content }) => shown(content),
        ),
        ranks("id", ({ id }) => id, String),
        words("flags", (token) => flagsOf(token).join(", ")),
      ],
      rows: addedTokens.toSorted((a, b) => a.id - b.id),
      pageRows,
    }),
  ];
}

/**
 * Returns the names of the flags that are set. Most added tokens are special, so `special` is named only if it is not
 * set.
 */
const flagsOf = ({ id: _, content, special, ...flags }: AddedToken) => [
  ...(special ? [] : ["not special"]),
  ...Object.entries(flags).flatMap(([name, isSet]) => (isSet ? [name] : [])),
];

/** A table of the input files, if there are several. */
function inputsFold({ inputs, counts }: trainingRecords.TrainingRecord): Child {
  const files = counts.map((file) => ({ ...file, path: `${file.path} (word counts)` }));
  type Row = { path: string; sizeBytes: number; weight?: number; language?: string } & Partial<
    Record<"documents" | "invalidBytes", number | null>
  >;
  const rows: readonly Row[] = [...inputs, ...files];
  if (rows.length < 2) return null;
  return fold(`Inputs: ${groupDigits(rows.length)} files`, () =>
    dataTables.of<Row>({
      label: "Inputs",
      columns: [
        words("file", ({ path }) => path),
        ...known(rows, [
          numbers("bytes", ({ sizeBytes }) => sizeBytes),
          numbers("documents", ({ documents }) => documents),
          numbers("invalid UTF-8 bytes", ({ invalidBytes }) => invalidBytes),
          numbers("weight", ({ weight }) => weight, String),
        ]),
        ...(rows.some(({ language }) => language)
          ? [words("language", (row: Row) => row.language ?? "–")]
          : []),
      ],
      rows,
      pageRows,
    }),
  );
}

function languages(all: NonNullable<trainingRecords.TrainingRecord["languages"]>): Child {
  type Language = (typeof all)[number];
  const sumOf = (isDev: boolean) =>
    all.reduce((sum, one) => sum + (one.isDev === isDev ? one.textBytes : 0), 0);
  return dataTables.of<Language>({
    label: "Languages",
    columns: [
      { head: "language", cell: ({ language, isDev }) => (isDev ? `${language} (dev)` : language) },
      numbers("text", ({ textBytes }) => textBytes, formatBytes),
      numbers("share", ({ textBytes, isDev }) => textBytes / Math.max(1, sumOf(isDev)), axes.percent),
      numbers("pretokens", ({ wordCount }) => wordCount),
      numbers("distinct", ({ distinctWordCount }) => distinctWordCount),
      numbers("tokens", ({ tokenCount }) => tokenCount),
      numbers(
        "bytes per token",
        (one) => one.byteCount / one.tokenCount,
        (value) => value.toFixed(3),
      ),
    ],
    rows: all,
  });
}
