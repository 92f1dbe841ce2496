import { casesOf, growthsOf, mergeCostOf } from "./cost.ts";
import { extrapolate } from "./heaps.ts";
import type { ScaleRecord } from "./record.ts";
import { short, sizeText } from "./units.ts";

const width = 860;
const height = 460;
const left = 70;
const top = 24;
const plotWidth = 560;
const plotHeight = 380;
/** 1 MB to 100 TB; 1,000 words to a million million. */
const sizes = { first: 6, last: 14 };
const words = { first: 3, last: 12 };
const colours = ["#4f9d45", "#e8862a", "#5b8fd1", "#b07aa1", "#8f8f8f", "#2fa39b"];
const caseColours = { low: "#4f9d45", middle: "#8f8f8f", high: "#e5484d" } as Record<string, string>;

const style = `<style>
  text { fill: #333 } .grid { stroke: #888; stroke-opacity: 0.3 } .bound { stroke: #888; stroke-dasharray: 2 3 }
  .case { fill: none; stroke-width: 1.8; stroke-dasharray: 6 4 }
  @media (prefers-color-scheme: dark) { text { fill: #ccc } }
</style>`;

/** scale.svg: distinct words over corpus size, measured (dots) and continued (broken lines), and where merging ends. */
export function drawScale(record: ScaleRecord): string {
  const cases = casesOf(record);
  const middle = cases.find(({ title }) => title === "middle")!;
  const wordsMax = 1e9 / (mergeCostOf(record, middle, 1e9).cells / (2 ** 31 - 2));
  const elements = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12" role="img">`,
    "<title>Distinct words over corpus size, measured and continued</title>",
    style,
    ...drawGrid(),
    `<path class="bound" d="M${left} ${atY(wordsMax)}h${plotWidth}"/>`,
    `<text x="${left + 6}" y="${atY(wordsMax) - 5}">what one training can hold: ${short(wordsMax)} words</text>`,
  ];
  for (const { title, growth, exponent } of cases) {
    const ends = [growth.from.sizeBytes, 1e14].map(
      (sizeBytes) => `${atX(sizeBytes)} ${atY(extrapolate(growth, exponent, sizeBytes))}`,
    );
    elements.push(`<path class="case" stroke="${caseColours[title]}" d="M${ends.join("L")}"/>`);
  }
  for (const [i, { name, points }] of growthsOf(record).entries()) {
    const colour = colours[i % colours.length]!;
    for (const { sizeBytes, distinctWordCount } of points) {
      elements.push(`<circle cx="${atX(sizeBytes)}" cy="${atY(distinctWordCount)}" r="3" fill="${colour}"/>`);
    }
    elements.push(legendLine(i, `<circle cx="11" cy="-4" r="3.5" fill="${colour}"/>`, `${name}, measured`));
  }
  for (const [i, { title, name, exponent }] of cases.entries()) {
    const line = `<path class="case" stroke="${caseColours[title]}" d="M0 -4h22"/>`;
    elements.push(
      legendLine(record.growth.length + i, line, `${title}: as ${name}, exponent ${exponent.toFixed(2)}`),
    );
  }
  return `${[...elements, "</svg>"].join("\n")}\n`;
}

function drawGrid(): string[] {
  const elements: string[] = [];
  for (let power = sizes.first; power <= sizes.last; power++) {
    const x = atX(10 ** power);
    elements.push(`<path class="grid" d="M${x} ${top}v${plotHeight}"/>`);
    elements.push(
      `<text x="${x}" y="${top + plotHeight + 18}" text-anchor="middle">${sizeText(10 ** power)}</text>`,
    );
  }
  for (let power = words.first; power <= words.last; power++) {
    const y = atY(10 ** power);
    elements.push(`<path class="grid" d="M${left} ${y}h${plotWidth}"/>`);
    elements.push(`<text x="${left - 8}" y="${y + 4}" text-anchor="end">${short(10 ** power)}</text>`);
  }
  elements.push(
    `<text x="${left + plotWidth / 2}" y="${height - 14}" text-anchor="middle">corpus; distinct words at the left</text>`,
  );
  return elements;
}

function legendLine(row: number, mark: string, text: string): string {
  const x = left + plotWidth + 20;
  return `<g transform="translate(${x} ${top + 16 + 22 * row})">${mark}<text x="30">${text}</text></g>`;
}

const share = (value: number, { first, last }: { first: number; last: number }) =>
  (Math.log10(value) - first) / (last - first);
const atX = (sizeBytes: number) => round(left + plotWidth * share(sizeBytes, sizes));
const atY = (wordCount: number) => round(top + plotHeight * (1 - share(wordCount, words)));
const round = (value: number) => Math.round(value * 10) / 10;
