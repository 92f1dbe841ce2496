import { readIdMerges, symbolCounts, symbolsOf } from "../formats/id-merges.ts";
import type { Invocation } from "./arguments.ts";
import { refuseForIds } from "./decode-ids.ts";
import { writeLines } from "./output.ts";
import { counted, grouped } from "./units.ts";

const longestShown = 10;
const symbolsShown = 12;

/** `bpe inspect` of a tokenizer of ids. */
export async function runInspectIds(invocation: Invocation, mergesPath: string): Promise<void> {
  refuseForIds(invocation, ["text", "json", "report", "pattern", "special-token"]);
  const merges = readIdMerges(mergesPath);
  const { alphabetSize, left } = merges;
  const counts = symbolCounts(merges);
  const ids = Array.from(left, (_, k) => alphabetSize + k);
  const longest = ids.sort((a, b) => counts[b]! - counts[a]! || a - b).slice(0, longestShown);
  const row = (name: string, text: string) => `${name.padEnd(14)}${text}`;
  const spelled = (id: number) => {
    const [symbols = new Uint32Array(0)] = symbolsOf(merges, [id]);
    const more = counts[id]! > symbolsShown ? " …" : "";
    return `${symbols.subarray(0, symbolsShown).join(" ")}${more}`;
  };
  const lines = [
    row("tokenizer", `${mergesPath} (merges over ids, docs/ids.md)`),
    row("size", `${counted(alphabetSize + left.length, "token")}, ${counted(left.length, "merge")}`),
    row("alphabet", `${counted(alphabetSize, "id")}, 0 to ${grouped(alphabetSize - 1)}`),
    ...longest.map((id, i) =>
      row(i === 0 ? "longest" : "", `${counted(counts[id]!, "id")}  ${id}: ${spelled(id)}`),
    ),
  ];
  await writeLines(lines);
}
