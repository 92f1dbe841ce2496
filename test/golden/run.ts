// Compares the answers of the program with the frozen ones:
//
//   npm run suite golden                                    all cases
//   npm run suite golden -- extend prune                    the groups of these names
//   npm run suite golden -- --against path/to/other/bpe     shows what differs between two builds
//   npm run suite golden -- --freeze                        writes the frozen sums and texts again
//
// Environment variables: BPE_BINARY names a build to run instead of dist/bpe, and BPE_GOLDEN_CORPORA a directory of
// larger corpora. For these, `--frozen FILE.txt` names the file of frozen sums; the frozen texts are in the directory
// FILE.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { binary as built } from "../binary.ts";
import { type Answer, answersOf } from "./answers.ts";
import { largeGroups, smallGroups } from "./cases.ts";
import { writeCorpora } from "./corpora.ts";
import { type Frozen, FrozenFiles, frozenOf } from "./frozen.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { freeze: { type: "boolean" }, frozen: { type: "string" }, against: { type: "string" } },
});
const binary = resolve(process.env.BPE_BINARY ?? built);
const corpora = process.env.BPE_GOLDEN_CORPORA;
if (corpora !== undefined && values.frozen === undefined && values.against === undefined)
  throw new Error("larger corpora need --frozen FILE or --against BINARY");
const frozenFiles = new FrozenFiles(values.frozen ?? join(import.meta.dir, "frozen.txt"));

const largeFiles = (corpora === undefined ? [] : readdirSync(corpora))
  .filter((name) => name.endsWith(".txt"))
  .sort();
const allGroups = corpora === undefined ? smallGroups : largeGroups(largeFiles);
const groups = Object.fromEntries(
  Object.entries(allGroups).filter(([name]) => positionals.length === 0 || positionals.includes(name)),
);

/** Returns the answers of a binary, which runs in a new temporary directory. */
async function answers(of: string): Promise<Map<string, Answer>> {
  const directory = mkdtempSync(join(tmpdir(), "bpe-golden-"));
  try {
    if (corpora === undefined) writeCorpora(directory);
    else for (const name of largeFiles) symlinkSync(resolve(corpora, name), join(directory, name));
    mkdirSync(join(directory, "out"));
    return await answersOf(of, groups, directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Returns the names of the outputs in which two lines of checksums differ. */
function differingOutputs(a: string, b: string): string[] {
  const [inA, inB] = [a, b].map((line) => new Set(line.split(" ").slice(1))) as [Set<string>, Set<string>];
  const outputs = [...inA.symmetricDifference(inB)].map((item) => item.slice(0, item.lastIndexOf("=")));
  return [...new Set(outputs)];
}

/** Prints the first line in which two texts differ. */
function showLines(what: string, here: string, there: string): void {
  const [a, b] = [here, there].map((text) => text.split("\n")) as [string[], string[]];
  const at = a.findIndex((line, i) => line !== b[i]);
  const i = at < 0 ? a.length : at;
  const shown = (line: string | undefined) => (line === undefined ? "(nothing)" : line.slice(0, 300));
  console.log(`    ${what}, line ${i + 1}\n      here  ${shown(a[i])}\n      there ${shown(b[i])}`);
}

function showDifference(name: string, answer: Answer, here: Frozen, there: Frozen | undefined): void {
  const outputs = there === undefined ? ["not frozen"] : differingOutputs(here.sums, there.sums);
  console.log(`${[name, ...outputs].join(" ")}\n    ${answer.args}`);
  if (there === undefined) return;
  if (here.texts !== there.texts) showLines("texts", here.texts, there.texts);
  for (const output of outputs) {
    const [a, b] = [answer, others?.get(name)].map((one) => one?.outputs.get(output)?.text);
    if (typeof a === "string" && typeof b === "string") showLines(output, a, b);
  }
}

const given = await answers(binary);
const others = values.against === undefined ? undefined : await answers(resolve(values.against));
const frozenOfAll = (of: Map<string, Answer>) =>
  new Map([...of].map(([name, answer]) => [name, frozenOf(name, answer)]));
const frozen = frozenFiles.read();
const wanted = others === undefined ? frozen : frozenOfAll(others);
const found = frozenOfAll(given);

let failed = 0;
for (const [name, here] of found) {
  const there = wanted.get(name);
  if (here.sums === there?.sums && here.texts === there.texts) continue;
  failed++;
  showDifference(name, given.get(name)!, here, there);
}
const isRun = (name: string) => Object.keys(groups).some((group) => name.startsWith(`${group}/`));
const gone = [...wanted.keys()].filter((name) => isRun(name) && !given.has(name));
for (const name of gone) console.log(`${name}: frozen, and no case any more`);

if (values.freeze === true) {
  for (const name of gone) frozen.delete(name);
  for (const [name, here] of found) frozen.set(name, here);
  frozenFiles.write(frozen, Object.keys(allGroups));
  console.log(`${failed + gone.length} cases changed, ${frozen.size} are frozen`);
} else {
  console.log(`\n ${given.size - failed} pass\n ${failed + gone.length} fail`);
  process.exit(failed + gone.length > 0 ? 1 : 0);
}
