import { casesOf, growthsOf, mergeCostOf } from "./cost.ts";
import { extrapolate } from "./heaps.ts";
import type { ScaleRecord } from "./record.ts";
import { short, sizeText } from "./units.ts";

const height = 460;
const left = 70;
const top = 24;
const plotWidth = 560;
const plotHeight = 380;
const legendLeft = left + plotWidth + 20;
/** The space for a mark in the legend, including the gap before its text, in pixels. */
const markWidth = 30;
/** The width of a letter at a font size of 12 pixels. */
const letterWidth = 7;
/** The curves are extrapolated up to 100 TB. */
const sizeBytesMax = 1e14;
const colours = ["#4f9d45", "#e8862a", "#5b8fd1", "#b07aa1", "#8f8f8f", "#2fa39b"];
const caseColours = { low: "#4f9d45", middle: "#8f8f8f", high: "#e5484d" } as Record<string, string>;

const style = `<style>
  text { fill: #333 } .grid { stroke: #888; stroke-opacity: 0.3 } .bound { stroke: #888; stroke-dasharray: 2 3 }
  .case { fill: none; stroke-width: 1.8; stroke-dasharray: 6 4 }
  @media (prefers-color-scheme: dark) { text { fill: #ccc } }
</style>`;

/** Draws scale.svg: distinct words over corpus size, measured (dots) and extrapolated (dashed lines). */
export function drawScale(record: ScaleRecord): string {
  const cases = casesOf(record);
  const growths = growthsOf(record);
  const middle = cases.find(({ title }) => title === "middle")!;
  const wordsMax = 1e9 / (mergeCostOf(record, middle, 1e9).cells / (2 ** 31 - 2));
  const ends = cases.map(({ growth, exponent }) => extrapolate(growth, exponent, sizeBytesMax));
  const points = growths.flatMap((growth) => growth.points);
  const axes: Axes = {
    sizes: wholeDecades([...points.map(({ sizeBytes }) => sizeBytes), sizeBytesMax]),
    words: wholeDecades([...points.map(({ distinctWordCount }) => distinctWordCount), ...ends, wordsMax]),
  };
  const { atX, atY } = placesIn(axes);
  const elements = [
    ...drawGrid(axes),
    `<path class="bound" d="M${left} ${atY(wordsMax)}h${plotWidth}"/>`,
    `<text x="${left + 6}" y="${atY(wordsMax) - 5}">what one training can hold: ${short(wordsMax)} words</text>`,
  ];
  const legend: { mark: string; text: string }[] = [];
  for (const [i, { title, name, growth, exponent }] of cases.entries()) {
    const { sizeBytes } = growth.from;
    const from = `${atX(sizeBytes)} ${atY(extrapolate(growth, exponent, sizeBytes))}`;
    const to = `${atX(sizeBytesMax)} ${atY(ends[i]!)}`;
    elements.push(`<path class="case" stroke="${caseColours[title]}" d="M${from}L${to}"/>`);
    legend.push({
      mark: `<path class="case" stroke="${caseColours[title]}" d="M0 -4h22"/>`,
      text: `${title}: as ${name}, exponent ${exponent.toFixed(2)}`,
    });
  }
  const dots = growths.map(({ name, points }, i) => {
    const colour = colours[i % colours.length]!;
    for (const { sizeBytes, distinctWordCount } of points) {
      elements.push(`<circle cx="${atX(sizeBytes)}" cy="${atY(distinctWordCount)}" r="3" fill="${colour}"/>`);
    }
    return { mark: `<circle cx="11" cy="-4" r="3.5" fill="${colour}"/>`, text: `${name}, measured` };
  });
  legend.unshift(...dots);
  const longestText = Math.max(...legend.map(({ text }) => text.length));
  const width = legendLeft + markWidth + longestText * letterWidth;
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12" role="img">`,
    "<title>Distinct words over corpus size, measured and continued</title>",
    style,
    ...elements,
    ...legend.map(drawLegendLine),
    "</svg>",
  ].join("\n")}\n`;
}

function drawGrid(axes: Axes): string[] {
  const { atX, atY } = placesIn(axes);
  const elements: string[] = [];
  for (let power = axes.sizes.first; power <= axes.sizes.last; power++) {
    const x = atX(10 ** power);
    elements.push(`<path class="grid" d="M${x} ${top}v${plotHeight}"/>`);
    elements.push(
      `<text x="${x}" y="${top + plotHeight + 18}" text-anchor="middle">${sizeText(10 ** power)}</text>`,
    );
  }
  for (let power = axes.words.first; power <= axes.words.last; power++) {
    const y = atY(10 ** power);
    elements.push(`<path class="grid" d="M${left} ${y}h${plotWidth}"/>`);
    elements.push(`<text x="${left - 8}" y="${y + 4}" text-anchor="end">${short(10 ** power)}</text>`);
  }
  elements.push(
    `<text x="${left + plotWidth / 2}" y="${height - 14}" text-anchor="middle">corpus; distinct words at the left</text>`,
  );
  return elements;
}

function drawLegendLine({ mark, text }: { mark: string; text: string }, row: number): string {
  const place = `translate(${legendLeft} ${top + 16 + 22 * row})`;
  return `<g transform="${place}">${mark}<text x="${markWidth}">${text}</text></g>`;
}

/** The range of an axis: from 10^first to 10^last. */
type Decades = { readonly first: number; readonly last: number };
type Axes = { readonly sizes: Decades; readonly words: Decades };

/** Returns the decades that contain all values. */
function wholeDecades(values: readonly number[]): Decades {
  const logarithms = values.map(Math.log10);
  return { first: Math.floor(Math.min(...logarithms)), last: Math.ceil(Math.max(...logarithms)) };
}

/** Returns functions for the position of a corpus size and of a number of words, in pixels. */
function placesIn({ sizes, words }: Axes) {
  const share = (value: number, { first, last }: Decades) => (Math.log10(value) - first) / (last - first);
  return {
    atX: (sizeBytes: number) => round(left + plotWidth * share(sizeBytes, sizes)),
    atY: (wordCount: number) => round(top + plotHeight * (1 - share(wordCount, words))),
  };
}

const round = (value: number) => Math.round(value * 10) / 10;
