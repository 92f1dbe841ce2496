// Writes docs/SCALE.md and its chart anew from the record, without measuring:
//
//   node scripts/bun.mjs bench/scale/pages.ts
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { list, paragraph, table } from "../markdown.ts";
import { drawScale } from "./chart.ts";
import { bounds, type Case, type Cost, casesOf, costOf, growthsOf, largestCorpus } from "./cost.ts";
import { continuationError } from "./heaps.ts";
import type { LeavingOut, ScaleRecord } from "./record.ts";
import { digits, durationText, percent, short, sizeText } from "./units.ts";

const sizes = [1e12, 1e13, 1e14];
const sliceSizes = [256e6, 16e9];

export function writePages(record: ScaleRecord): void {
  const docs = resolve(import.meta.dir, "../../docs");
  writeFileSync(`${docs}/SCALE.md`, scalePage(record));
  writeFileSync(`${docs}/scale.svg`, drawScale(record));
  console.log("docs/SCALE.md and docs/scale.svg are written");
}

export function scalePage(record: ScaleRecord): string {
  const cases = casesOf(record);
  const [low, middle, high] = cases as [Case, Case, Case];
  const memory = (on: Case, bytes: number) => {
    const { sizeBytes, distinctWordCount } = largestCorpus(record, on, bytes);
    return `${sizeText(sizeBytes)} (${short(distinctWordCount)} words)`;
  };
  return `${[
    "# Scale, on paper",
    paragraph(
      `What a corpus of 1, 10 and 100 TB costs, computed from measurements of corpora of megabytes.
       \`node scripts/bun.mjs bench/scale/measure.ts <corpus>...\` writes this page from its record,
       \`bench/record/scale.json\`; \`pages.ts\` beside it writes the page again without measuring. **Everything above
       the largest size measured is an extrapolation**, over four to six powers of ten, with a low and a high case.`,
    ),
    paragraph(
      `Counting grows with the text and is a map. Adding up and merging grow with the distinct words. So the question
       is how many those are.`,
    ),
    "## Distinct words",
    "![Distinct words over corpus size](scale.svg)",
    growthSection(record),
    paragraph(
      `Continued, with which exponent: **low** as ${low.name}, ${low.exponent.toFixed(3)}, its least; **middle** as all
       corpora together, ${middle.exponent.toFixed(3)}, the fitted one; **high** as ${high.name},
       ${high.exponent.toFixed(3)}, its greatest. A corpus of one language behaves like the low case. The high case has
       many scripts without spaces, where a pretoken of ${record.pattern} may be of any length. No corpus has ever more
       languages to come, so high is a bound and not an expectation. No case knows what only large crawls hold (base64,
       identifiers, machine output): look at the words of a slice before a large run.`,
    ),
    paragraph(
      `An exponent that is wrong by 0.01 changes the words of 1 TB by
       ${percent((1e12 / middle.growth.from.sizeBytes) ** 0.01 - 1)}, those of 100 TB by
       ${percent((1e14 / middle.growth.from.sizeBytes) ** 0.01 - 1)}.`,
    ),
    "## What was measured",
    ratesSection(record),
    "## What it costs",
    paragraph(
      `On one processor core of this machine; a cluster divides counting by its cores. Adding up is one process here.
       It can be a tree: sums of sums are the same.`,
    ),
    ...sizes.map((sizeBytes) => costTable(record, cases, sizeBytes)),
    paragraph(
      `Shuffle is what the tasks write and the sum reads, in the compact form. Larger slices send the same words fewer
       times: tasks of 16 GB send a fraction of what tasks of 256 MB do. A task may take several ranges; it needs memory
       for its distinct words only. A Spark job sends the words as text through Python, with more bytes and time a word.`,
    ),
    "## Where it ends",
    paragraph(
      `One training holds at most ${short(bounds.cells)} cells (bytes of the distinct words, and one more for each), less
       than ${sizeText(bounds.wordBytes)} of words, and fewer than ${short(bounds.words)} of them. The cells are used up
       first. And the memory is that of one machine:`,
    ),
    table(
      ["", ...cases.map(({ title, name }) => `${title} (${name})`)],
      [8e9, 24e9, 1e12].map((bytes) => [
        bytes === 1e12 ? "any memory" : `${sizeText(bytes)} of memory`,
        ...cases.map((on) => memory(on, bytes)),
      ]),
    ),
    paragraph(
      `Beyond it \`bpe\` ends with an error that says so before it merges. What helps then, in this order: fewer odd words
       (a pattern with short pretokens, a cleaner corpus), a sample of the corpus, and \`bpe count --min-count\`.`,
    ),
    "## Leaving rare words out: --min-count",
    paragraph(
      `\`bpe count --min-count N\` leaves words out that occur fewer than N times in a slice. The error is bounded: **the
       count of a word is too low by at most (N - 1) times the number of slices**, never too high, and no word is missing
       that occurs N times in some slice. Each run says how many words and occurrences it left out; their sum over the
       slices bounds what all counts together lack. Without the option counts are exact.`,
    ),
    paragraph(
      `That bound is on words. The count of a pair is too low by what all words with this pair lack, so merges do change.
       Measured on all corpora, ${record.pattern}, vocabulary 32,000, each slice counted for itself and all added up:`,
    ),
    leavingOutTable(record.leavingOut),
    paragraph(
      `*The same to*: merges before the first that differs. *Shared*: exact merges that are learned at all, in whatever
       order.`,
    ),
    samplingSection(record),
    paragraph(
      `The share left out falls as slices grow: slices of gigabytes hold each frequent word more often than these slices
       of megabytes. How many merges stay the same then was not measured.`,
    ),
    "## Under which circumstances",
    table(
      ["", ""],
      [
        ["measured", `${record.date}, commit ${record.commit}, Bun ${record.bun}`],
        [
          "machine",
          `${record.cores} cores, ${record.cpu}, ${sizeText(record.memoryBytes)}; load average ${record.load}`,
        ],
        [
          "times",
          "processor time of whole processes, without waiting for other work; medians of 3, adding up once",
        ],
      ],
    ),
  ].join("\n\n")}\n`;
}

function growthSection(record: ScaleRecord): string {
  return `${paragraph(
    `Blocks of 16 KB of each corpus, shuffled, and ever more of them; pattern ${record.pattern}. Heaps' law,
     V(n) = k nᵉ, is fitted to the last four sizes. *Off by*: how far the farthest of these is from the fit.
     *Continued*: what the smaller sizes alone predict for the largest, eight times as large, against its count.`,
  )}

