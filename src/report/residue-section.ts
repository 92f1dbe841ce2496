import { grouped } from "../bytes/quantities.ts";
import { tokenBytesOf } from "../tokenizer/token-table.ts";
import { percent } from "./axes.ts";
import { barChart } from "./bar-chart.ts";
import { type Cell, type Section, tableHtml } from "./figure.ts";
import { html, tokenHtml } from "./html.ts";
import type { ReportLedger, ReportTokenizer } from "./report-data.ts";

const parts = 10;
const residuesShown = 20;

/** Tokens that other tokens used up, by their place in the order of merges; null without what the training counted. */
export function residueSection(tokenizer: ReportTokenizer): Section | null {
  const { ledger, merges } = tokenizer;
  const mergeCount = merges.merged.length;
  if (ledger === undefined || mergeCount === 0) return null;
  const residues = merges.merged.filter(ledger.isResidue);
  const unreachedCount = residues.filter((id) => ledger.endCounts[id] === 0).length;
  const groups = Array.from({ length: Math.min(parts, mergeCount) }, (_, part) => {
    const count = Math.min(parts, mergeCount);
    const from = Math.floor((mergeCount * part) / count);
    const to = Math.floor((mergeCount * (part + 1)) / count);
    const found = merges.merged.subarray(from, to).filter(ledger.isResidue).length;
    const share = found / (to - from);
    return {
      name: `${grouped(from + 1)}–${grouped(to)}`,
      values: [share],
      texts: [percent(share)],
      row: [`${grouped(from + 1)}–${grouped(to)}`, grouped(found), percent(share)],
    };
  });
  return {
    id: "residues",
    title: "Residues",
    text: html`<strong>${grouped(residues.length)}</strong> of ${grouped(mergeCount)} learned tokens are residues:
      steps on the way to longer tokens, which left fewer of them than the last pair merged has.
      ${grouped(unreachedCount)} of them occur nowhere. The bars are the tenths of the merges, the first merges first.`,
    content: html`<figure>${barChart({ title: "Share of residues by order of merges", series: ["residues"], groups })}</figure>
<h3>What was used up most</h3>
${usedUpTable(tokenizer, ledger, residues)}`,
    table: { head: ["merges", "residues", "share"], rows: groups.map(({ row }) => row) },
  };
}

/** Residues that lost most occurrences to other tokens. */
function usedUpTable({ tokens, lengths }: ReportTokenizer, ledger: ReportLedger, residues: Int32Array) {
  const { birthCounts, endCounts } = ledger;
  const lost = (id: number) => birthCounts[id]! - endCounts[id]!;
  const rows = [...residues]
    .sort((a, b) => lost(b) - lost(a) || a - b)
    .slice(0, residuesShown)
    .map((id): Cell[] => [
      tokenHtml(tokenBytesOf(tokens, id), lengths[id]!),
      id,
      grouped(birthCounts[id]!),
      grouped(endCounts[id]!),
    ]);
  return tableHtml({ head: ["token", "id", "at birth", "at the end"], rows });
}
