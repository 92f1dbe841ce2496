import { bytes, grouped } from "../../bytes/quantities.ts";
import type { TrainingRecord } from "../../formats/training-json.ts";
import { scriptClasses, scriptShares } from "../../tokenizer/vocabulary-statistics.ts";
import { percent } from "../axes.ts";
import type { Curve, CurvePoint } from "../compression-curve.ts";
import type { VocabularyData } from "../page-data.ts";
import { curveChart } from "./curve-chart.ts";
import { bar, type Column, dataTable } from "./data-table.ts";
import { append, type Child, factList, fold, h, section } from "./dom.ts";
import { cutText, tokensOf } from "./excerpt-view.ts";
import { cutPieces } from "./merge-pieces.ts";
import { tokenLink, treeSection } from "./merge-tree.ts";
import { firstShown, isIntermediate, type Observation, observationsOf } from "./observations.ts";
import { signsNote, tokenCode, tokenText } from "./token-text.ts";
import { bytesOf, type Token, unpack, type Vocabulary } from "./unpacked.ts";

/** The view of a tokenizer: its curve, what is odd in it, where its tokens come from, a text, and the rest. */
export async function vocabularyView(main: HTMLElement, data: VocabularyData): Promise<void> {
  const { curve, vocabulary: packed, textName } = data;
  if (curve !== null) append(main, curveSection(curve));
  const vocabulary = await unpack(packed);
  const observations = observationsOf({ merged: vocabulary.merged, lastPairCount: packed.lastPairCount });
  const first = firstShown(vocabulary.merged, vocabulary.tokens);
  const cuts = cutTexts(data, vocabulary);
  append(main, [
    observations.length > 0 && observationSection(observations),
    treeSection(vocabulary, first, textName),
    cuts.length > 0 && sampleSection(cuts),
    h("section.folds", { id: "more", "aria-label": "More" }, folds(data, vocabulary)),
  ]);
}

function curveSection(curve: Curve): HTMLElement {
  const chosen = curve.points.at(-1)!;
  const rows = [...curve.table, ...(curve.doubled === null ? [] : [curve.doubled])];
  const table = dataTable<CurvePoint>({
    label: "Bytes per token by size of the vocabulary",
    columns: [
      {
        head: "tokens",
        cell: (point) => `${grouped(point.size)}${point === curve.doubled ? " (estimate)" : ""}`,
      },
      { head: "bytes per token", cell: ({ bytesPerToken }) => bytesPerToken.toFixed(3) },
      {
        head: "tokens needed",
        cell: ({ bytesPerToken }) => changeText(chosen.bytesPerToken / bytesPerToken),
      },
    ],
    rows,
  });
  return h("section.two", { id: "curve", "aria-label": "Bytes per token" }, curveChart(curve), table);
}

/** "+4.8 %": tokens for the same text, compared with the chosen size. */
function changeText(share: number): string {
  if (share === 1) return "chosen";
  const percent = 100 * Math.abs(share - 1);
  return `${share > 1 ? "+" : "−"}${percent.toFixed(percent < 9.95 ? 1 : 0)} %`;
}

const observationSection = (observations: readonly Observation[]) =>
  section(
    "look",
    "What to look at before you use it",
    "Found in the tokens and their counts.",
    h(
      "ul.look",
      {},
      observations.map(({ what, why, token, figure }) =>
        h(
          "li",
          {},
          h("div", {}, h("b", {}, what), ` ${why} `, token !== undefined && tokenLink(token)),
          h("span", {}, figure),
        ),
      ),
    ),
  );

type CutText = { readonly text: string; readonly tokens: ReturnType<typeof tokensOf> };

/** The beginnings of texts as tokens. */
function cutTexts({ samples, excerpts, addedTokens }: VocabularyData, vocabulary: Vocabulary): CutText[] {
  const encoder = new TextEncoder();
  const added = new Map(addedTokens.map(({ content, id }) => [content, id]));
  return [
    ...samples.map(({ text, content, pieces }) => ({
      text,
      tokens: tokensOf(encoder.encode(content), cutPieces(vocabulary, content, pieces, added)),
    })),
    ...excerpts.map(({ text, content, cuts }) => ({
      text,
      tokens: tokensOf(encoder.encode(content), cuts[0]!),
    })),
  ];
}