${table(
  ["corpus", "from", "to", "distinct words", "exponent", "between neighbours", "off by", "continued"],
  growthsOf(record).map((growth) => [
    growth.name,
    sizeText(growth.points.at(-4)!.sizeBytes),
    sizeText(growth.from.sizeBytes),
    short(growth.from.distinctWordCount),
    growth.exponent.toFixed(3),
    `${growth.exponentLow.toFixed(3)} to ${growth.exponentHigh.toFixed(3)}`,
    percent(growth.fitError),
    signed(continuationError(growth.points)),
  ]),
)}`;
}

function ratesSection(record: ScaleRecord): string {
  const { addingUp, planning, merging } = record;
  const last = merging.at(-1)!;
  return `Files: bytes a word.

${table(
  ["corpus", "counting, a core", "distinct words", "bytes a word", "compact file", "text file"],
  record.counting.map((counted) => [
    counted.name,
    `${digits(counted.sizeBytes / 1e6 / counted.cpuSeconds)} MB/s`,
    short(counted.distinctWordCount),
    ...[counted.wordBytes, counted.compactBytes, counted.tsvBytes].map((bytes) =>
      (bytes / counted.distinctWordCount).toFixed(1),
    ),
  ]),
)}

${list([
  [
    "-",
    `Planning: ${digits((1e6 * planning.cpuSeconds) / planning.rangeCount)} µs a range (${short(planning.rangeCount)} ranges).`,
  ],
  [
    "-",
    `Adding up ${addingUp.fileCount} files: ${digits((1e9 * addingUp.cpuSeconds) / addingUp.readWordCount)} ns a word read
     (measured once); its memory does not grow with the words.`,
  ],
  [
    "-",
    `Merging, 32,000 tokens (processor time of the whole process; six million words are elapsed time, from
     bench/record/merge-6-million.json): ${merging
       .map(
         (point) =>
           `${short(point.distinctWordCount)} words ${digits(point.cpuSeconds)} s and ${sizeText(point.peakBytes)}`,
       )
       .join(
         ", ",
       )}; that is ${digits(last.peakBytes / (last.wordBytes + last.distinctWordCount))} bytes for each byte of
     a distinct word (one more a word).`,
  ],
])}`;
}

function costTable(record: ScaleRecord, cases: readonly Case[], sizeBytes: number): string {
  const costs = cases.map((on) => sliceSizes.map((sliceBytes) => costOf(record, on, sizeBytes, sliceBytes)));
  const row = (name: string, cell: (pair: Cost[]) => string) => [name, ...costs.map(cell)];
  const both = (cell: (cost: Cost) => string) => (pair: Cost[]) => pair.map(cell).join(" / ");
  return table(
    [`**${sizeText(sizeBytes)}**`, ...cases.map(({ title, name }) => `${title} (${name})`)],
    [
      row("plan, ranges of 256 MB", ([cost]) => durationText(cost!.planSeconds)),
      row("counting, core-hours", ([cost]) => digits(cost!.countSeconds / 3600)),
      row(
        "shuffle, slices of 256 MB / 16 GB",
        both((cost) => sizeText(cost.sentBytes)),
      ),
      row(
        "adding up, the same",
        both((cost) => durationText(cost.addUpSeconds)),
      ),
      row("distinct words", ([cost]) => `${short(cost!.distinctWordCount)}, ${sizeText(cost!.wordBytes)}`),
      row("merging: memory", ([cost]) =>
        cost!.tooMuch === undefined
          ? sizeText(cost!.peakBytes)
          : `too many (would be ${sizeText(cost!.peakBytes)})`,
      ),
      row("merging: time", ([cost]) => (cost!.tooMuch === undefined ? durationText(cost!.mergeSeconds) : "")),
    ],
  );
}

function samplingSection({ sampling, leavingOut }: ScaleRecord): string {
  const shares = sampling.map(
    ({ share, mergeCount, sharedMerges }) =>
      `${percent(sharedMerges / mergeCount)} with 1/${1 / share} of it`,
  );
  const rare = leavingOut.filter(({ minCount }) => minCount > 1);
  const bestShare = Math.max(...rare.map(({ sharedMerges, mergeCount }) => sharedMerges / mergeCount));
  const compared = sampling.filter(({ sharedMerges, mergeCount }) => sharedMerges / mergeCount > bestShare);
  const verdict =
    compared.length > 0
      ? `So 1/${1 / compared.at(-1)!.share} of the text keeps more of the merges than any row above that leaves words out,
         and costs less: **take a sample before you leave words out**.`
      : "Each row above that keeps more is worth more than such a part.";
  return paragraph(
    `To compare with: training exactly, on a shuffled part of the same corpora, shares ${shares.join(", ")}. ${verdict}`,
  );
}

function leavingOutTable(rows: readonly LeavingOut[]): string {
  return table(
    ["slices", "N", "words sent", "distinct words left", "occurrences left out", "the same to", "shared"],
    rows.map((row) => [
      `${row.sliceCount} of ${sizeText(row.sliceBytes)}`,
      row.minCount === 1 ? "1 (exact)" : `${row.minCount}`,
      short(row.sentWordCount),
      short(row.distinctWordCount),
      percent(row.leftOutShare),
      `${row.sameMergesFirst.toLocaleString("en-US")} of ${row.mergeCount.toLocaleString("en-US")}`,
      percent(row.sharedMerges / row.mergeCount),
    ]),
  );
}

const signed = (share: number) => `${share < 0 ? "" : "+"}${percent(share)}`;

if (import.meta.main) {
  writePages(JSON.parse(readFileSync(`${import.meta.dir}/../record/scale.json`, "utf8")));
}
