import { table } from "./markdown.ts";

/** What a program took: its time, that of all its threads, and the peak of its memory, where they are known. */
export type Cost = {
  readonly name: string;
  readonly seconds: number;
  readonly processorSeconds?: number;
  readonly megabytes?: number;
};
export type Row = { readonly work: string; readonly costs: readonly Cost[] };

/** Three digits, and no more zeros than these need. */
const shown = (number: number) => String(Number(number.toPrecision(3)));

function time(seconds: number): string {
  if (seconds < 1e-3) return `${shown(seconds * 1e6)} µs`;
  return seconds < 0.1 ? `${shown(seconds * 1e3)} ms` : `${shown(seconds)} s`;
}

const fastest = (costs: readonly Cost[]): Cost | undefined =>
  costs.toSorted((one, other) => one.seconds - other.seconds)[0];

/** Who is compared: `bpe`, HF's package, and the fastest of all others. */
function compared(costs: readonly Cost[]) {
  const named = (name: string) => costs.find((cost) => cost.name === name);
  const others = costs.filter(({ name }) => name !== "bpe" && name !== "tokenizers");
  return { ours: named("bpe"), other: fastest(others), huggingface: named("tokenizers") };
}

/** How many times as long as `bpe` the fastest other takes: below 1 it is faster. */
function ratio(costs: readonly Cost[]): string {
  const { ours, other, huggingface } = compared(costs);
  const theirs = fastest([other, huggingface].filter((cost) => cost !== undefined));
  if (ours === undefined || theirs === undefined) return "";
  return String(Number((theirs.seconds / ours.seconds).toPrecision(2)));
}

/** Seconds, seconds of processors, MB. */
function cell(cost: Cost | undefined, costs: readonly Cost[]): string {
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

/** The table of docs/speed.md. */
export function speedTable(rows: readonly Row[]): string {
  return table(
    ["", "bpe", "fastest other", "HF `tokenizers`", "speedup (vs. fastest other)"],
    rows.map(({ work, costs }) => {
      const { ours, other, huggingface } = compared(costs);
      const all = [ours, other, huggingface].filter((cost) => cost !== undefined);
      const theirs = other === undefined ? "–" : `${other.name} ${cell(other, all)}`;
      return [work, cell(ours, all), theirs, cell(huggingface, all), ratio(costs)];
    }),
  );
}

/** What README has of the table: its words for a row, and how the row begins. */
const essence = [
  ["train on 100 MB of English", "train: english"],
  ["train on 1 GB", "train: 1 GB"],
  ["encode 100 MB of English into a file", "encode: english"],
  ["in Python, a batch of 10 MB, as lists", "Python, a batch, lists"],
  ["in Python, a call of 200 characters", "Python, a call of 200 characters"],
] as const;

/** The few rows of README: times and peaks alone. */
export function readmeTable(rows: readonly Row[]): string {
  const short = (cost: Cost | undefined) =>
    cost === undefined
      ? "–"
      : time(cost.seconds) + (cost.megabytes === undefined ? "" : `, ${shown(cost.megabytes)} MB`);
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

/** The page with this table in place of the one that begins in the same way. */
export function withTable(page: string, made: string): string {
  const head = made.slice(0, made.indexOf("\n")).replace(/[|*+?.()[\]{}\\^$]/g, "\\$&");
  return page.replace(new RegExp(`^${head}\n(?:\\|.*\n)+`, "m"), () => `${made}\n`);
}