function sampleSection(texts: readonly CutText[]): HTMLElement {
  const shown = ({ text, tokens }: CutText) => [h("h3", {}, text), cutText(tokens)];
  const [first, ...others] = texts;
  const note = `Each colour is a token. ${signsNote} The id of a token is under the pointer, or use the arrow keys.`;
  const more = others.length > 0 && fold(`${others.length} more`, () => others.map(shown));
  return section("samples", "A text, cut into tokens", note, shown(first!), more);
}

function folds(
  { record, vocabulary: packed, addedTokens, textName, summary, made }: VocabularyData,
  vocabulary: Vocabulary,
): Child {
  const { lastPairCount } = packed;
  const title = `All ${grouped(vocabulary.tokens.length)} tokens: merges in order, the longest, the most frequent`;
  return [
    fold(title, () => tokenTable(vocabulary, textName)),
    fold("Scripts and token lengths", () => shares(vocabulary, addedTokens)),
    lastPairCount !== null && vocabulary.merged.length > 0
      ? fold("Intermediate tokens", () => intermediates(vocabulary, lastPairCount))
      : null,
    addedTokens.length > 0 && fold("Special tokens", () => specials(addedTokens)),
    record !== undefined && inputsFold(record),
    record?.languages !== undefined &&
      record.languages.length > 0 &&
      fold("Languages", () => languages(record.languages!)),
    summary.length > 0 && fold("Summary", () => factList(summary)),
    fold("Where this comes from", () => factList(made)),
  ];
}

const pageRows = 20;

/** Every token, in the order of merges; sorted by length or counts it shows the longest and the most frequent ones. */
function tokenTable({ tokens }: Vocabulary, textName: string | null): Child {
  const counts = (head: string, of: (token: Token) => number | null): Column<Token>[] =>
    tokens.some((token) => of(token) !== null)
      ? [{ head, key: of, cell: (token) => (of(token) === null ? "–" : grouped(of(token)!)) }]
      : [];
  const merges = tokens.filter(({ rank }) => rank !== undefined);
  const others = tokens.filter(({ rank }) => rank === undefined);
  return [
    h(
      "p.lead",
      {},
      "A merge joins the pair of tokens that occurs most often, everywhere. A click on a head sorts; a token leads to its tree.",
    ),
    dataTable<Token>({
      label: "All tokens",
      columns: [
        {
          head: "merge",
          key: ({ rank }) => rank ?? null,
          isAscending: true,
          cell: ({ rank }) => (rank === undefined ? "–" : grouped(rank + 1)),
        },
        { head: "token", isText: true, key: ({ text }) => text, isAscending: true, cell: tokenLink },
        {
          head: "left + right",
          isText: true,
          cell: ({ left, right }) => left !== undefined && [tokenLink(left), " + ", tokenLink(right!)],
        },
        { head: "bytes", key: ({ length }) => length, cell: ({ length }) => grouped(length) },
        { head: "id", key: ({ id }) => id, isAscending: true, cell: ({ id }) => id },
        ...counts("when made", ({ created }) => created),
        ...counts("at the end", ({ end }) => end),
        ...counts(`in ${textName ?? "the text"}`, ({ inText }) => inText),
        ...counts("tokens left", ({ tokensLeft }) => tokensLeft),
      ],
      rows: [...merges, ...others],
      pageRows,
      sorted: { column: 0, isDescending: false },
    }),
  ];
}

const lengthMost = 16;

