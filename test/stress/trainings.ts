// Compares what two executables write in random small trainings. If a naive trainer knows all options of a training
// (`plain` in random-trainings.ts), the merges are also compared with those of this trainer.
//
//   npm run suite trainings -- [--against dist/bpe-small] [--binary dist/bpe] [--count 500] [--rule NAME]... [--seed N]
//
// --against: an executable of another commit, or of the other scale.
// --count: the number of trainings of each rule that both executables accept.

import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import * as byteCharacters from "../../src/bytes/byte-characters.ts";
import { fileOutput, filesOf } from "../golden/answers.ts";
import { naiveWords } from "../naive.ts";
import { randomNumbers } from "../random.ts";
import { anyTwo, type NaiveWords, naiveMerges } from "../unit/merge/naive.ts";
import { naiveHuggingface } from "../unit/merge/naive-huggingface.ts";
import { naiveMayJoin } from "../unit/merge/naive-whole-characters.ts";
import { baseName, type MadeTraining, madeTraining, type Rule, rules } from "./random-trainings.ts";

const { values } = parseArgs({
  options: {
    against: { type: "string", default: join(import.meta.dir, "../../dist/bpe-small") },
    binary: { type: "string", default: join(import.meta.dir, "../../dist/bpe") },
    count: { type: "string", default: "500" },
    rule: { type: "string", multiple: true, default: [...rules] },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    round: { type: "string" },
  },
});
const executables = [resolve(values.binary), resolve(values.against)] as const;
const home = mkdtempSync(join(tmpdir(), "bpe-trainings-"));
const hangMs = 120_000;

function run(executable: string, cwd: string, args: readonly string[]): number {
  const { exitCode, signalCode, stderr } = Bun.spawnSync([executable, ...args], {
    cwd,
    env: { TMPDIR: home },
    timeout: hangMs,
  });
  const said = stderr.toString();
  if (exitCode !== 0 && exitCode !== 1 && exitCode !== 2) {
    throw new Error(`it ended with ${exitCode ?? signalCode}: ${said}`);
  }
  if (exitCode !== 0 && !said.startsWith("bpe: error:")) throw new Error(`it does not say why: ${said}`);
  return exitCode;
}

/** Trains in a directory of its own. Returns the exit code. */
function train(executable: string, cwd: string, made: MadeTraining, workers: string): number {
  mkdirSync(cwd);
  for (const [name, content] of made.inputs) writeFileSync(join(cwd, name), content);
  if (existsSync(join(home, baseName)))
    cpSync(join(home, baseName), join(cwd, baseName), { recursive: true });
  return run(executable, cwd, ["train", ...made.args, "-w", workers, "-o", "output", "-q"]);
}

/** Trains the base, if there is one, with the first executable. Returns false if this training is refused. */
function trainBase({ base, inputs }: MadeTraining): boolean {
  if (base === null) return true;
  const cwd = join(home, "first");
  mkdirSync(cwd);
  for (const [name, content] of inputs) writeFileSync(join(cwd, name), content);
  const code = run(executables[0], cwd, ["train", ...base, "-o", join(home, baseName), "-q"]);
  rmSync(cwd, { recursive: true });
  return code === 0;
}

async function mustBeEqual(one: string, other: string): Promise<void> {
  const [names, otherNames] = [filesOf(one), filesOf(other)];
  if (names.join() !== otherNames.join()) throw new Error(`files ${names}, not ${otherNames}`);
  for (const name of names) {
    const [answer, expected] = [
      await fileOutput(join(one, name), one),
      await fileOutput(join(other, name), other),
    ];
    if (answer.sum !== expected.sum) throw new Error(`${name} differs`);
  }
}

/**
 * Returns the words of a plain training, with their counts. HF's trainer reads line by line, so with its rule each line
 * is cut separately.
 */
function wordsOf({ inputs, plain }: MadeTraining, rule: Rule): NaiveWords {
  const words = new Map<string, number>();
  for (const content of inputs.values()) {
    const texts = rule === "huggingface" ? content.split(/(?<=\n)/) : [content];
    for (const text of texts) {
      for (const [word, count] of naiveWords(text, plain!.specialTokens)) {
        words.set(word, (words.get(word) ?? 0) + count);
      }
    }
  }
  return words;
}

