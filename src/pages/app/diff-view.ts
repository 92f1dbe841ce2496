import { groupDigits } from "#bytes";
import type { differences } from "#evaluation";
import { type DiffData, type ListLengths, listMax } from "../page-data.ts";
import * as signs from "../signs.ts";
import * as dataTables from "./data-table.ts";
import { type Column, numbers, ranks, words } from "./data-table.ts";
import { type Child, factList, fold, h, section } from "./dom.ts";
import { key } from "./dot-plot.ts";
import { passagesNote, stackedExcerpts, wholeTextNote } from "./excerpt-view.ts";
import { piecesText, tokenCode } from "./token-text.ts";

/** The view of `bpe diff`. */
export function diffView({ names, difference, counts, excerpts, made }: DiffData): Child {
  const { tokens, merges, text } = difference;
  const [a, b] = names;
  const only = (name: string) => `only in ${name}`;
  const ownTokens = [
    [`Tokens ${only(a)}`, counts.tokens.onlyInA, tokens.onlyInA],
    [`Tokens ${only(b)}`, counts.tokens.onlyInB, tokens.onlyInB],
  ] as const;
  return [
    excerpts.length > 0 &&
      section(
        "differences",
        "The same text, cut by both",
        passagesNote("16 kB in the middle of the text", names.length),
        stackedExcerpts(
          names,
          excerpts,
          [0, 1],
          () => text !== null && wholeTextNote(names, [text.tokensA, text.tokensB]),
        ),
      ),
    h(
      "div.columns",
      text !== null && text.mostFrequent.length > 0 && wordSection(names, text),
      section("counts", "What they share", movedNote, countTable(names, difference, counts)),
    ),
    h(
      "section.folds",
      { id: "more", "aria-label": "More" },
      // Without a text, these lists are open, because they are the best answer to how the tokenizers differ.
      ownTokens.map(([title, count, rows]) => list(title, count, rows, tokenColumns, text === null)),
      list("Tokens with another id", counts.tokens.moved, tokens.moved, [
        tokenColumn,
        ranks(`id in ${a}`, ({ idA }) => idA),
        ranks(`id in ${b}`, ({ idB }) => idB),
      ]),
      list(`Merges ${only(a)}`, counts.merges.onlyInA, merges.onlyInA, mergeColumns),
      list(`Merges ${only(b)}`, counts.merges.onlyInB, merges.onlyInB, mergeColumns),
      list("Merges in another order", counts.merges.moved, merges.moved, [
        pairColumn,
        ranks(`merge in ${a}`, ({ rankA }) => rankA + 1),
        ranks(`merge in ${b}`, ({ rankB }) => rankB + 1),
      ]),
      fold("Provenance", () => factList(made)),
    ),
  ];
}

const movedNote = "Moved: a token with another id; a merge that is elsewhere in the order.";

type CountRow = {
  readonly what: Child;
  readonly counted: (lists: ListLengths & { inBoth: number }) => number;
};

function countTable(
  [a, b]: DiffData["names"],
  { tokens, merges }: differences.Difference,
  counts: DiffData["counts"],
) {
  const [ofTokens, ofMerges] = [
    { inBoth: tokens.inBoth, ...counts.tokens },
    { inBoth: merges.inBoth, ...counts.merges },
  ];
  return dataTables.of<CountRow>({
    label: "What they share",
    columns: [
      { head: "", cell: ({ what }) => what },
      numbers("tokens", ({ counted }) => counted(ofTokens)),
      numbers("merges", ({ counted }) => counted(ofMerges)),
    ],
    rows: [
      { what: "in both", counted: ({ inBoth }) => inBoth },
      { what: "of these, moved", counted: ({ moved }) => moved },
      { what: [key(0), `only in ${a}`], counted: ({ onlyInA }) => onlyInA },
      { what: [key(1), `only in ${b}`], counted: ({ onlyInB }) => onlyInB },
    ],
  });
}

type Word = NonNullable<differences.Difference["text"]>["mostFrequent"][number];

function wordSection(
  names: DiffData["names"],
  text: NonNullable<differences.Difference["text"]>,
): HTMLElement {
  const pieces = (name: string, t: number, of: (row: Word) => readonly string[]): Column<Word> => ({
    head: [key(t), name],
    isText: true,
    cell: (row) => piecesText(of(row)),
  });
  const listedCount = text.mostFrequent.length;
  const listed =
    listedCount < text.distinctDifferentWords
      ? `the ${groupDigits(listedCount)} most frequent are listed.`
      : "the most frequent first.";
  return section(
    "words",
    "Words that are cut differently",
    `${groupDigits(text.differentWords)} of ${groupDigits(text.words)} words, ${groupDigits(text.distinctDifferentWords)} of them distinct; ${listed} A word includes the whitespace character before it.`,
    dataTables.of<Word>({
      label: "Words that are cut differently",
      columns: [
        numbers("times", ({ count }) => count),
        pieces(names[0], 0, ({ piecesA }) => piecesA),
        pieces(names[1], 1, ({ piecesB }) => piecesB),
      ],
      rows: text.mostFrequent,
      pageRows: 10,
    }),
  );
}

/** Returns a list that can be opened; null if it is empty. */
function list<Row>(
  label: string,
  count: number,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  isOpen = false,
): Child {
  if (count === 0) return null;
  const filled = () => [
    count > rows.length && h("p.lead", `The first ${groupDigits(listMax)}; bpe diff --json has all.`),
    dataTables.of<Row>({ label, columns, rows, pageRows: 20 }),
  ];
  return fold(`${label}: ${groupDigits(count)}`, filled, isOpen);
}

type WithToken = { readonly token: string; readonly isSpecial: boolean };
const tokenColumn = words<WithToken>(
  "token",
  ({ token }) => token,
  ({ token, isSpecial }) => [tokenCode(signs.withSigns(token)), isSpecial && h("span.quiet", " special")],
);
const tokenColumns: readonly Column<WithToken & { readonly id: number }>[] = [
  tokenColumn,
  ranks("id", ({ id }) => id),
];

type Pair = { readonly left: string; readonly right: string };
const pairColumn = words<Pair>(
  "left + right",
  ({ left, right }) => `${left} ${right}`,
  ({ left, right }) => [tokenCode(signs.withSigns(left)), " + ", tokenCode(signs.withSigns(right))],
);
const mergeColumns: readonly Column<Pair & { readonly rank: number }>[] = [
  pairColumn,
  ranks("merge", ({ rank }) => rank + 1),
];
