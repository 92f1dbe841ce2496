// Times a growing chat: appends to a session, compared with encoding the whole text at each turn.
//
//   node scripts/bun.mjs run bench/encode/sessions.ts [TEXT...]
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { trainTokenizer } from "../../src/index.ts";

const startLength = 64_000;
const turnCount = 128;
const turnLength = 500;
const repetitions = 25;

const docs = join(import.meta.dir, "../../docs");
const pages = readdirSync(docs).filter((name) => name.endsWith(".md"));
const paths = process.argv.length > 2 ? process.argv.slice(2) : pages.map((name) => join(docs, name));
const texts = paths.map((path) => readFileSync(path, "utf8"));
const tokenizer = await trainTokenizer({
  texts,
  vocabSize: 8000,
  pattern: "cl100k",
  specialTokens: ["<|im_end|>"],
});
const all = texts.join("<|im_end|>").slice(0, startLength + turnCount * turnLength);
if (all.length < startLength + turnCount * turnLength) throw new Error("the texts are too short");
const turns = Array.from({ length: turnCount }, (_, i) =>
  all.slice(startLength + i * turnLength, startLength + (i + 1) * turnLength),
);

/** Returns the time of each turn of a chat, in milliseconds. */
function timeTurns(take: (turn: string) => void): number[] {
  return turns.map((turn) => {
    const start = performance.now();
    take(turn);
    return performance.now() - start;
  });
}

function sumOfShortest(runs: readonly number[][]): string {
  const shortest = turns.map((_, i) => Math.min(...runs.map((times) => times[i]!)));
  return shortest.reduce((sum, time) => sum + time, 0).toFixed(1);
}

const [appended, whole]: [number[][], number[][]] = [[], []];
let encodedBytes = 0;
for (let run = 0; run < repetitions; run++) {
  const session = tokenizer.session(all.slice(0, startLength));
  const before = session.encodedBytes;
  appended.push(timeTurns((turn) => session.append(turn)));
  encodedBytes = session.encodedBytes - before;
  if (session.ids.join() !== tokenizer.encode(all).join()) throw new Error("the ids differ");
  let text = all.slice(0, startLength);
  whole.push(
    timeTurns((turn) => {
      text += turn;
      tokenizer.encode(text);
    }),
  );
}
console.log(
  `${turnCount} turns of ${turnLength} characters after ${startLength}, each the shortest of ${repetitions}:`,
);
console.log(`session ${sumOfShortest(appended)} ms, ${encodedBytes} bytes encoded`);
console.log(`encoding the whole text ${sumOfShortest(whole)} ms`);
