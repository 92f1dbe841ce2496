import { expect, test } from "bun:test";
import { appendFileSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { find, publishedTokenizers } from "../../../src/formats/named-tokenizers.ts";
import { binary, bpe, environment, put, scratch } from "../../binary.ts";
import { errorOf } from "../../thrown.ts";

const home = scratch();
const text = put(home, "text.txt", "The lowest of the low are lower than the newest.\n".repeat(9));
expect(bpe(["train", text, "-n", "300", "-o", "mine", "-q", "-w", "1"], { cwd: home }).code).toBe(0);

/** Runs a command with these environment variables. */
function run(env: Record<string, string>, ...args: string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync([binary, ...args], {
    cwd: home,
    env: { ...environment, HOME: home, ...env },
  });
  return { code: exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}

/** Makes a model in the layout of huggingface_hub: the files of each commit are links. */
function putModel(hub: string, repository: string, commits: readonly string[]): void {
  const directory = join(hub, `models--${repository.replace("/", "--")}`);
  for (const commit of commits) {
    mkdirSync(join(directory, "snapshots", commit), { recursive: true });
    const blob = join(directory, `blob-${commit}`);
    cpSync(join(home, "mine/tokenizer.json"), blob);
    symlinkSync(blob, join(directory, "snapshots", commit, "tokenizer.json"));
  }
  mkdirSync(join(directory, "refs"));
  writeFileSync(join(directory, "refs/main"), commits.at(-1)!);
}

/**
 * Returns tiktoken's file of GPT-2's ranks, made from the npm package. In the package, a line has a mark, the rank of
 * its first token, and its tokens.
 */
function gpt2Ranks(): string {
  const path = join(import.meta.dir, "../../../node_modules/tiktoken/encoders/r50k_base.json");
  const { bpe_ranks } = JSON.parse(readFileSync(path, "utf8")) as { bpe_ranks: string };
  const lines = bpe_ranks.split("\n").flatMap((line) => {
    const [, first, ...tokens] = line.split(" ");
    return tokens.map((token, i) => `${token} ${Number(first) + i}\n`);
  });
  return lines.join("");
}

const sha1Of = { r50k_base: "0ea1e91bbb3a60f729a8dc8f777fd2fc07cd8df4" };

test("a Hugging Face model is found in the package's cache, at the head of its main branch", () => {
  const places: [place: string, env: Record<string, string>][] = [
    [".cache/huggingface/hub", {}],
    ["xdg/huggingface/hub", { XDG_CACHE_HOME: join(home, "xdg") }],
    ["hf/hub", { XDG_CACHE_HOME: join(home, "xdg"), HF_HOME: "~/hf" }],
    ["cache", { HF_HOME: "~/hf", HF_HUB_CACHE: join(home, "cache") }],
  ];
  for (const [i, [place, env]] of places.entries()) {
    putModel(join(home, place), `org/in-${i}`, ["0ld", "c0ffee"]);
    const { code, stdout, stderr } = run(env, "inspect", `org/in-${i}`);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toStartWith(`tokenizer       org/in-${i} (${join(home, place, `models--org--in-${i}`)}`);
    expect(stdout).toContain("/snapshots/c0ffee/tokenizer.json)\n");
    expect(run(env, "inspect", `org/in-${(i + 1) % places.length}`).code).toBe(1);
  }
  const asked = ["eval", "mine", "org/in-0", "x=org/in-0", "--text", "text.txt"];
  expect(run({}, ...asked, "-q").stdout).toMatch(/\nmine +(\d\.\d+)\norg\/in-0 +\1\nx +\1\n$/);
  const encoded = run({}, "encode", "text.txt", "--tokenizer", "org/in-0", "-q").stdout;
  expect(encoded).toBe(run({}, "encode", "text.txt", "--tokenizer", "mine", "-q").stdout);
});

test("tiktoken's encodings are found in its cache, if they are the published files", () => {
  const ranks = gpt2Ranks();
  for (const [variable, place] of [
    ["TMPDIR", "tmp/data-gym-cache"],
    ["DATA_GYM_CACHE_DIR", "gym"],
    ["TIKTOKEN_CACHE_DIR", "tik"],
  ] as const) {
    mkdirSync(join(home, place), { recursive: true });
    const path = put(join(home, place), sha1Of.r50k_base, ranks);
    const env = { [variable]: join(home, place.split("/")[0]!) };
    const found = run(env, "explain", "gpt2", "The lowest", "--json");
    expect([found.stderr, JSON.parse(found.stdout).ids]).toEqual(["", [464, 9016]]);
    expect(run(env, "convert", "gpt2", "-o", `${place}/made`, "--format", "tiktoken", "-q").code).toBe(0);
    expect(readFileSync(join(home, place, "made/tokenizer.tiktoken"), "utf8")).toBe(ranks);
    expect(run(env, "inspect", "gpt-2").stdout).toStartWith(
      `tokenizer       gpt-2 (${path}, rank file of r50k_base)\n`,
    );
  }
  const tik = { TIKTOKEN_CACHE_DIR: join(home, "tik") };
  expect(run({ ...tik, TIKTOKEN_CACHE_DIR: "" }, "inspect", "gpt2").code).toBe(1);
  // An output may not be an input, under any name.
  const over = ["inspect", "gpt2", "--report", join(home, "tik", sha1Of.r50k_base)];
  expect(run(tik, ...over)).toMatchObject({ code: 2, stdout: "" });
  expect(run(tik, "encode", "text.txt", "--tokenizer", "gpt2", "-o", "x.npy", "-q").code).toBe(0);
  appendFileSync(join(home, "tik", sha1Of.r50k_base), "\n");
  expect(run(tik, "inspect", "gpt2")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      "tiktoken's copy of r50k_base, is not the published file\nhint: remove this file",
    ),
  });
});

test("a path takes precedence over a name, and an error about a missing tokenizer has the command that downloads it", () => {
  const at = process.cwd();
  try {
    process.chdir(home);
    mkdirSync(join(home, "gpt2"));
    expect(find("gpt2")).toEqual({ name: undefined, path: "gpt2" });
    expect(find("mine")).toEqual({ name: undefined, path: "mine" });
    for (const path of ["nowhere", "a/b/c", "./a/b", "a/tokenizer.json", "a/b.tiktoken", "../a"])
      expect(find(path)).toEqual({ name: undefined, path });
    const hintOf = (typed: string) => {
      const { message, hint, exitCode } = errorOf(() => find(typed));
      expect([message, exitCode]).toEqual([
        `"${typed}": no such file or directory, and no tokenizer of that name in the caches of tiktoken and Hugging Face`,
        1,
      ]);
      return hint;
    };
    expect(hintOf("gpt-4o")).toBe(
      "download the tokenizer with curl -LO https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken, and name that file",
    );
    expect(hintOf("org/nowhere")).toBe(
      "if it is a model on Hugging Face, download it: hf download org/nowhere tokenizer.json tokenizer_config.json",
    );
    expect(hintOf("qwen3")).toContain("hf download Qwen/Qwen3-8B tokenizer.json");
    for (const { names } of publishedTokenizers)
      for (const name of names.filter((one) => one !== "gpt2"))
        expect(hintOf(name)).toMatch(/download (it|the tokenizer)/);
  } finally {
    process.chdir(at);
  }
});
