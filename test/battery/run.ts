// Compares what the program answers with what was frozen:
//
//   npm run test:battery                                    all cases
//   npm run test:battery -- extend prune                    the groups of these names
//   npm run test:battery -- --against path/to/other/bpe     shows what differs between two builds
//   npm run test:battery -- --freeze                        writes the frozen sums anew
//
// Of the environment: BPE_BINARY is another build than dist/bpe; BPE_BATTERY_CORPORA a directory of larger corpora,
// whose sums are in the file that `--frozen FILE` names.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { binary as built } from "../binary.ts";
import { type Answer, answersOf } from "./answers.ts";
import { largeGroups, smallGroups } from "./cases.ts";
import { writeCorpora } from "./corpora.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { freeze: { type: "boolean" }, frozen: { type: "string" }, against: { type: "string" } },
});
const binary = resolve(process.env.BPE_BINARY ?? built);
const corpora = process.env.BPE_BATTERY_CORPORA;
if (corpora !== undefined && values.frozen === undefined && values.against === undefined)
  throw new Error("larger corpora need --frozen FILE or --against BINARY");
const frozenPath = values.frozen ?? join(import.meta.dir, "frozen.txt");

const largeFiles = (corpora === undefined ? [] : readdirSync(corpora))
  .filter((name) => name.endsWith(".txt"))
  .sort();
const allGroups = corpora === undefined ? smallGroups : largeGroups(largeFiles);
const groups = Object.fromEntries(
  Object.entries(allGroups).filter(([name]) => positionals.length === 0 || positionals.includes(name)),
);

/** The answers of a binary, in a directory that is there for this alone. */
async function answers(of: string): Promise<Map<string, Answer>> {
  const directory = mkdtempSync(join(tmpdir(), "bpe-battery-"));
  try {
    if (corpora === undefined) writeCorpora(directory);
    else for (const name of largeFiles) symlinkSync(resolve(corpora, name), join(directory, name));
    mkdirSync(join(directory, "out"));
    return await answersOf(of, groups, directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** A line of the frozen file: the name of the case, then each output with its sum. */
const lineOf = (name: string, { outputs }: Answer) =>
  [name, ...[...outputs].map(([output, { sum }]) => `${output}=${sum}`)].join(" ");

const frozenLines = existsSync(frozenPath) ? readFileSync(frozenPath, "utf8").trim().split("\n") : [];
const nameOf = (line: string) => line.split(" ")[0]!;
const frozen = new Map(frozenLines.map((line) => [nameOf(line), line]));

/** The outputs that two lines do not share. */
function differingOutputs(a: string, b: string): string[] {
  const [inA, inB] = [a, b].map((line) => new Set(line.split(" ").slice(1))) as [Set<string>, Set<string>];
  const outputs = [...inA.symmetricDifference(inB)].map((item) => item.slice(0, item.lastIndexOf("=")));
  return [...new Set(outputs)];
}

function showDifference(output: string, ours: Answer, theirs: Answer): void {
  const [a, b] = [ours, theirs].map(({ outputs }) => outputs.get(output)?.text?.split("\n"));
  if (a === undefined || b === undefined) {
    console.log(`    ${output}: ${a === undefined ? "only there, or long" : "only here, or long"}`);
    return;
  }
  const at = a.findIndex((line, i) => line !== b[i]);
  const i = at < 0 ? a.length : at;
  const shown = (line: string | undefined) => (line === undefined ? "(nothing)" : line.slice(0, 300));
  console.log(`    ${output}, line ${i + 1}\n      here  ${shown(a[i])}\n      there ${shown(b[i])}`);
}

const given = await answers(binary);
const other = values.against === undefined ? undefined : await answers(resolve(values.against));
const wanted =
  other === undefined ? frozen : new Map([...other].map(([name, answer]) => [name, lineOf(name, answer)]));

let failed = 0;
for (const [name, answer] of given) {
  const line = lineOf(name, answer);
  const expected = wanted.get(name);
  if (line === expected) continue;
  failed++;
  const outputs = expected === undefined ? ["not frozen"] : differingOutputs(line, expected);
  console.log(`${name}: ${outputs.join(", ")}\n    ${answer.args}`);
  if (other !== undefined) for (const output of outputs) showDifference(output, answer, other.get(name)!);
}
const isRun = (name: string) => Object.keys(groups).some((group) => name.startsWith(`${group}/`));
const gone = [...wanted.keys()].filter((name) => isRun(name) && !given.has(name));
for (const name of gone) console.log(`${name}: frozen, and no case any more`);

if (values.freeze === true) {
  for (const name of gone) frozen.delete(name);
  for (const [name, answer] of given) frozen.set(name, lineOf(name, answer));
  const order = new Map(Object.keys(allGroups).map((group, i) => [group, i]));
  const place = (name: string) => order.get(name.slice(0, name.indexOf("/"))) ?? Number.POSITIVE_INFINITY;
  const lines = [...frozen].sort(([a], [b]) => place(a) - place(b)).map(([, line]) => `${line}\n`);
  writeFileSync(frozenPath, lines.join(""));
  console.log(`${failed + gone.length} cases changed, ${lines.length} are frozen`);
} else {
  console.log(`\n ${given.size - failed} pass\n ${failed + gone.length} fail`);
  process.exit(failed + gone.length > 0 ? 1 : 0);
}
