import { list, paragraph, table } from "../markdown.ts";
import { compilerFlags } from "./cpp/build.ts";
import { fitExponent, type Point } from "./growth.ts";

/** One rung of the ladder, which is a way to learn merges (rungs.ts), and its times. */
export type RungResult = {
  readonly name: string;
  readonly language: string;
  readonly update: string;
  readonly selection: string;
  /** The times for several numbers of words and of merges. */
  readonly points: Point[];
  /** The time of all requested merges, or of as many as the words give, for each number of words. */
  readonly whole: Point[];
};

/**
 * Times of `bpe` and other rungs on the largest input. `ms` and `cpuMs` have one number for each round. The last row is
 * `bpe`.
 */
export type Comparison = {
  readonly wordCount: number;
  readonly mergeCount: number;
  readonly loads: readonly string[];
  readonly rows: readonly {
    readonly name: string;
    readonly ms: readonly number[];
    readonly cpuMs: readonly number[];
    readonly peakBytes: number;
    readonly mergesSha256: string;
  }[];
};

/** The results of a run of the ladder. */
export type Ladder = {
  readonly circumstances: { readonly [name: string]: unknown; readonly compiler: string | undefined };
  readonly text: string;
  readonly boundSeconds: number;
  readonly wordCounts: readonly number[];
  readonly mergeCounts: readonly number[];
  readonly wordCountHeld: number;
  readonly mergeCountHeld: number;
  readonly mergeCountMax: number;
  readonly rungs: readonly RungResult[];
  readonly comparison: Comparison;
};

/** Returns the text of ladder.md for the results of one run of the ladder. */
export function writeReport(ladder: Ladder): string {
  return `${[
    "# The ladder",
    introduction(ladder),
    "![Time over distinct words and over merges, both axes logarithmic](ladder.svg)",
    "## The rungs",
    steps,
    "## The whole job",
    wholeIntroduction(ladder),
    wholeTable(ladder),
    fasterThanOurs(ladder),
    "## Compared with C++",
    comparisonSection(ladder),
  ].join("\n\n")}\n`;
}

/** Returns the points of a rung in the first panel of the chart. */
export function wordsSeries(ladder: Ladder, rung: RungResult): Point[] {
  return rung.points.filter((point) => point.mergeCount === ladder.mergeCountHeld);
}

/** Returns the points of a rung in the second panel of the chart. */
export function mergesSeries(ladder: Ladder, rung: RungResult): Point[] {
  return rung.points.filter((point) => point.wordCount === ladder.wordCountHeld);
}

function introduction({ boundSeconds, text, circumstances }: Ladder): string {
  const { date, commit, cpu, cores, bun, load } = circumstances;
  return [
    `This page goes from the textbook's way of learning merges to \`src/merge/\`, in the steps that published reports
     took. All rungs give the same merges with the same counts, and every run compares them. The rungs are in
     \`bench/ladder/\`; \`run.ts\` there writes this page and its chart.`,
    `The words come from an order-3 byte chain over a text (${text}); the r-th of n words occurs n / r times. Each run is
     a process of its own and starts cold; reading the words is not timed. A run is stopped after ${boundSeconds} s; its
     time is then estimated from its pace (≈), or only bounded (>).
     Measured on ${date} at commit ${commit}: ${cpu}, ${cores} cores, Bun ${bun}, load ${load}.`,
  ]
    .map((text) => paragraph(text))
    .join("\n\n");
}

/** Markdown that says what each rung does. */
const steps = `Each step leaves some work undone. Rungs are in TypeScript where they are not named C++.

${list([
  ["0.", "*recount + scan*: count all pairs for each merge, and search all counts for the best."],
  ["1.", "*words*: an index says which words have the pair; the others are not read."],
  ["2.", "*neighbours*: only the pairs next to an occurrence are subtracted and added."],
  [
    "3.",
    `*heap*: the next pair is on top. With lazy deletion every change is an entry, and the heap outgrows the pairs. The
     *compacted* heap is rebuilt when three of four entries are stale.`,
  ],
  [
    "4.",
    `*linked*: an occurrence is a position that knows its neighbours, so no word is read. Counts only fall
     ([merge.md](../../docs/internals/merge.md)), so only new pairs are pushed, and the top is corrected when it is looked at.`,
  ],
  [
    "5.",
    `*ours*: a position stores no link and no weight, no occurrence needs a look-up in a hash table, and pairs that can
     no longer win are dropped when they are new.`,
  ],
  [
    "-",
    `*C++ exact index* is the best kind in the reports: flat hash sets with exactly the words that hold a pair, and a
     heap corrected lazily. *C++ word lists* has plain lists, which may still name words that have lost the pair.`,
  ],
])}`;

