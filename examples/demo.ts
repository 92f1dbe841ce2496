// `npm run demo`: trains a tokenizer on the documentation and type declarations of some installed packages, and shows a
// sentence cut into its tokens.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { encodeWord, keyOf, wordsOf } from "./learn.ts";

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
console.log(`\nNext: dist/bpe explain ${output} "${sentence.slice(0, 11)}"`);
console.log("Or your own text: dist/bpe train YOUR_FILES -n 32k -p gpt-4o -o tokenizer");

/**
 * Returns the tokens of a text, by the merges that `bpe` learned. In merges.txt, printable ASCII characters represent
 * themselves, and Ġ represents the space.
 */
function encode(text: string): string[] {
  const merges = readFileSync(`${output}/merges.txt`, "utf8").split("\n").slice(1, -1);
  const ranks = new Map(
    merges.map((line, rank) => {
      const [left, right] = line.split(" ").map((half) => half.replaceAll("Ġ", " "));
      return [keyOf(left!, right!), rank];
    }),
  );
  return wordsOf(text).flatMap((word) => encodeWord(word, ranks));
}
