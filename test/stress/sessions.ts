// Compares sessions, segments and canonical ids with encodings of whole texts.
//
//   npm run suite sessions -- [--seed N] [--rounds 2000] [--round N] [--size 50]
//
// --size: the number of edits of a session, and of checks of each other kind, in a round.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { randomNumbers } from "../random.ts";
import {
  checkCanonical,
  checkEdits,
  checkSegments,
  MaskedSegments,
  madeAtRandom,
  madeBases,
} from "../unit/library/session-checks.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    rounds: { type: "string" },
    round: { type: "string" },
    size: { type: "string" },
  },
});
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const size = Number(values.size ?? 50);
const only = values.round === undefined ? undefined : Number(values.round);
const roundCount = only === undefined ? Number(values.rounds ?? 2000) : 1;
console.log(`seed ${seed}, ${roundCount} rounds of size ${size}`);

const directory = mkdtempSync(join(tmpdir(), "bpe-sessions-"));
const bases = madeBases(directory);
rmSync(directory, { recursive: true });

const done = { tokenizers: 0, edits: 0, segments: 0, canonical: 0 };

function runRound(roundSeed: number): void {
  const random = randomNumbers(roundSeed);
  const made = madeAtRandom(bases, roundSeed);
  if (made === null) return;
  done.tokenizers++;
  for (const isMixed of [false, true]) {
    checkEdits(made, random, { isMixed, editCount: size });
    done.edits += size;
  }
  for (let i = 0; i < size; i++) checkCanonical(made, random);
  done.canonical += size;
  made.tokenizer.dispose();
  const naive = new MaskedSegments(made.json);
  for (let i = 0; i < size; i++) checkSegments(naive, random);
  done.segments += size;
}

for (let round = only ?? 0; round < (only ?? 0) + roundCount; round++) {
  try {
    runRound(seed * 1_000_003 + round);
  } catch (error) {
    console.error(error);
    console.error(`repeat with: npm run suite sessions -- --seed ${seed} --round ${round} --size ${size}`);
    process.exit(1);
  }
}
console.log(
  `${done.tokenizers} tokenizers: ${done.edits} edits of sessions, ${done.segments} texts in segments, ${done.canonical} lists of ids`,
);
