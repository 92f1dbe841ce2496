import { table } from "./markdown.ts";

/** What a program took: its time, that of all its threads, and the peak of its memory, where they are known. */
export type Cost = {
  readonly name: string;
  readonly seconds: number;
  readonly processorSeconds?: number;
  readonly megabytes?: number;
};
export type Row = { readonly work: string; readonly costs: readonly Cost[] };

const others = [["gigabpe", "gigatoken"], ["tokenizers"]] as const;

/** Three digits, and no more zeros than these need. */
const shown = (number: number) => String(Number(number.toPrecision(3)));

/** Seconds, seconds of processors, MB. */
function cell(cost: Cost | undefined, costs: readonly Cost[]): string {
  if (cost === undefined) return "–";
  const bold = (key: "seconds" | "processorSeconds" | "megabytes") => {
    const number = cost[key];
    if (number === undefined) return "–";
    const isBest =
      costs.length > 1 && costs.every((other) => number <= (other[key] ?? Number.POSITIVE_INFINITY));
    return isBest ? `**${shown(number)}**` : shown(number);
  };
  return `${bold("seconds")}, ${bold("processorSeconds")}, ${bold("megabytes")}`;
}

/** The table, with how many times as long as `bpe` the fastest other takes: below 1 it is faster. */
export function speedTable(rows: readonly Row[]): string {
  return table(
    ["", "bpe", "gigabpe, or to encode gigatoken", "HF `tokenizers`", "x bpe"],
    rows.map(({ work, costs }) => {
      const ours = costs.find(({ name }) => name === "bpe");
      const theirs = others.map((names) =>
        costs.find(({ name }) => (names as readonly string[]).includes(name)),
      );
      const compared = [ours, ...theirs].filter((cost) => cost !== undefined);
      const seconds = theirs.flatMap((cost) => cost?.seconds ?? []);
      const ratio =
        ours === undefined || seconds.length === 0
          ? ""
          : String(Number((Math.min(...seconds) / ours.seconds).toPrecision(2)));
      return [work, ...[ours, ...theirs].map((cost) => cell(cost, compared)), ratio];
    }),
  );
}

/** The page with the table of these rows in place of the one that it has. */
export const withTable = (page: string, rows: readonly Row[]) =>
  page.replace(/^\| *\| bpe \| gigabpe, or .*\n(?:\|.*\n)+/m, `${speedTable(rows)}\n`);
