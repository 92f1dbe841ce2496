import type { ReportData, ReportTokenizer } from "../../src/report/report-data.ts";
import { reportPage } from "../../src/report/report-page.ts";
import { plainSpecial } from "../../src/text/cutting.ts";
import { buildTokenTable } from "../../src/tokenizer/token-table.ts";

/** A tokenizer of the 256 bytes, of special tokens, and of merges given as their two halves. */
export function madeTokenizer(
  name: string,
  pairs: readonly (readonly [string | Uint8Array, string | Uint8Array])[],
  specials: readonly string[] = [],
): ReportTokenizer {
  const latin1 = (text: string | Uint8Array) => Buffer.from(text).toString("latin1");
  const tokens = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte));
  const halves = pairs.map((pair) => pair.map((half) => tokens.indexOf(latin1(half))) as [number, number]);
  for (const [i, [left, right]] of pairs.entries()) {
    const known = [left, right].map((half) => tokens.indexOf(latin1(half)));
    halves[i] = known as [number, number];
    tokens.push(latin1(left) + latin1(right));
  }
  const addedTokens = specials.map((content, i) => ({ id: tokens.length + i, content, ...plainSpecial }));
  const table = buildTokenTable([
    ...tokens.map((token, id) => [id, Buffer.from(token, "latin1")] as const),
    ...addedTokens.map(({ id, content }) => [id, Buffer.from(content)] as const),
  ]);
  return {
    name,
    tokens: table,
    lengths: Uint32Array.from(
      { length: table.idLimit },
      (_, id) => table.starts[id + 1]! - table.starts[id]!,
    ),
    addedTokens,
    merges: {
      left: Int32Array.from(halves, ([left]) => left),
      right: Int32Array.from(halves, ([, right]) => right),
      merged: Int32Array.from(halves, (_, k) => 256 + k),
    },
  };
}

export const madeReport = (
  tokenizers: readonly ReportTokenizer[],
  rest: Partial<ReportData> = {},
): ReportData => ({
  title: "A report",
  highlights: [],
  provenance: [],
  samples: [],
  ...rest,
  tokenizers,
});

/** The page as one text. */
export async function pageOf(data: ReportData): Promise<string> {
  let page = "";
  for await (const piece of reportPage(data, Bun.deflateSync)) page += piece.text;
  return page;
}
