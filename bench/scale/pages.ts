// Writes the section of docs/many-machines.md on terabytes, and its chart, without measuring:
//
//   node scripts/bun.mjs bench/scale/pages.ts
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { paragraph, table } from "../markdown.ts";
import { drawScale } from "./chart.ts";
import { bounds, type Case, type Cost, casesOf, costOf, largestCorpus } from "./cost.ts";
import { continuationError } from "./heaps.ts";
import type { ScaleRecord } from "./record.ts";
import { digits, durationText, percent, short, sizeText } from "./units.ts";

const sizes = [1e12, 1e13, 1e14];
const sliceBytes = 16e9;
const page = "many-machines.md";
/** The heading of the section that is generated from the record. */
const heading = "\n## What terabytes cost\n";

export function writePages(record: ScaleRecord): void {
  const docs = resolve(import.meta.dir, "../../docs");
  writeFileSync(`${docs}/${page}`, withScale(readFileSync(`${docs}/${page}`, "utf8"), record));
  writeFileSync(`${docs}/scale.svg`, drawScale(record));
  console.log(`docs/${page} and docs/scale.svg are written`);
}

/** Returns the page with its section on scale written from the record. */
export function withScale(text: string, record: ScaleRecord): string {
  const [before, rest] = text.split(heading);
  if (rest === undefined) throw new Error(`docs/${page} has no section "${heading.trim()}"`);
  return `${before}${heading}\n${scaleSection(record)}\n${rest.slice(rest.indexOf("\n## "))}`;
}

function scaleSection(record: ScaleRecord): string {
  const cases = casesOf(record);
  const [low, middle, high] = cases as [Case, Case, Case];
  const largest = record.growth.flatMap(({ points }) => points).map(({ sizeBytes }) => sizeBytes);
  const errors = record.growth.map(({ points }) => continuationError(points));
  const headers = cases.map(({ title, name }) => `${title} (${name})`);
  const memory = (on: Case, bytes: number) => {
    const { sizeBytes, distinctWordCount } = largestCorpus(record, on, bytes);
    return `${sizeText(sizeBytes)} (${short(distinctWordCount)} words)`;
  };
  return [
    paragraph(
      `We measured corpora of up to ${sizeText(Math.max(...largest))}. **All larger sizes are modelled.** Counting
       grows with the text. Adding up and merging grow with the distinct words, and their number with a power of the
       size (Heaps' law). The model has three exponents: **low** for one language (${low.name},
       ${low.exponent.toFixed(3)}), **middle** for all corpora together (${middle.exponent.toFixed(3)}), **high** for
       ${high.name} text with many scripts (${high.exponent.toFixed(3)}), an upper bound. For a corpus eight times
       as large as those it was fitted to, it predicts ${percent(Math.min(...errors))} to
       ${percent(Math.max(...errors))} too many words.`,
    ),
    "![Distinct words over corpus size](scale.svg)",
    paragraph(
      `Times on one core; a cluster divides counting by its cores. Each cell is low / middle / high; – means that the words do not fit into one training:`,
    ),
    costTable(record, cases),
    paragraph(
      `One training is limited to ${sizeText(bounds.cells)} of distinct words (plus one byte for each), or by its
       memory:`,
    ),
    table(
      ["", ...headers],
      [8e9, 1e12].map((bytes) => [
        bytes === 1e12 ? "any memory" : `${sizeText(bytes)} of memory`,
        ...cases.map((on) => memory(on, bytes)),
      ]),
    ),
    paragraph(
      `Beyond that, \`bpe\` fails with an error before it merges. What helps, in this order: a pattern with short pretokens or
       a cleaner corpus; a sample of the corpus; \`bpe count --min-count N\`, which drops words that occur fewer than N
       times in a slice. ${rareWords(record)}`,
    ),
    paragraph(
      `Measured ${record.date}, commit ${record.commit}, ${record.cores} cores, pattern ${record.pattern}: processor time,
       medians of 3. The record, \`bench/record/scale.json\`, has more.`,
    ),
  ].join("\n\n");
}

function costTable(record: ScaleRecord, cases: readonly Case[]): string {
  const row = (name: string, cell: (cost: Cost) => string) => [
    name,
    ...sizes.map((sizeBytes) =>
      cases.map((on) => cell(costOf(record, on, sizeBytes, sliceBytes))).join(" / "),
    ),
  ];
  const fits = (cost: Cost, text: string) => (cost.tooMuch === undefined ? text : "–");
  return table(
    ["", ...sizes.map(sizeText)],
    [
      row("counting, core-hours", (cost) => digits(cost.countSeconds / 3600)),
      row("sent by slices of 16 GB", (cost) => sizeText(cost.sentBytes)),
      row("adding up", (cost) => durationText(cost.addUpSeconds)),
      row("distinct words", (cost) => short(cost.distinctWordCount)),
      row("merging: memory", (cost) => fits(cost, sizeText(cost.peakBytes))),
      row("merging: time", (cost) => fits(cost, durationText(cost.mergeSeconds))),
    ],
  );
}

/** Compares leaving out rare words with sampling the text. */
function rareWords({ leavingOut, sampling }: ScaleRecord): string {
  const shared = ({ sharedMerges, mergeCount }: { sharedMerges: number; mergeCount: number }) =>
    sharedMerges / mergeCount;
  const rare = leavingOut.filter(({ minCount }) => minCount > 1);
  const best = rare.reduce((one, other) => (shared(other) > shared(one) ? other : one));
  const samples = sampling.map((one) => `${percent(shared(one))} from 1/${1 / one.share}`);
  return `With N = ${best.minCount} and ${best.sliceCount} slices of ${sizeText(best.sliceBytes)},
    ${percent(shared(best))} of the exact merges were learned; from a shuffled part of the same text, ${samples.join(", ")}.`;
}

if (import.meta.main) {
  writePages(JSON.parse(readFileSync(`${import.meta.dir}/../record/scale.json`, "utf8")));
}
