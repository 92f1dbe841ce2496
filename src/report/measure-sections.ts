import { spacesWithSigns } from "../bytes/escape.ts";
import { grouped } from "../bytes/quantities.ts";
import { bestOf } from "../evaluation/measures.ts";
import { barHtml, dotPlot, keyHtml, legendHtml, linearAxis } from "./charts.ts";
import { type Html, html, type Section } from "./html.ts";
import type { CostlyWords, MeasureCell, MeasureTable } from "./report-data.ts";

/** All measures of all tokenizers. The first table is that of the texts. Null without tables. */
export function measureSection(
  names: readonly string[],
  tables: readonly MeasureTable[],
  sizes: readonly number[] = [],
  note?: string,
): Section | null {
  if (tables.length === 0) return null;
  const isCompared = names.length > 1;
  const [texts] = tables as readonly [MeasureTable];
  const shownCount = texts.shownCount ?? texts.measures.length;
  const more = [columnsOf(texts, shownCount), ...tables.slice(1)].filter(
    ({ measures }) => measures.length > 0,
  );
  return {
    id: "measures",
    title: "Measures",
    isWide: true,
    text: `↑ more is better, ↓ less is better. Bars begin at 0; the longest of a group fills its cell.${
      isCompared ? " The best of each group is bold, in a frame." : ""
    }${note === undefined ? "" : ` ${note}`}`,
    content: html`${isCompared && texts.drawn !== undefined ? dotsOf(names, sizes, texts, texts.drawn) : undefined}
${isCompared ? html`<p class="counts"><label><input type="checkbox"> counts behind the shares</label></p>` : undefined}
${chosenTable(names, columnsOf(texts, 0, shownCount))}
${more.length === 0 ? undefined : html`<details><summary>All other measures</summary>${more.map((table) => html`<h3>${table.title}</h3>${chosenTable(names, table)}`)}</details>`}
<details><summary>What the measures say</summary><dl class="formulas">${tables.map(({ measures }) =>
      measures.map(({ name, formula }) => html`<div><dt>${name}</dt><dd>${formula}</dd></div>`),
    )}</dl></details>`,
  };
}

/** Some columns of a table, from `first` to before `end`. */
const columnsOf = (table: MeasureTable, first: number, end?: number): MeasureTable => ({
  ...table,
  measures: table.measures.slice(first, end),
  groups: table.groups.map(({ name, cells }) => ({ name, cells: cells.map((row) => row.slice(first, end)) })),
});

/** A table, and on a narrow screen the choice of one of its measures. */
const chosenTable = (names: readonly string[], table: MeasureTable) => html`
<p class="measure-chooser" hidden><label>measure <select>${table.measures.map(
  ({ name }, column) => html`<option value="${column + 1}">${name}</option>`,
)}</select></label></p>
${measureTable(names, table)}`;

/** A measure as dots, texts down, each tokenizer with its colour and its size. */
function dotsOf(
  names: readonly string[],
  sizes: readonly number[],
  { measures, groups }: MeasureTable,
  drawn: number,
): Html {
  const cells = groups.map((group) => group.cells.map((row) => row[drawn]!));
  const values = cells.flatMap((row) => row.flatMap(({ value }) => value ?? []));
  if (values.length === 0) return html``;
  const rows = groups.map(({ name }, g) => ({
    name,
    dots: cells[g]!.map(({ value, shown }, t) =>
      value === null ? null : { x: value, y: 0, label: `${names[t]!}: ${shown}` },
    ),
  }));
  const keys = names.map((name, colour) => ({
    name: sizes[colour] === undefined ? name : `${name}, ${grouped(sizes[colour])} tokens`,
    colour,
  }));
  return html`${legendHtml(keys)}${dotPlot(linearAxis(measures[drawn]!.name, values, 0), rows)}`;
}

/** A head is narrow, and "UTF-8" is one word. */
const nonBreakingHyphen = "\u2011";

const signOf = { higher: "↑", lower: "↓" };

/** A row of a table: a tokenizer, or a text of the only one. */
type Row = { readonly name: string; readonly colour: number; readonly cells: readonly MeasureCell[] };
type Group = { readonly name: string; readonly rows: readonly Row[] };

/** Of several tokenizers the groups as they are; of one all groups become rows that are compared. */
function groupsOf(names: readonly string[], groups: MeasureTable["groups"]): Group[] {
  if (names.length === 1) {
    const rows = groups.map(({ name, cells }) => ({ name: name || names[0]!, colour: 0, cells: cells[0]! }));
    return [{ name: "", rows }];
  }
  return groups.map(({ name, cells }) => ({
    name,
    rows: cells.map((row, t) => ({ name: names[t]!, colour: t, cells: row })),
  }));
}