function wholeIntroduction({
  mergeCountMax,
  wordCountHeld,
  mergeCountHeld,
  rungs,
  wordCounts,
}: Ladder): string {
  const wholes = rungs.flatMap((rung) => rung.whole);
  const fewer = wordCounts.flatMap((wordCount) => {
    const mergeCount = wholes.find((point) => point.wordCount === wordCount)?.mergeCount ?? mergeCountMax;
    return mergeCount < mergeCountMax ? [`${integer(mergeCount)} of ${integer(wordCount)}`] : [];
  });
  return paragraph(
    `${integer(mergeCountMax)} merges, or as many as the words give (${fewer.join(", ")}), in seconds. The last columns are growth: the exponent of the
     last two measured points, over words at ${integer(mergeCountHeld)} merges, over merges at ${integer(wordCountHeld)} words.`,
  );
}

/** Returns the exponent of growth between the last two measured points; "" if there are not two. */
function growthOf(series: readonly Point[], sizeOf: (point: Point) => number): string {
  const measured = series.filter((point) => point.kind === "measured");
  return fitExponent(measured.slice(-2), sizeOf)?.exponent.toFixed(2) ?? "";
}

function wholeTable(ladder: Ladder): string {
  const { rungs, wordCounts } = ladder;
  return table(
    ["rung", ...wordCounts.map((count) => `${integer(count)} words`), "by words", "by merges"],
    rungs.map((rung) => [
      rung.name,
      ...wordCounts.map((count) => {
        const point = rung.whole.find((candidate) => candidate.wordCount === count);
        return point === undefined ? "" : time(point);
      }),
      growthOf(wordsSeries(ladder, rung), (point) => point.wordCount),
      growthOf(mergesSeries(ladder, rung), (point) => point.mergeCount),
    ]),
  );
}

/** Returns a sentence on the cases in which another rung is faster than `bpe`. */
function fasterThanOurs({ rungs, wordCounts }: Ladder): string {
  const wholeOf = (rung: RungResult, wordCount: number) =>
    rung.whole.find((point) => point.wordCount === wordCount)?.ms ?? Number.POSITIVE_INFINITY;
  const ours = rungs.at(-1)!;
  const cases = wordCounts.flatMap((wordCount) => {
    const faster = rungs.filter((rung) => wholeOf(rung, wordCount) < wholeOf(ours, wordCount));
    return faster.length === 0
      ? []
      : [`at ${integer(wordCount)} words ${faster.map((rung) => rung.name).join(", ")}`];
  });
  if (cases.length === 0) return "Ours is the fastest at every size.";
  return paragraph(
    `Faster than ours: ${cases.join("; ")}. A process that starts cold interprets its code, and then compiles it, before it is
     fast.`,
  );
}

function comparisonSection({ circumstances, comparison }: Ladder): string {
  const { wordCount, mergeCount, loads, rows } = comparison;
  const ours = rows.at(-1)!;
  const perRound = (numbers: readonly number[], digits: number) =>
    numbers.map((number) => number.toFixed(digits)).join(", ");
  const ratios = (values: readonly number[], own: readonly number[]) =>
    perRound(
      values.map((value, i) => value / own[i]!),
      1,
    );
  const seconds = (values: readonly number[]) =>
    perRound(
      values.map((ms) => ms / 1000),
      2,
    );
  return `${paragraph(
    `${integer(wordCount)} distinct words, ${integer(mergeCount)} merges, in turns, ${loads.length} rounds; ratios are taken within a
     round. Processor time is that of the whole process.`,
  )}

${list(
  rows.map((row) => [
    "-",
    `${row.name}: ${seconds(row.ms)} s${row === ours ? "" : `; times ours ${ratios(row.ms, ours.ms)}; processor time ${ratios(row.cpuMs, ours.cpuMs)}`}; ${(row.peakBytes / 1e6).toFixed(0)} MB`,
  ]),
)}

${paragraph(
  `${cppNote(circumstances.compiler)} SHA-256 over the merges (\`int32 left, int32 right, float64 count\` each), the same
   for all: \`${ours.mergesSha256.slice(0, 16)}\`.`,
)}`;
}

const cppNote = (compiler: string | undefined) =>
  compiler === undefined
    ? "There was no C++ compiler on the machine: its rungs are left out."
    : `C++: ${compiler}, ${compilerFlags}.`;

function time({ ms, kind }: Point): string {
  return `${{ measured: "", estimated: "≈", exceeded: ">" }[kind]}${inSeconds(ms / 1000)}`;
}

/** Formats seconds, with more decimals for shorter times. */
function inSeconds(seconds: number): string {
  const digits = seconds < 0.00995 ? 4 : seconds < 0.9995 ? 3 : seconds < 9.995 ? 2 : seconds < 99.95 ? 1 : 0;
  return seconds < 999.5 ? seconds.toFixed(digits) : integer(Math.round(seconds));
}

export const integer = (value: number) => value.toLocaleString("en-US");
