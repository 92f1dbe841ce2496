// The long tests of the core in C, `npm run suite native -- --seed N --images N`. They open damaged images, run threads
// with the thread sanitizer, and run core.test.ts with sanitizers.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import * as tokenizerFiles from "../../src/formats/load-tokenizer.ts";
import { tokenizerOfJson } from "../../src/formats/tokenizer-json.ts";
import { tokenizerImage } from "../../src/tokenizer/image.ts";
import { bpe } from "../binary.ts";
import { madeText } from "../unit/tokenizer/made-merges.ts";
import { compiled } from "./driver.ts";

const { values } = parseArgs({
  options: { seed: { type: "string", default: "1" }, images: { type: "string", default: "10000" } },
});
const home = mkdtempSync(join(tmpdir(), "bpe-native-"));
const text = Buffer.from(`${madeText(1, 30_000)}<|endoftext|>`);
let failedCount = 0;

/** Runs a program and prints its last line. Counts the run if it fails. */
function attempt(title: string, program: string, args: readonly string[]): void {
  const { exitCode, stdout, stderr } = Bun.spawnSync([program, ...args], { stdin: text });
  const last = stdout.toString().trim().split("\n").at(-1);
  // A run succeeds only if it encoded texts, or reports 0 wrong.
  if (exitCode === 0 && / 0 wrong|[1-9]\d* texts encoded/.test(last ?? ""))
    console.log(`ok      ${title}: ${last}`);
  else {
    failedCount++;
    console.log(`FAILED  ${title}: ${last}\n${stderr}`);
  }
}

/** Returns images of tokenizers that exercise different parts of the core. */
async function images(): Promise<string[]> {
  const corpus = join(home, "corpus");
  writeFileSync(corpus, text);
  const made: string[] = [];
  for (const [name, ...options] of [
    ["plain", "-p", "gpt2"],
    ["forms", "-p", "o200k", "--normalize", "NFKC,lowercase"],
    ["splits", "-p", "deepseek-v3"],
  ] as const) {
    const path = join(home, name);
    const usual = [
      "train",
      corpus,
      "-n",
      "600",
      "-s",
      "<|endoftext|>",
      "-s",
      "<A>",
      "-w",
      "1",
      "-q",
      "-o",
      path,
    ];
    const { code, stderr } = bpe([...usual, ...options]);
    if (code !== 0) throw new Error(stderr);
    made.push(`${path}.image`);
    writeFileSync(`${path}.image`, tokenizerImage(await tokenizerFiles.load(path), {}));
  }
  const path = join(home, "plain/tokenizer.json");
  const json = JSON.parse(readFileSync(path, "utf8"));
  json.post_processor = { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: true };
  writeFileSync(
    `${path}.image`,
    tokenizerImage(tokenizerOfJson(Buffer.from(JSON.stringify(json)), path), {}),
  );
  made.push(`${path}.image`);
  return made;
}

try {
  const made = await images();
  const share = Math.ceil(Number(values.images) / made.length);
  for (const image of made) {
    for (const [kind, count] of [
      ["plain", share],
      ["sanitized", share / 5],
    ] as const) {
      const program = await compiled("damage", kind);
      if (program === undefined) process.exit(0);
      attempt(`damaged images, ${kind}`, program, [image, values.seed, "0", `${Math.ceil(count)}`]);
    }
  }
  attempt("threads", (await compiled("threads", "raced"))!, [made[0]!]);
  const tests = ["test", "--timeout", "600000", join(import.meta.dir, "core.test.ts")];
  for (const define of [[], ["--define", "BPE_SMALL_SCALE=true"]]) {
    const { exitCode } = Bun.spawnSync([process.execPath, ...tests, ...define], {
      env: { ...process.env, BPE_TEST_SANITIZED: "1", TEST_SEED: values.seed },
      stdout: "inherit",
      stderr: "inherit",
    });
    if (exitCode !== 0) failedCount++;
  }
} finally {
  rmSync(home, { recursive: true });
}
process.exit(failedCount === 0 ? 0 : 1);