function measureTable(names: readonly string[], { title, measures, groups }: MeasureTable): Html {
  const isCompared = names.length > 1;
  const sorted = isCompared ? measures.findIndex(({ better }) => better === "higher") : -1;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${title}"><table class="measures${measures.length < 8 ? " few" : ""}">
<thead><tr><th scope="col">${isCompared || groups[0]!.name === "" ? "tokenizer" : "text"}</th>${measures.map(
    ({ name, better, formula }, m) => {
      const sign = better === null ? undefined : html`\u00a0<span class="sign">${signOf[better]}</span>`;
      const order = m === sorted ? html` aria-sort="descending"` : undefined;
      return html`<th scope="col" data-tip="${formula}" data-better="${better ?? ""}"${order}>${name.replaceAll("-", nonBreakingHyphen)}${sign}</th>`;
    },
  )}</tr></thead>
${groupsOf(names, groups).map((group) => groupHtml(group, measures, sorted, isCompared))}
</table></div>`;
}

function groupHtml(
  { name, rows }: Group,
  measures: MeasureTable["measures"],
  sorted: number,
  isCompared: boolean,
): Html {
  const columns = measures.map((_, m) => rows.map(({ cells }) => cells[m]!.value));
  const bests = measures.map((measure, m) => (isCompared ? bestOf(measure, columns[m]!) : new Set<number>()));
  const largest = columns.map((column) => Math.max(...column.map((value) => value ?? 0), 1e-12));
  const keyOf = (row: number) => columns[sorted]?.[row] ?? 0;
  const order = [...rows.keys()].sort((a, b) => keyOf(b) - keyOf(a) || a - b);
  const head = html`<tr class="group"><th scope="rowgroup" colspan="${measures.length + 1}">${name}</th></tr>`;
  return html`<tbody>${name === "" ? undefined : head}
${order.map((row) => {
  const { name, colour, cells } = rows[row]!;
  return html`<tr><th scope="row">${isCompared ? keyHtml(colour) : undefined}${name}</th>${cells.map(
    (cell, m) => cellHtml(cell, rows.length > 1 ? largest[m]! : null, colour, bests[m]!.has(row)),
  )}</tr>
`;
})}</tbody>`;
}

/** `largest`: what the longest bar stands for; null without bars, where there is nothing to compare. */
function cellHtml(
  { value, shown, note }: MeasureCell,
  largest: number | null,
  tokenizer: number,
  isBest: boolean,
): Html {
  if (value === null) return html`<td data-v="">–</td>`;
  const text = isBest ? html`<b>${shown}</b><span class="unseen"> best</span>` : shown;
  const below = note === undefined ? undefined : html`<small>${note}</small>`;
  return html`<td data-v="${Number(value.toPrecision(9))}"${isBest ? html` class="best"` : undefined}>${text}${largest === null ? undefined : barHtml(value / largest, tokenizer)}${below}</td>`;
}

/** What costs each tokenizer most on each text; null where no word has two tokens. */
export function costliestSection(names: readonly string[], texts: readonly CostlyWords[]): Section | null {
  const some = texts.filter(({ words }) => words.some((list) => list.length > 0));
  if (some.length === 0) return null;
  return {
    id: "words",
    title: "Costliest words",
    isWide: true,
    text: "The words that take most tokens beyond one for each time they occur: how often they occur, and the tokens they are cut into.",
    content:
      names.length === 1
        ? html`<div class="columns">${some.map(({ text, words }) => wordList(html`${text}`, words[0]!))}</div>`
        : html`${some.map(
            (
              { text, words },
              i,
            ) => html`<details class="words"${i === 0 ? html` open` : undefined}><summary>${text}</summary>
<div class="columns">${words.map((list, t) => wordList(html`${keyHtml(t)}${names[t]!}`, list))}</div></details>`,
          )}`,
  };
}

const wordList = (head: Html, words: CostlyWords["words"][number]) => html`<div><h3>${head}</h3>
<ol class="costly">${words.map(
  ({ count, pieces, isCut }) =>
    html`<li><span class="count">${grouped(count)} ×</span> <span class="pieces" dir="auto">${pieces.map((piece) => html`<i>${spacesWithSigns(piece).replaceAll(" ", "␣")}</i>`)}${isCut ? "…" : undefined}</span></li>`,
)}</ol></div>`;
