// Runs one rung of the ladder (ladder.md), a way to learn merges, on a file of words.
//
//   node scripts/bun.mjs bench/ladder/measure.ts
//     <rung> words.bin merges.bin <merges to learn> <time limit in seconds> <checkpoint>...
//
// A checkpoint is a number of merges; checkpoints ascend. Prints `<merges learned so far> <milliseconds>` at each
// checkpoint, if the rung yields there (strategy.ts), and at the end. Exits with 3 if the time limit stopped it.
import { strategies } from "./strategies.ts";
import { nothingLearned } from "./strategy.ts";
import { readWordsFile, writeMerges } from "./words-file.ts";

const [name, wordsPath, mergesPath, mergeCount, boundSeconds, ...checkpoints] = process.argv.slice(2);
const strategy = strategies.find((candidate) => candidate.name === name)!;
const words = readWordsFile(wordsPath!);
const learned = nothingLearned();
const checkpointsLeft = checkpoints.map(Number);
const boundMs = 1000 * Number(boundSeconds);
let isStopped = false;

const startMs = performance.now();
for (const _ of strategy.train(words, Number(mergeCount), learned)) {
  const elapsedMs = performance.now() - startMs;
  if (learned.left.length === checkpointsLeft[0]) console.log(checkpointsLeft.shift(), elapsedMs);
  if (elapsedMs > boundMs) {
    isStopped = true;
    break;
  }
}
console.log(learned.left.length, performance.now() - startMs);
writeMerges(mergesPath!, learned);
process.exit(isStopped ? 3 : 0);
