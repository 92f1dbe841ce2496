import { table } from "./markdown.ts";

/** The cost of a program, as far as known. Variants of `bpe` are named like "bpe, before" (`isOurs`). */
export type Cost = {
  readonly name: string;
  readonly seconds?: number;
  readonly processorSeconds?: number;
  readonly megabytes?: number;
};
export type Row = {
  readonly work: string;
  readonly costs: readonly Cost[];
  /** Whether the row is in the record and not in the tables of pages. */
  readonly isOnlyRecorded?: boolean;
};

/** Whether a name is that of `bpe` or of one of its variants. `bpeasy` is another tool. */
export const isOurs = (name: string): boolean => name.split(",")[0] === "bpe";

/** Formats a number with three digits, without trailing zeros. */
const shown = (number: number) => String(Number(number.toPrecision(3)));

function time(seconds: number): string {
  if (seconds < 1e-3) return `${shown(seconds * 1e6)} µs`;
  return seconds < 0.1 ? `${shown(seconds * 1e3)} ms` : `${shown(seconds)} s`;
}

const secondsOf = ({ seconds = Number.POSITIVE_INFINITY }: Cost): number => seconds;

const fastest = (costs: readonly Cost[]): Cost | undefined =>
  costs.toSorted((one, other) => secondsOf(one) - secondsOf(other))[0];

/** Returns the costs that a row compares: those of `bpe`, of HF's package, and of the fastest other tool. */
function compared(costs: readonly Cost[]) {
  const named = (name: string) => costs.find((cost) => cost.name === name);
  const others = costs.filter(({ name }) => !isOurs(name) && name !== "tokenizers");
  return { ours: named("bpe"), other: fastest(others), huggingface: named("tokenizers") };
}

/**
 * Returns the time of the fastest other tool, which may be HF's package, divided by that of `bpe`: below 1, `bpe` is
 * slower. Returns "" if one of the two is missing.
 */
function ratio(costs: readonly Cost[]): string {
  const { ours, other, huggingface } = compared(costs);
  const theirs = fastest([other, huggingface].filter((cost) => cost !== undefined));
  if (ours === undefined || theirs === undefined) return "";
  return String(Number((secondsOf(theirs) / secondsOf(ours)).toPrecision(2)));
}

/**
 * Formats a cell: seconds, processor seconds, and MB. A number is bold if several costs are given, and none of them has
 * a smaller one.
 */
export function cell(cost: Cost | undefined, costs: readonly Cost[]): string {
  if (cost === undefined) return "–";
  const bold = (key: "seconds" | "processorSeconds" | "megabytes") => {
    const number = cost[key];
    if (number === undefined) return "–";
    const isBest =
      costs.length > 1 && costs.every((other) => number <= (other[key] ?? Number.POSITIVE_INFINITY));
    const text = key === "megabytes" || number >= 1e-2 ? shown(number) : time(number);
    return isBest ? `**${text}**` : text;
  };
  return `${bold("seconds")}, ${bold("processorSeconds")}, ${bold("megabytes")}`;
}

const listed = (rows: readonly Row[]) => rows.filter(({ isOnlyRecorded }) => isOnlyRecorded !== true);

/** Returns the table of docs/speed.md. */
export function speedTable(rows: readonly Row[]): string {
  return table(
    ["", "bpe", "fastest other", "HF `tokenizers`", "speedup (vs. fastest other)"],
    listed(rows).map(({ work, costs }) => {
      const { ours, other, huggingface } = compared(costs);
      const all = [ours, other, huggingface].filter((cost) => cost !== undefined);
      const theirs = other === undefined ? "–" : `${other.name} ${cell(other, all)}`;
      return [work, cell(ours, all), theirs, cell(huggingface, all), ratio(costs)];
    }),
  );
}

/** The rows in README's table: the name there, and the beginning of the row's name in docs/speed.md. */
const essence = [
  ["train on 100 MB of English", "train: english"],
  ["train on 1 GB", "train: 1 GB"],
  ["encode 100 MB of English into a file", "encode: english"],
  ["encode a batch of 10 MB into lists, in Python", "Python, a batch, lists"],
  ["encode 200 characters in one call, in Python", "Python, a call of 200 characters"],
] as const;

/** Returns the table of README, which leaves out processor times. */
export function readmeTable(rows: readonly Row[]): string {
  const short = (cost: Cost | undefined) =>
    cost === undefined
      ? "–"
      : time(secondsOf(cost)) + (cost.megabytes === undefined ? "" : `, ${shown(cost.megabytes)} MB`);
  const found = essence.flatMap(([words, start]) => {
    const row = rows.find(({ work }) => work.startsWith(start));
    if (row === undefined) return [];
    const { ours, other, huggingface } = compared(row.costs);
    const theirs = other === undefined ? "–" : `${other.name}: ${short(other)}`;
    return [[words, short(ours), theirs, short(huggingface), ratio(row.costs)]];
  });
  return table(
    ["two cores", "bpe", "fastest other", "HF `tokenizers`", "speedup (vs. fastest other)"],
    found,
  );
}

/**
 * Returns the page after replacing its table with `made`. The table on the page is the one with the same first line as
 * `made`.
 */
export function withTable(page: string, made: string): string {
  const head = made.slice(0, made.indexOf("\n")).replace(/[|*+?.()[\]{}\\^$]/g, "\\$&");
  return page.replace(new RegExp(`^${head}\n(?:\\|.*\n)+`, "m"), () => `${made}\n`);
}
