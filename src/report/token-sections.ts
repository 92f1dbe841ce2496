import { grouped } from "../bytes/quantities.ts";
import { shapeOf } from "../bytes/token-shape.ts";
import { type TokenTable, tokenBytesOf } from "../tokenizer/token-table.ts";
import type { Share } from "../tokenizer/vocabulary-statistics.ts";
import { percent } from "./axes.ts";
import { type BarGroup, barChart } from "./bar-chart.ts";
import type { Section } from "./figure.ts";
import { html, tokenHtml } from "./html.ts";
import type { ReportTokenizer } from "./report-data.ts";

const lengthMost = 16;

/** How many tokens there are of each length in bytes. Special tokens are left out. */
export function lengthSection(tokenizers: readonly ReportTokenizer[]): Section {
  const counts = tokenizers.map(countLengths);
  const groups = Array.from({ length: lengthMost + 1 }, (_, i) => {
    const name = i < lengthMost ? String(i + 1) : `${lengthMost + 1} and more`;
    return barGroup(
      name,
      counts.map((lengths) => ({ count: lengths[i]!, total: sum(lengths) })),
    );
  });
  return {
    id: "lengths",
    title: "Token lengths",
    text: "The tokens of the vocabulary by their length in bytes.",
    content: html`<figure>${barChart({
      title: "Tokens by length in bytes",
      series: tokenizers.map(({ name }) => name),
      groups,
    })}</figure>`,
    table: {
      head: ["bytes", ...tokenizers.map(({ name }) => name)],
      rows: groups.map(({ name }, i) => [name, ...counts.map((lengths) => grouped(lengths[i]!))]),
    },
  };
}

function countLengths({ lengths, addedTokens }: ReportTokenizer): number[] {
  const counts = new Array<number>(lengthMost + 1).fill(0);
  const added = new Set(addedTokens.map(({ id }) => id));
  for (let id = 0; id < lengths.length; id++) {
    const length = lengths[id]!;
    if (length > 0 && !added.has(id)) counts[Math.min(length, lengthMost + 1) - 1]!++;
  }
  return counts;
}

/** Tokens by the script of their first letter, or by kind, of each tokenizer: `shares[tokenizer]`. */
export function scriptSection(
  tokenizers: readonly ReportTokenizer[],
  shares: readonly (readonly Share[])[],
): Section {
  const totals = shares.map((list) => sum(list.map(({ tokenCount }) => tokenCount)));
  const countOf = (tokenizer: number, name: string) =>
    shares[tokenizer]!.find((share) => share.name === name)?.tokenCount ?? 0;
  const share = (name: string) =>
    Math.max(...shares.map((_, i) => countOf(i, name) / Math.max(1, totals[i]!)));
  const names = [...new Set(shares.flatMap((list) => list.map(({ name }) => name)))].sort(
    (a, b) => share(b) - share(a),
  );
  const groups = names.slice(0, scriptsDrawn).map((name) =>
    barGroup(
      name,
      totals.map((total, i) => ({ count: countOf(i, name), total })),
    ),
  );
  return {
    id: "scripts",
    title: "Scripts",
    text: "The tokens by the script of their first letter; without a letter, by what they hold.",
    content: html`<figure>${barChart({
      title: "Tokens by script",
      series: tokenizers.map(({ name }) => name),
      groups,
    })}</figure>`,
    table: {
      head: ["script", ...tokenizers.map(({ name }) => name)],
      rows: names.map((name) => [name, ...shares.map((_, i) => grouped(countOf(i, name)))]),
    },
  };
}

const scriptsDrawn = 14;

function barGroup(name: string, bars: readonly { count: number; total: number }[]): BarGroup {
  const values = bars.map(({ count, total }) => count / Math.max(1, total));
  return { name, values, texts: values.map(percent) };
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

/** The longest tokens that are not blank or rules: they have a letter. `longest`: their ids, of each tokenizer. */
export function longestSection(
  tokenizers: readonly ReportTokenizer[],
  longest: readonly (readonly number[])[],
): Section {
  const columns = tokenizers.map(({ tokens, lengths }, i) =>
    longest[i]!.map((id) => ({
      id,
      token: tokenHtml(tokenBytesOf(tokens, id), lengths[id]!),
      lengthBytes: lengths[id]!,
    })),
  );
  return {
    id: "longest",
    title: "Longest tokens",
    text: "The longest tokens that have a letter: runs of blanks, rules and digits are left out.",
    content: html`<div class="columns">${columns.map(
      (column, i) => html`<div>${tokenizers.length > 1 ? html`<h3>${tokenizers[i]!.name}</h3>` : undefined}
<ol class="tokens">${column.map(
        ({ id, token, lengthBytes }) =>
          html`<li>${token} <span class="quiet">${grouped(lengthBytes)} bytes, id ${id}</span></li>`,
      )}</ol></div>`,
    )}</div>`,
  };
}

/** Ids of the longest tokens with a letter, the longest first; of equal lengths the lower id first. */
export function longestWithLetters(
  { tokens, lengths, addedTokens }: ReportTokenizer,
  count: number,
): number[] {
  const added = new Set(addedTokens.map(({ id }) => id));
  const longest: number[] = [];
  /** Shorter tokens are not among the longest. */
  let lengthMin = 0;
  for (let id = 0; id < lengths.length; id++) {
    const length = lengths[id]!;
    if (length <= lengthMin || added.has(id) || !hasLetter(tokens, id)) continue;
    const place = longest.findIndex((other) => lengths[other]! < length);
    longest.splice(place < 0 ? longest.length : place, 0, id);
    longest.length = Math.min(longest.length, count);
    if (longest.length === count) lengthMin = lengths[longest[count - 1]!]!;
  }
  return longest;
}

const hasLetter = ({ bytes, starts }: TokenTable, id: number) =>
  shapeOf(bytes, starts[id]!, starts[id + 1]!) === "letters";
