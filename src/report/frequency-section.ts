import { grouped } from "../bytes/quantities.ts";
import { decadesAxis } from "./axes.ts";
import type { Section } from "./figure.ts";
import { html } from "./html.ts";
import { type Line, lineChart } from "./line-chart.ts";
import type { ReportTokenizer } from "./report-data.ts";

const pointsPerDecade = 12;
const tableRanks = [1, 10, 100, 1000, 10_000, 100_000];

/** Tokens by how often they occur, the most frequent first; null if no tokenizer was counted on a text. */
export function frequencySection(tokenizers: readonly ReportTokenizer[]): Section | null {
  const ranked = tokenizers.flatMap(({ name, counts }, colour) => {
    const sorted = counts === undefined ? [] : countsByRank(counts.endCounts);
    return counts === undefined || sorted.length === 0 ? [] : [{ name, colour, of: counts.of, sorted }];
  });
  if (ranked.length === 0) return null;
  const lines: Line[] = ranked.map(({ name, colour, sorted }) => ({
    name,
    colour,
    points: ranksOf(sorted.length).map((rank) => {
      const count = sorted[rank - 1]!;
      const label = `rank ${grouped(rank)}: ${grouped(count)} times${ranked.length > 1 ? `, ${name}` : ""}`;
      return { x: rank, y: count, label };
    }),
  }));
  const points = lines.flatMap((line) => line.points);
  const chart = lineChart({
    title: "How often the tokens of each rank occur",
    x: decadesAxis(
      "rank of the token",
      points.map(({ x }) => x),
    ),
    y: decadesAxis(
      "occurrences",
      points.map(({ y }) => y),
    ),
    lines,
  });
  const longest = Math.max(...ranked.map(({ sorted }) => sorted.length));
  return {
    id: "frequency",
    title: "Rank and frequency",
    text: `How often the tokens occur in ${ranked[0]!.of}, the most frequent first. Tokens that do not occur are left out.`,
    content: html`<figure>${chart}</figure>`,
    table: {
      head: ["rank", ...ranked.map(({ name }) => name)],
      rows: [
        ...tableRanks
          .filter((rank) => rank <= longest)
          .map((rank) => [
            grouped(rank),
            ...ranked.map(({ sorted }) => (rank <= sorted.length ? grouped(sorted[rank - 1]!) : "–")),
          ]),
        ["tokens that occur", ...ranked.map(({ sorted }) => grouped(sorted.length))],
      ],
    },
  };
}

/** The counts above 0, the highest first. */
export function countsByRank(counts: Float64Array): Float64Array {
  const sorted = counts.slice().sort().reverse();
  const zero = sorted.indexOf(0);
  return zero < 0 ? sorted : sorted.subarray(0, zero);
}

/** Ranks from 1 to the last at equal factors from each other. */
function ranksOf(last: number): number[] {
  const ranks = new Set<number>();
  const count = Math.ceil(Math.log10(last) * pointsPerDecade);
  for (let i = 0; i <= count; i++) ranks.add(Math.round(last ** (count === 0 ? 0 : i / count)));
  return [...ranks];
}