function shares({ tokens }: Vocabulary, addedTokens: VocabularyData["addedTokens"]): Child {
  const added = new Set(addedTokens.map(({ id }) => id));
  const learned = tokens.filter(({ id, length }) => length > 1 && !added.has(id));
  const lengths = new Map<string, number>();
  for (let length = 2; length <= lengthMost + 1; length++) lengths.set(nameOfLength(length), 0);
  for (const { length } of learned) lengths.set(nameOfLength(length), lengths.get(nameOfLength(length))! + 1);
  const mean = learned.reduce((sum, { length }) => sum + length, 0) / Math.max(1, learned.length);
  const byLength = [...lengths].map(([name, tokenCount]) => ({ name, tokenCount }));
  return [
    h(
      "p.lead",
      {},
      `The tokens of two bytes and more, without special ones; ${mean.toFixed(1)} bytes on average.`,
    ),
    h("div.columns", {}, shareTable("script", scriptsOf(learned)), shareTable("bytes", byLength)),
  ];
}

const nameOfLength = (length: number) =>
  length > lengthMost ? `${lengthMost + 1} and more` : String(length);

type Share = { readonly name: string; readonly tokenCount: number };

/** The tokens by the script of their first letter; without a letter, by what they hold. */
function scriptsOf(tokens: readonly Token[]): Share[] {
  const starts = new Uint32Array(tokens.length + 1);
  for (const [i, { text }] of tokens.entries()) starts[i + 1] = starts[i]! + text.length;
  const all = new Uint8Array(starts.at(-1)!);
  for (const [i, token] of tokens.entries()) all.set(bytesOf(token), starts[i]!);
  const table = { idLimit: tokens.length, tokenCount: tokens.length, bytes: all, starts };
  return ended(scriptShares(ended(scriptClasses(table)), table, []));
}

