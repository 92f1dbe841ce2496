import { groupDigits } from "#bytes";
import type { evaluations } from "#evaluation";
import * as axes from "../axes.ts";
import { type Child, h, replace, svg } from "./dom.ts";
import { colourOf } from "./dot-plot.ts";

// Sortable, paged tables. Only the rows of the visible page are elements.

export type Column<Row> = {
  readonly head: Child;
  /** An explanation, shown as a tooltip. */
  readonly tip?: string | undefined;
  /** Returns the sort key. null sorts last in both directions. Without this function, the column cannot be sorted. */
  readonly key?: (row: Row) => number | string | null;
  readonly cell: (row: Row) => Child;
  /** Whether the cells are text, which is aligned left. */
  readonly isText?: boolean;
  /**
   * Whether the first click on the header sorts in ascending order. If the rows are already sorted by this column, the
   * click reverses their order instead.
   */
  readonly isAscending?: boolean;
};

/** A column of numbers. Unknown numbers sort last. */
export const numbers = <Row>(
  head: Child,
  of: (row: Row) => number | null | undefined,
  shown: (value: number) => Child = groupDigits,
): Column<Row> => ({
  head,
  key: (row) => of(row) ?? null,
  cell: (row) => (of(row) == null ? "–" : shown(of(row)!)),
});

/** A column of numbers with `isAscending`. */
export const ranks = <Row>(...column: Parameters<typeof numbers<Row>>): Column<Row> => ({
  ...numbers(...column),
  isAscending: true,
});

/** A column of text. */
export const words = <Row>(
  head: Child,
  of: (row: Row) => string,
  cell: (row: Row) => Child = of,
): Column<Row> => ({ head, key: of, cell, isText: true, isAscending: true });

export type DataTable<Row> = {
  /** The accessible name of the table. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** The number of rows per page; by default there is one page. */
  readonly pageRows?: number;
  /** The column by which the given rows are already sorted. */
  readonly sorted?: { readonly column: number; readonly isDescending: boolean };
};

/** Returns a table. The first cell of each row is its header. */
export function of<Row>(table: DataTable<Row>): HTMLElement {
  return new TableView(table).element;
}

class TableView<Row> {
  readonly element: HTMLElement;
  private readonly heads: HTMLTableCellElement[];
  private readonly body = h("tbody");
  private readonly status = h("span", { role: "status" });
  private readonly pages: HTMLElement;
  private order: readonly Row[];
  private first = 0;

  constructor(private readonly table: DataTable<Row>) {
    const { label, columns, rows, sorted, pageRows = Number.POSITIVE_INFINITY } = table;
    this.order = rows;
    this.heads = columns.map((column, i) => this.headOf(column, i));
    const element = h("table", h("thead", h("tr", this.heads)), this.body);
    const scroll = { tabindex: 0, role: "region", "aria-label": label };
    this.pages = h("p.row.pages", { hidden: rows.length <= pageRows }, this.turns(), this.status);
    this.element = h("div.table", h("div.scroll", scroll, element), this.pages);
    if (sorted !== undefined) this.mark(sorted.column, sorted.isDescending);
    this.show(0);
  }

  private get pageRows(): number {
    return this.table.pageRows ?? this.table.rows.length;
  }

  private headOf({ head, tip, key, isText }: Column<Row>, i: number): HTMLTableCellElement {
    const canSort = key !== undefined && this.table.rows.length > 1;
    const content = canSort
      ? h("button", { type: "button", "data-tip": tip, onclick: () => this.sort(i) }, head)
      : tip === undefined
        ? head
        : h("span", { "data-tip": tip }, head);
    return h(isText ? "th.left" : "th", { scope: "col" }, content) as HTMLTableCellElement;
  }

