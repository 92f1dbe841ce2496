import { list, paragraph, table } from "../markdown.ts";
import { compilerFlags } from "./cpp/build.ts";
import { fitExponent, type Point } from "./growth.ts";

/** A rung and its times: at the checkpoints, and for as many merges as were wanted or as the words give. */
export type RungResult = {
  readonly name: string;
  readonly language: string;
  readonly update: string;
  readonly selection: string;
  readonly points: Point[];
  readonly whole: Point[];
};

/** Ours beside others on the largest input, in turns: one number a round; ours is the last row. */
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

/** All that was measured. */
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

/** ladder.md, from the numbers of one run of the ladder. */
export function writeReport(ladder: Ladder): string {
  return `${[
    "# The ladder",
    introduction(ladder),
    "![Time over distinct words and over merges, both axes logarithmic](ladder.svg)",
    "## The rungs",
    "Rungs are in TypeScript where they are not named C++.",
    rungTable(ladder),
    steps,
    `## Time over distinct words, at ${integer(ladder.mergeCountHeld)} merges`,
    exponents,
    growthTable(
      ladder,
      ladder.wordCounts.map((count) => `${integer(count)} words`),
      (rung) => wordsSeries(ladder, rung),
      ladder.wordCounts,
      (point) => point.wordCount,
    ),
    `## Time over merges, at ${integer(ladder.wordCountHeld)} distinct words`,
    growthTable(
      ladder,
      ladder.mergeCounts.map(integer),
      (rung) => mergesSeries(ladder, rung),
      ladder.mergeCounts,
      (point) => point.mergeCount,
    ),
    "## The whole job",
    `${integer(ladder.mergeCountMax)} merges, or as many as the words give: the number in parentheses.`,
    wholeTable(ladder),
    fasterThanOurs(ladder),
    "## Beside C++",
    comparisonSection(ladder),
    "## Under which circumstances",
    circumstancesSection(ladder),
  ].join("\n\n")}\n`;
}

const exponents = "After an exponent: the number of points that it is fitted to.";

/** The points of a rung that stand in the first chart and table. */
export function wordsSeries(ladder: Ladder, rung: RungResult): Point[] {
  return rung.points.filter((point) => point.mergeCount === ladder.mergeCountHeld);
}

/** And in the second. */
export function mergesSeries(ladder: Ladder, rung: RungResult): Point[] {
  return rung.points.filter((point) => point.wordCount === ladder.wordCountHeld);
}

function introduction({ boundSeconds, text }: Ladder): string {
  return [
    `This page climbs from the textbook's way to learn byte-pair merges to \`src/merge/\`, by the steps that published
     reports of others took. Each rung is small and exact: all give the same merges with the same counts, and every run
     compares them as far as it goes. \`node scripts/bun.mjs bench/ladder/run.ts\` writes this page and its chart; the
     rungs are in \`bench/ladder/\`.`,
    `The words come from an order-3 byte chain over a text (${text}); the r-th of n words occurs n / r times. Each run is
     a process of its own and starts cold. Its time includes everything but reading the words. A run is stopped after
     ${boundSeconds} s; its whole time is then estimated from the pace since the last checkpoint and marked ≈. Without
     a checkpoint the table only says that it took more (>). Merges become cheaper as pairs become rarer, so an
     estimate is rather too high where a heap finds the next pair. A scan becomes dearer as pairs become more, so there
     it is rather too low. Exponents are fitted to measured times only; the exponent of the last two sizes depends
     least on what every process pays once.`,
  ]
    .map((text) => paragraph(text))
    .join("\n\n");
}

function rungTable({ rungs }: Ladder): string {
  return table(
    ["rung", "what a merge touches", "how it finds the next pair"],
    rungs.map((rung) => [rung.name, rung.update, rung.selection]),
  );
}