/** Runs a generator to its end. */
function ended<T>(steps: Generator<undefined, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

function shareTable(kind: string, rows: readonly Share[]): HTMLElement {
  const sum = rows.reduce((total, { tokenCount }) => total + tokenCount, 0);
  const largest = Math.max(...rows.map(({ tokenCount }) => tokenCount), 1);
  return dataTable<Share>({
    label: kind,
    columns: [
      { head: kind, cell: ({ name }) => name },
      { head: "tokens", cell: ({ tokenCount }) => grouped(tokenCount) },
      {
        head: "share",
        cell: ({ tokenCount }) => [
          tokenCount === 0 ? "–" : percent(tokenCount / sum),
          bar(tokenCount / largest),
        ],
      },
    ],
    rows,
  });
}

const parts = 10;

function intermediates({ merged }: Vocabulary, lastPairCount: number): Child {
  const found = merged.filter((token) => isIntermediate(token, lastPairCount));
  const count = Math.min(parts, merged.length);
  const tenths = Array.from({ length: count }, (_, part) => {
    const [from, to] = [part, part + 1].map((end) => Math.floor((merged.length * end) / count)) as [
      number,
      number,
    ];
    const inPart = merged.slice(from, to).filter((token) => isIntermediate(token, lastPairCount)).length;
    return { name: `${grouped(from + 1)}–${grouped(to)}`, share: inPart / (to - from), inPart };
  });
  const largest = Math.max(...tenths.map(({ share }) => share), 1e-9);
  const lost = ({ created, end }: Token) => created! - end!;
  return [
    h(
      "p.lead",
      {},
      `${grouped(found.length)} of ${grouped(merged.length)} learned tokens are intermediate (scaffold) tokens: later merges absorbed them into longer ones, and now they occur less often than the last pair that was merged, ${grouped(lastPairCount)} times.`,
    ),
    h(
      "div.columns",
      {},
      dataTable<(typeof tenths)[number]>({
        label: "Intermediate tokens by merges",
        columns: [
          { head: "merges", cell: ({ name }) => name },
          { head: "tokens", cell: ({ inPart }) => grouped(inPart) },
          { head: "share", cell: ({ share }) => [percent(share), bar(share / largest)] },
        ],
        rows: tenths,
      }),
      dataTable<Token>({
        label: "The most absorbed tokens",
        columns: [
          { head: "absorbed", cell: tokenLink },
          { head: "when made", key: ({ created }) => created, cell: ({ created }) => grouped(created!) },
          { head: "at the end", key: ({ end }) => end, cell: ({ end }) => grouped(end!) },
        ],
        rows: found.toSorted((a, b) => lost(b) - lost(a) || a.id - b.id),
        pageRows: 10,
      }),
    ),
  ];
}

function specials(addedTokens: VocabularyData["addedTokens"]): Child {
  type Special = VocabularyData["addedTokens"][number];
  const encoder = new TextEncoder();
  return [
    h(
      "p.lead",
      {},
      `${grouped(addedTokens.length)} tokens are found in a text before it is cut; none is learned.`,
    ),
    dataTable<Special>({
      label: "Special tokens",
      columns: [
        { head: "token", cell: ({ content }) => tokenCode(tokenText(encoder.encode(content))) },
        { head: "id", key: ({ id }) => id, isAscending: true, cell: ({ id }) => id },
        { head: "flags", isText: true, cell: (token) => flagsOf(token).join(", ") },
      ],
      rows: addedTokens.toSorted((a, b) => a.id - b.id),
      pageRows,
    }),
  ];
}

/** The flags that are set, in the words of HF's files; of most tokens only `special` is. */
const flagsOf = ({ id: _, content, ...flags }: VocabularyData["addedTokens"][number]) => [
  ...(flags.special ? [] : ["not special"]),
  ...Object.entries(flags).flatMap(([name, isSet]) => (isSet && name !== "special" ? [name] : [])),
];

/** The files that were read, if there are several. */
function inputsFold({ inputs, counts }: TrainingRecord): Child {
  const rows = [
    ...inputs,
    ...counts.map((file) => ({
      ...file,
      path: `${file.path} (word counts)`,
      documents: null,
      invalidBytes: null,
    })),
  ];
  type Row = (typeof rows)[number] & { readonly weight?: number; readonly language?: string };
  if (rows.length < 2) return null;
  const number = (head: string, of: (row: Row) => number | null | undefined): Column<Row>[] =>
    rows.some((row) => of(row) !== undefined)
      ? [{ head, key: (row) => of(row) ?? null, cell: (row) => (of(row) == null ? "–" : grouped(of(row)!)) }]
      : [];
  const text = (head: string, of: (row: Row) => string | undefined): Column<Row>[] =>
    rows.some((row) => of(row) !== undefined)
      ? [
          {
            head,
            isText: true,
            key: (row) => of(row) ?? "",
            cell: (row) => of(row) ?? "–",
            isAscending: true,
          },
        ]
      : [];
  return fold(`Inputs: ${grouped(rows.length)} files`, () =>
    dataTable<Row>({
      label: "Inputs",
      columns: [
        { head: "file", key: ({ path }) => path, isAscending: true, cell: ({ path }) => path },
        ...number("bytes", ({ sizeBytes }) => sizeBytes),
        ...number("documents", ({ documents }) => documents),
        ...number("bytes that are not UTF-8", ({ invalidBytes }) => invalidBytes),
        ...text("weight", ({ weight }) => (weight === undefined ? undefined : String(weight))),
        ...text("language", ({ language }) => language),
      ],
      rows: rows as readonly Row[],
      pageRows,
    }),
  );
}

function languages(all: NonNullable<TrainingRecord["languages"]>): Child {
  type Language = (typeof all)[number];
  const sumOf = (isDev: boolean) =>
    all.reduce((sum, one) => sum + (one.isDev === isDev ? one.textBytes : 0), 0);
  const number = (
    head: string,
    of: (row: Language) => number,
    shown: (value: number) => string,
  ): Column<Language> => ({
    head,
    key: of,
    cell: (row) => shown(of(row)),
  });
  return dataTable<Language>({
    label: "Languages",
    columns: [
      { head: "language", cell: ({ language, isDev }) => (isDev ? `${language} (dev)` : language) },
      number("text", ({ textBytes }) => textBytes, bytes),
      number("share", ({ textBytes, isDev }) => textBytes / Math.max(1, sumOf(isDev)), percent),
      number("pretokens", ({ wordCount }) => wordCount, grouped),
      number("distinct", ({ distinctWordCount }) => distinctWordCount, grouped),
      number("tokens", ({ tokenCount }) => tokenCount, grouped),
      number(
        "bytes per token",
        (one) => one.byteCount / one.tokenCount,
        (value) => value.toFixed(3),
      ),
    ],
    rows: all,
  });
}