  private sort(i: number): void {
    const column = this.table.columns[i]!;
    const order = this.heads[i]!.getAttribute("aria-sort");
    const isDescending = order === null ? !column.isAscending : order === "ascending";
    this.mark(i, isDescending);
    const keyed = this.table.rows.map((row) => ({ row, key: column.key!(row) }));
    keyed.sort((a, b) => compare(a.key, b.key, isDescending));
    this.order = keyed.map(({ row }) => row);
    this.show(0);
  }

  private mark(column: number, isDescending: boolean): void {
    for (const head of this.heads) head.removeAttribute("aria-sort");
    this.heads[column]!.setAttribute("aria-sort", isDescending ? "descending" : "ascending");
  }

  private show(first: number): void {
    const { columns } = this.table;
    this.first = Math.max(0, Math.min(first, this.order.length - this.pageRows));
    const shown = this.order.slice(this.first, this.first + this.pageRows);
    const rowOf = (row: Row) =>
      h(
        "tr",
        columns.map(({ cell, isText }, i) =>
          i === 0 ? h("th", { scope: "row" }, cell(row)) : h(isText ? "td.left" : "td", {}, cell(row)),
        ),
      );
    replace(this.body, shown.map(rowOf));
    const end = this.first + shown.length;
    this.status.textContent = `${groupDigits(this.first + 1)} to ${groupDigits(end)} of ${groupDigits(this.order.length)}`;
  }

  private turns(): Child {
    const turn = (sign: string, label: string, to: () => number) =>
      h("button", { type: "button", "aria-label": label, onclick: () => this.show(to()) }, sign);
    return [
      turn("|◀", "first rows", () => 0),
      turn("◀", "rows before", () => this.first - this.pageRows),
      turn("▶", "next rows", () => this.first + this.pageRows),
      turn("▶|", "last rows", () => this.order.length),
    ];
  }
}

function compare(a: number | string | null, b: number | string | null, isDescending: boolean): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
  return isDescending ? -order : order;
}

/** A horizontal bar whose length is a share of the cell's width. */
export const bar = (share: number, colour = 0) =>
  svg(
    `svg.bar.${colourOf(colour)}`,
    { "aria-hidden": "true" },
    svg("rect", { width: axes.lengthOf(share), height: "100%" }),
  );

type Shares = Pick<evaluations.VocabularyDetails, "scripts" | "lengths">;

/** Tables of the shares of scripts and lengths in vocabularies. */
export const shareTables = (vocabularies: readonly Shares[], heads: readonly Child[]): Child => [
  h(
    "p.lead",
    "Shares of tokens, without special ones, by the script of their first letter or by content, and by length.",
  ),
  h(
    "div.columns",
    [["script", "scripts"] as const, ["bytes", "lengths"] as const].map(([kind, list]) =>
      shareTable(
        kind,
        heads,
        vocabularies.map((vocabulary) => vocabulary[list]),
      ),
    ),
  ),
];

function shareTable(kind: string, heads: readonly Child[], lists: readonly Shares["scripts"][]) {
  const counts = lists.map((list) => new Map(list.map(({ name, tokenCount }) => [name, tokenCount])));
  const sums = lists.map((list) => list.reduce((sum, { tokenCount }) => sum + tokenCount, 0));
  const shareOf = (t: number, name: string) => (counts[t]!.get(name) ?? 0) / Math.max(1, sums[t]!);
  const names = [...new Set(lists.flatMap((list) => list.map(({ name }) => name)))];
  const largest = Math.max(...names.flatMap((name) => lists.map((_, t) => shareOf(t, name))), 1e-9);
  const shared = (share: number, t: number) => [
    share === 0 ? "–" : axes.percent(share),
    bar(share / largest, t),
  ];
  return of<string>({
    label: kind,
    columns: [
      { head: kind, cell: (name) => name },
      ...(lists.length > 1 ? [] : [numbers("tokens", (name: string) => counts[0]!.get(name))]),
      ...heads.map((head, t) =>
        numbers(
          head,
          (name: string) => shareOf(t, name),
          (share) => shared(share, t),
        ),
      ),
    ],
    rows: names,
  });
}