/** The worth of each step is in the tables; this says where it comes from. */
const steps = `Each step leaves some work undone:

${list([
  ["1.", "*words*: an index from pairs to words says where a merge happens. The other words are not read."],
  [
    "2.",
    "*neighbours*: in these words only the pairs beside an occurrence change. The others are neither subtracted nor added.",
  ],
  [
    "3.",
    `*heap*: the next pair is on top, so the counts are not searched. With lazy deletion every change is an entry, and
     the heap outgrows the pairs. The *compacted* heap is built anew when three of four entries are out of date.`,
  ],
  [
    "4.",
    `*linked*: an occurrence is a position that knows its neighbours. No word is read, and no set of words is kept. The
     count of a pair only falls after the merge that made it, so only new pairs are pushed, and the top is corrected
     when it is looked at.`,
  ],
  [
    "5.",
    `*ours*: a position stores no link and no weight, no occurrence needs a look-up in a hash table, and pairs that can
     no longer win are dropped when they are new. \`docs/internals/merge.md\` says how.`,
  ],
])}`;

function growthTable(
  ladder: Ladder,
  columns: readonly string[],
  seriesOf: (rung: RungResult) => Point[],
  sizes: readonly number[],
  sizeOf: (point: Point) => number,
): string {
  const rows = ladder.rungs.map((rung) => {
    const series = seriesOf(rung);
    const fit = fitExponent(series, sizeOf);
    const times = sizes.map((size) => {
      const point = series.find((candidate) => sizeOf(candidate) === size);
      return point === undefined ? "" : time(point);
    });
    const exponent = fit === undefined ? "" : `${fit.exponent.toFixed(2)} (${fit.pointCount})`;
    const measured = series.filter((point) => point.kind === "measured");
    const lastFit = fitExponent(measured.slice(-2), sizeOf);
    return [rung.name, ...times, exponent, lastFit === undefined ? "" : lastFit.exponent.toFixed(2)];
  });
  return table(["rung", ...columns, "exponent", "last two"], rows);
}

function wholeTable({ rungs, wordCounts }: Ladder): string {
  const mergesAt = (wordCount: number) => {
    const points = rungs.flatMap((rung) => rung.whole).filter((point) => point.wordCount === wordCount);
    return points[0] === undefined ? "" : integer(points[0].mergeCount);
  };
  return table(
    ["rung", ...wordCounts.map((count) => `${integer(count)} words (${mergesAt(count)})`)],
    rungs.map((rung) => [
      rung.name,
      ...wordCounts.map((count) => {
        const point = rung.whole.find((candidate) => candidate.wordCount === count);
        return point === undefined ? "" : time(point);
      }),
    ]),
  );
}

/** Said by the numbers: where the answer to "which is fastest" is not ours. */
function fasterThanOurs({ rungs, wordCounts }: Ladder): string {
  const wholeOf = (rung: RungResult, wordCount: number) =>
    rung.whole.find((point) => point.wordCount === wordCount)?.ms ?? Number.POSITIVE_INFINITY;
  const ours = rungs.at(-1)!;
  const cases = wordCounts.flatMap((wordCount) => {
    const faster = rungs.filter((rung) => wholeOf(rung, wordCount) < wholeOf(ours, wordCount));
    return faster.length === 0
      ? []
      : [`at ${integer(wordCount)} words by ${faster.map((rung) => rung.name).join(", ")}`];
  });
  if (cases.length === 0) return "Ours is the fastest at every size.";
  return paragraph(
    `Others are faster ${cases.join("; ")}: a process that starts cold interprets its code, and then compiles it, before it is fast.`,
  );
}

function comparisonSection({ circumstances, comparison }: Ladder): string {
  const { wordCount, mergeCount, loads, rows } = comparison;
  const ours = rows.at(-1)!;
  const ratios = (values: readonly number[], own: readonly number[]) =>
    values.map((value, i) => value / own[i]!);
  const perRound = (numbers: readonly number[], digits: number) =>
    numbers.map((number) => number.toFixed(digits)).join(" / ");
  const seconds = (values: readonly number[]) =>
    perRound(
      values.map((ms) => ms / 1000),
      2,
    );
  return `${paragraph(
    `${integer(wordCount)} distinct words, ${integer(mergeCount)} merges, in turns, ${loads.length} rounds; each number is one round, and
     each ratio is taken within its round. Processor time is that of the whole process, threads and reading included.`,
  )}

${table(
  ["rung", "seconds", "ratio to ours", "processor seconds", "ratio to ours", "peak memory"],
  rows.map((row) => [
    row.name,
    seconds(row.ms),
    perRound(ratios(row.ms, ours.ms), 1),
    seconds(row.cpuMs),
    perRound(ratios(row.cpuMs, ours.cpuMs), 1),
    `${(row.peakBytes / 1e6).toFixed(0)} MB`,
  ]),
)}

${cppNote(circumstances.compiler)}

${paragraph(
  `SHA-256 over the merges (\`int32 left, int32 right, float64 count\` each), the same for all:
   \`${ours.mergesSha256.slice(0, 16)}\`. Load average before each round: ${loads.join(", ")}.`,
)}`;
}

function cppNote(compiler: string | undefined): string {
  if (compiler === undefined) return "There was no C++ compiler on the machine: its rungs are left out.";
  return paragraph(
    `\`C++ exact index\` is the best kind of the reports: fine-grained update, flat hash maps, flat hash sets with
     exactly the words that hold a pair, a heap corrected lazily. \`C++ word lists\` is the same loop with plain lists
     instead of the sets, leaner than any of the reports. Both: ${compiler}, ${compilerFlags}.`,
  );
}

function circumstancesSection({ circumstances }: Ladder): string {
  return table(
    ["", ""],
    Object.entries(circumstances).map(([name, value]) => [name, `${value ?? "none"}`]),
  );
}

function time({ ms, kind }: Point): string {
  return `${{ measured: "", estimated: "≈ ", exceeded: "> " }[kind]}${duration(ms)}`;
}

function duration(ms: number): string {
  if (ms < 999.5) return `${ms < 9.95 ? ms.toFixed(1) : ms.toFixed(0)} ms`;
  const seconds = ms / 1000;
  if (seconds < 9.995) return `${seconds.toFixed(2)} s`;
  return seconds < 99.95 ? `${seconds.toFixed(1)} s` : `${integer(Math.round(seconds))} s`;
}

export const integer = (value: number) => value.toLocaleString("en-US");