/** Compares the merges of a plain training with those of the naive trainer. */
function mustBeNaive(output: string, made: MadeTraining, rule: Exclude<Rule, "extension">): void {
  const { vocabSize, specialTokens, minFrequency, maxTokenLength, wholeCharacters } = made.plain!;
  const words = wordsOf(made, rule);
  const limits = { maxTokenLength, mayJoin: wholeCharacters ? naiveMayJoin : anyTwo };
  const mergeCount = vocabSize - 256 - specialTokens.length;
  const expected =
    rule === "huggingface"
      ? naiveHuggingface(words, { ...limits, mergeCount, minFrequency: minFrequency ?? 0, specialTokens })
      : naiveMerges(rule, words, { ...limits, mergeCount, minFrequency: minFrequency ?? 1 });
  const { model } = JSON.parse(readFileSync(join(output, "tokenizer.json"), "utf8"));
  const found = (model.merges as string[][]).map((pair) => pair.join(" "));
  // `naiveHuggingface` returns tokens in byte-to-character form, and `naiveMerges` returns their bytes as Latin-1 text.
  const inCharacters = (token: string) =>
    rule === "huggingface" ? token : byteCharacters.encode(Buffer.from(token, "latin1"));
  const wanted = expected.map(({ left, right }) => `${inCharacters(left)} ${inCharacters(right)}`);
  const first = wanted.findIndex((merge, k) => merge !== found[k]);
  if (first >= 0 || found.length !== wanted.length) {
    throw new Error(
      `merge ${first} of ${wanted.length} is not the naive trainer's; there are ${found.length}`,
    );
  }
}

type Outcome = "equal" | "equal, naive too" | "refused";

async function runRound(rule: Rule, seed: number): Promise<Outcome> {
  const random = randomNumbers(seed);
  const made = madeTraining(random, rule);
  const workers = String(1 + random(3));
  const [one, other] = [join(home, "one"), join(home, "other")];
  if (!trainBase(made)) return "refused";
  const code = train(executables[0], one, made, workers);
  const otherCode = train(executables[1], other, made, workers);
  if (code !== otherCode) throw new Error(`exit codes ${code} and ${otherCode}`);
  if (code !== 0) return "refused";
  await mustBeEqual(one, other);
  if (made.plain === null || rule === "extension") return "equal";
  mustBeNaive(join(one, "output"), made, rule);
  return "equal, naive too";
}

function clear(): void {
  for (const name of ["one", "other", "first", baseName]) {
    rmSync(join(home, name), { recursive: true, force: true });
  }
}

const count = values.round === undefined ? Number(values.count) : 1;
console.log(`seed ${values.seed}, ${count} trainings of each rule`);
for (const rule of values.rule as Rule[]) {
  const outcomes = new Map<Outcome, number>();
  const accepted = () => (outcomes.get("equal") ?? 0) + (outcomes.get("equal, naive too") ?? 0);
  for (let round = Number(values.round ?? 0); accepted() < count; round++) {
    try {
      const outcome = await runRound(rule, Number(values.seed) * 1_000_003 + round);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    } catch (error) {
      const { args } = madeTraining(randomNumbers(Number(values.seed) * 1_000_003 + round), rule);
      console.error(
        `${rule}, round ${round}, in ${home}: ${(error as Error).message}\nbpe train ${args.join(" ")}`,
      );
      console.error(`repeat with: --rule ${rule} --seed ${values.seed} --round ${round}`);
      process.exit(1);
    }
    clear();
    if (values.round !== undefined) break;
  }
  const [naive, refused] = [outcomes.get("equal, naive too") ?? 0, outcomes.get("refused") ?? 0];
  console.log(`${rule}: ${accepted()} equal, ${naive} of them also to the naive trainer; ${refused} refused`);
}
rmSync(home, { recursive: true });
