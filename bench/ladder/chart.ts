import type { Point } from "./growth.ts";
import { integer, type Ladder, mergesSeries, type RungResult, wordsSeries } from "./report.ts";

/** Draws ladder.svg: two log-log panels, time over words and time over merges. */
export function drawLadder(ladder: Ladder): string {
  const wordPoints = ladder.rungs.map((rung) => wordsSeries(ladder, rung));
  const mergePoints = ladder.rungs.map((rung) => mergesSeries(ladder, rung));
  const allMs = [...wordPoints, ...mergePoints].flat().map((point) => point.ms);
  const y = wholeDecades(logarithms(Math.min(...allMs), Math.max(...allMs)));
  const left: Panel = {
    x: 72,
    title: `time over distinct words, at ${integer(ladder.mergeCountHeld)} merges`,
    domain: logarithms(ladder.wordCounts[0]!, ladder.wordCounts.at(-1)!),
    sizeOf: (point) => point.wordCount,
    namesBound: true,
  };
  const right: Panel = {
    x: 72 + panelWidth + 64,
    title: `time over merges, at ${integer(ladder.wordCountHeld)} distinct words`,
    domain: logarithms(ladder.mergeCounts[0]!, ladder.mergeCounts.at(-1)!),
    sizeOf: (point) => point.mergeCount,
    namesBound: false,
  };
  const width = right.x + panelWidth + 24 + legendWidth;
  const height = panelTop + panelHeight + 56;
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12" role="img">`,
    "<title>How the time of each way to learn merges grows</title>",
    style,
    ...drawPanel(left, y, ladder, wordPoints),
    ...drawPanel(right, y, ladder, mergePoints),
    ...drawLegend(ladder, right.x + panelWidth + 24),
    "</svg>",
  ].join("\n")}\n`;
}

/** The range of an axis: from 10^first to 10^last. */
type Logarithms = { readonly first: number; readonly last: number };

type Panel = {
  readonly x: number;
  readonly title: string;
  readonly domain: Logarithms;
  readonly sizeOf: (point: Point) => number;
  /** Whether the panel labels the time limit. Only one does, where no line is near. */
  readonly namesBound: boolean;
};

const panelWidth = 340;
const panelHeight = 380;
const panelTop = 40;
const legendWidth = 230;

/**
 * Middle tones, which can be distinguished on white and on black.
 */
const colours = [
  "#8f8f8f",
  "#b07aa1",
  "#a9745b",
  "#b8941f",
  "#4f9d45",
  "#2fa39b",
  "#5b8fd1",
  "#e8862a",
  "#c4622d",
  "#e5484d",
];

const style = `<style>
  text { fill: #333 } .grid { stroke: #888; stroke-opacity: 0.3 } .bound { stroke: #888; stroke-dasharray: 2 3 }
  .line { fill: none; stroke-width: 1.6 } .ours { stroke-width: 3 } .estimate { stroke-dasharray: 5 4 }
  .hollow { fill: #fff; stroke-width: 1.6 }
  @media (prefers-color-scheme: dark) { text { fill: #ccc } .hollow { fill: #0d1117 } }
</style>`;

function logarithms(low: number, high: number): Logarithms {
  return { first: Math.log10(low), last: Math.log10(high) };
}

function wholeDecades({ first, last }: Logarithms): Logarithms {
  return { first: Math.floor(first), last: Math.ceil(last) };
}

function place(value: number, { first, last }: Logarithms): number {
  return (Math.log10(value) - first) / (last - first);
}

function drawPanel(panel: Panel, y: Logarithms, ladder: Ladder, series: readonly Point[][]): string[] {
  const bottom = panelTop + panelHeight;
  const atX = (size: number) => round(panel.x + panelWidth * place(size, panel.domain));
  const atY = (ms: number) => round(bottom - panelHeight * place(ms, y));
  const elements = [`<text x="${panel.x}" y="${panelTop - 16}" font-weight="600">${panel.title}</text>`];
  for (let power = Math.ceil(panel.domain.first); power <= panel.domain.last; power++) {
    const x = atX(10 ** power);
    elements.push(`<path class="grid" d="M${x} ${panelTop}V${bottom}"/>`);
    elements.push(`<text x="${x}" y="${bottom + 18}" text-anchor="middle">${integer(10 ** power)}</text>`);
  }
  for (let power = y.first; power <= y.last; power++) {
    const level = atY(10 ** power);
    elements.push(`<path class="grid" d="M${panel.x} ${level}h${panelWidth}"/>`);
    elements.push(`<text x="${panel.x - 8}" y="${level + 4}" text-anchor="end">${timeLabel(power)}</text>`);
  }
  const bound = atY(1000 * ladder.boundSeconds);
  elements.push(`<path class="bound" d="M${panel.x} ${bound}h${panelWidth}"/>`);
  if (panel.namesBound) {
    elements.push(`<text x="${panel.x + 6}" y="${bound - 5}">stopped at ${ladder.boundSeconds} s</text>`);
  }
  for (const [i, points] of series.entries()) {
    const colour = colours[i % colours.length]!;
    const sorted = points.toSorted((a, b) => panel.sizeOf(a) - panel.sizeOf(b));
    elements.push(
      ...drawSeries(
        sorted,
        colour,
        ladder.rungs[i]!,
        (p) => atX(panel.sizeOf(p)),
        (p) => atY(p.ms),
      ),
    );
  }
  return elements;
}

/** Draws a series. A line that leads to a measured time is solid, others are dashed. */
function drawSeries(
  points: readonly Point[],
  colour: string,
  rung: RungResult,
  atX: (point: Point) => number,
  atY: (point: Point) => number,
): string[] {
  const weight = isOurs(rung) ? " ours" : "";
  const segments = points.slice(1).map((point, i) => {
    const kind = point.kind === "measured" ? "" : " estimate";
    const from = `${atX(points[i]!)} ${atY(points[i]!)}`;
    return `<path class="line${weight}${kind}" stroke="${colour}" d="M${from}L${atX(point)} ${atY(point)}"/>`;
  });
  const marks = points.map((point) => mark(point.kind, atX(point), atY(point), colour));
  return [...segments, ...marks];
}

function mark(kind: Point["kind"], x: number, y: number, colour: string): string {
  if (kind === "measured") return `<circle cx="${x}" cy="${y}" r="3.5" fill="${colour}"/>`;
  if (kind === "estimated") return `<circle class="hollow" cx="${x}" cy="${y}" r="3.5" stroke="${colour}"/>`;
  return `<path class="line" stroke="${colour}" d="M${x} ${y}v-18m-5 6l5 -6l5 6"/>`;
}

function drawLegend(ladder: Ladder, x: number): string[] {
  const lineHeight = 22;
  const elements = ladder.rungs.flatMap((rung, i) => {
    const level = panelTop + 8 + lineHeight * i;
    const colour = colours[i % colours.length]!;
    return [
      `<path class="line${isOurs(rung) ? " ours" : ""}" stroke="${colour}" d="M${x} ${level}h22"/>`,
      mark("measured", x + 11, level, colour),
      `<text x="${x + 30}" y="${level + 4}"${isOurs(rung) ? ' font-weight="700"' : ""}>${rung.name}</text>`,
    ];
  });
  const end = panelTop + 8 + lineHeight * ladder.rungs.length + 12;
  return [
    ...elements,
    `<path class="line estimate" stroke="#888" d="M${x} ${end}h22"/>`,
    mark("estimated", x + 11, end, "#888"),
    `<text x="${x + 30}" y="${end + 4}">estimated: was stopped</text>`,
    mark("exceeded", x + 11, end + lineHeight + 9, "#888"),
    `<text x="${x + 30}" y="${end + lineHeight + 4}">more: was stopped early</text>`,
  ];
}

const isOurs = (rung: RungResult) => rung.name === "ours";

function timeLabel(powerOfMs: number): string {
  return powerOfMs < 3 ? `${integer(10 ** powerOfMs)} ms` : `${integer(10 ** (powerOfMs - 3))} s`;
}

const round = (value: number) => Math.round(value * 10) / 10;
