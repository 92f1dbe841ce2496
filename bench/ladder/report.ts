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
    rungTable(ladder),
    steps,
    `## Time over distinct words, at ${integer(ladder.mergeCountHeld)} merges`,
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
      ladder.mergeCounts.map((count) => `${integer(count)} merges`),
      (rung) => mergesSeries(ladder, rung),
      ladder.mergeCounts,
      (point) => point.mergeCount,
    ),
    "## The whole job",
    `${integer(ladder.mergeCountMax)} merges, or as many as the words give.`,
    wholeTable(ladder),
    fasterThanOurs(ladder),
    "## Beside C++",
    comparisonSection(ladder),
    "## Under which circumstances",
    circumstancesSection(ladder),
  ].join("\n\n")}\n`;
}

/** The points of a rung that stand in the first chart and table. */
export function wordsSeries(ladder: Ladder, rung: RungResult): Point[] {
  return rung.points.filter((point) => point.mergeCount === ladder.mergeCountHeld);
}

/** And in the second. */
export function mergesSeries(ladder: Ladder, rung: RungResult): Point[] {
  return rung.points.filter((point) => point.wordCount === ladder.wordCountHeld);
}

function introduction({ boundSeconds, text }: Ladder): string {
  return `The ways to learn byte-pair merges that the reports this project starts from went through, from the textbook to
\`src/merge/\`. Each rung is small and exact: all give the same merges with the same counts, compared in every run as far
as it went. This page and its chart are written by \`node scripts/bun.mjs bench/ladder/run.ts\`; what each rung does stands in
\`bench/ladder/\`.

The words come from an order-3 byte chain over a text (${text}); the r-th of n words occurs n / r times. A run is a
process of its own and starts cold: reading the words is outside its time, everything else is inside. It is stopped after
${boundSeconds} s; what it would have taken is then estimated from the pace since its last checkpoint and marked ≈, or without a
checkpoint only said to be more (>). Merges become cheaper as pairs become rarer, so that an estimate is rather too high
where a heap finds the next pair; a scan becomes dearer as pairs become more, so that it is rather too low there.
Exponents are fitted to measured times only; that of the last two is the less bent by what every process pays once.`;
}

function rungTable({ rungs }: Ladder): string {
  return table(
    ["rung", "in", "what a merge touches", "how the next pair is found"],
    rungs.map((rung) => [rung.name, rung.language, rung.update, rung.selection]),
  );
}

/** The worth of each step is in the tables; this says where it comes from. */
const steps = `Each step up leaves something undone:

1. *words*: an index from pair to words says where a merge happens; the other words are not read.
2. *neighbours*: in those words only the pairs beside an occurrence change; the others are neither subtracted nor added.
3. *heap*: the next pair stands on top; the counts are not looked through. With lazy deletion every change is an entry,
   so that the heap outgrows the pairs; *compacted*, it is made anew when three of four entries are out of date.
4. *linked*: an occurrence is a position that knows its neighbours; no word is read, and no set of words is kept. A
   pair's count only falls once it is born, so that only births are pushed, and the top is corrected when it is seen.
5. *ours*: no link and no weight is stored with a position, no hash table is asked for each occurrence, and pairs that
   can no longer win are forgotten at birth. \`docs/merge.md\` says how.`;

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
    const exponent = fit === undefined ? "" : `${fit.exponent.toFixed(2)} (${fit.pointCount} points)`;
    const measured = series.filter((point) => point.kind === "measured");
    const lastFit = fitExponent(measured.slice(-2), sizeOf);
    return [rung.name, ...times, exponent, lastFit === undefined ? "" : lastFit.exponent.toFixed(2)];
  });
  return table(["rung", ...columns, "exponent", "of the last two"], rows);
}

function wholeTable({ rungs, wordCounts }: Ladder): string {
  const mergesAt = (wordCount: number) => {
    const points = rungs.flatMap((rung) => rung.whole).filter((point) => point.wordCount === wordCount);
    return points[0] === undefined ? "" : `${integer(points[0].mergeCount)} merges`;
  };
  return table(
    ["rung", ...wordCounts.map((count) => `${integer(count)} words, ${mergesAt(count)}`)],
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
  return `Ours is beaten ${cases.join("; ")}: a process that starts cold interprets, and then compiles, before it is fast.`;
}

function comparisonSection({ circumstances, comparison }: Ladder): string {
  const { wordCount, mergeCount, loads, rows } = comparison;
  const ours = rows.at(-1)!;
  const ratios = (values: readonly number[], own: readonly number[]) =>
    values.map((value, i) => value / own[i]!);
  const list = (numbers: readonly number[], digits: number) =>
    numbers.map((number) => number.toFixed(digits)).join(" / ");
  const seconds = (values: readonly number[]) =>
    list(
      values.map((ms) => ms / 1000),
      2,
    );
  return `${integer(wordCount)} distinct words, ${integer(mergeCount)} merges, in turns, ${loads.length} rounds; each number stands for a round. A
ratio is taken within its round. Processor time is that of the whole process, threads and reading included.

${table(
  ["rung", "seconds", "ratio to ours", "processor seconds", "ratio to ours", "peak memory"],
  rows.map((row) => [
    row.name,
    seconds(row.ms),
    list(ratios(row.ms, ours.ms), 1),
    seconds(row.cpuMs),
    list(ratios(row.cpuMs, ours.cpuMs), 1),
    `${(row.peakBytes / 1e6).toFixed(0)} MB`,
  ]),
)}

${cppNote(circumstances.compiler)}

SHA-256 over the merges (\`int32 left, int32 right, float64 count\` each), the same for all: \`${ours.mergesSha256.slice(0, 16)}\`.
Load average before each round: ${loads.join(", ")}.`;
}

function cppNote(compiler: string | undefined): string {
  if (compiler === undefined) return "There was no C++ compiler on the machine: its rungs are left out.";
  return `\`C++ exact index\` is the best kind of the reports: fine-grained update, flat hash maps, flat hash sets that name exactly
the words that hold a pair, a heap corrected lazily. \`C++ word lists\` is the same loop with plain lists in place of the
sets, leaner than any of the reports. Both: ${compiler}, ${compilerFlags}.`;
}

function circumstancesSection({ circumstances }: Ladder): string {
  return table(
    ["", ""],
    Object.entries(circumstances).map(([name, value]) => [name, `${value ?? "none"}`]),
  );
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(header), line(header.map(() => "---")), ...rows.map(line)].join("\n");
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
