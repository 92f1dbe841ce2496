// `npm run demo`: trains a tokenizer on the documentation and typings that the installed packages bring, and shows a
// sentence cut into its tokens.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

process.chdir(`${import.meta.dir}/..`);

const output = "dist/demo";
const sources = ["node_modules/bun-types/**/*.mdx", "node_modules/{bun-types,@types,typescript}/**/*.d.ts"];
const files = sources.flatMap((source) => [...new Bun.Glob(source).scanSync()]).sort();
const command = [
  "train",
  ...files,
  "--vocab-size",
  "8000",
  "--special-token",
  "<|endoftext|>",
  "--output",
  output,
];

console.log(`$ dist/bpe train <${files.length} files> ${command.slice(files.length + 1).join(" ")}`);
const { status } = spawnSync("dist/bpe", command, { stdio: "inherit" });
if (status !== 0) process.exit(status ?? 1);

const sentence = "The trainer reads documentation and typings, and learns their most frequent pieces.";
console.log(`\n${sentence}`);
console.log(encode(sentence).join("|"));

/** The textbook encoder: of all pairs in a pretoken, merge the one that was learned first, until none is left. */
function encode(text: string): string[] {
  const merges = readFileSync(`${output}/merges.txt`, "utf8").split("\n").slice(1, -1);
  const ranks = new Map(merges.map((pair, rank) => [pair, rank]));
  // Plain ASCII stands for itself in merges.txt, but for the space.
  const pretokens =
    text.match(/'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu) ?? [];
  return pretokens.flatMap((pretoken) => {
    let tokens = [...pretoken.replaceAll(" ", "Ġ")];
    for (;;) {
      const pairs = tokens
        .slice(1)
        .map((right, i) => ranks.get(`${tokens[i]} ${right}`) ?? Number.POSITIVE_INFINITY);
      const best = Math.min(...pairs);
      if (best === Number.POSITIVE_INFINITY) break;
      const at = pairs.indexOf(best);
      tokens = [...tokens.slice(0, at), tokens[at]! + tokens[at + 1]!, ...tokens.slice(at + 2)];
    }
    return tokens.map((token) => token.replaceAll("Ġ", " "));
  });
}
