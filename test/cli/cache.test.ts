import { beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { binary, bpe, put, scratch, tokenizerFiles } from "../binary.ts";
import { madeText } from "../unit/tokenizer/made-merges.ts";

const home = scratch();
const at = (name: string) => join(home, name);
const paths = [1, 2, 3].map((seed) => put(home, `text-${seed}.txt`, madeText(seed, 400)));

let round = 0;
let cache = "";
let output = "";
beforeEach(() => {
  round++;
  cache = `cache-${round}`;
  output = `out-${round}`;
});

const standard = ["-s", "<x>", "-s", "<y>", "-w", "1", "-n", "400"];
const train = (files: readonly string[], ...options: string[]) =>
  bpe(["train", ...files, "-o", output, "--cache", cache, ...options], { cwd: home });

/** Trains if something changed. Returns whether it trained. */
function changed(files: readonly string[] = paths, options: readonly string[] = standard): boolean {
  const { code, stderr } = train(files, ...options, "--if-changed", "--progress", "json");
  const result = JSON.parse(stderr.trim().split("\n").at(-1)!) as { success: boolean; changed: boolean };
  expect({ code, success: result.success }).toEqual({ code: 0, success: true });
  return result.changed;
}

describe("--cache", () => {
  test("gives the same tokenizer and the same counts as without it", () => {
    expect(bpe(["train", ...paths, "-o", "plain", ...standard, "-q"], { cwd: home }).code).toBe(0);
    for (const files of [paths.slice(0, 2), paths, paths]) {
      expect(train(files, ...standard, "-q")).toEqual({ code: 0, stdout: "", stderr: "" });
    }
    expect(tokenizerFiles(at(output))).toEqual(tokenizerFiles(at("plain")));
    const inputs = (name: string) => JSON.parse(readFileSync(join(at(name), "training.json"), "utf8")).inputs;
    expect(inputs(output)).toEqual(inputs("plain"));
    const count = (...options: string[]) => bpe(["count", ...paths, "-q", ...options], { cwd: home }).stdout;
    expect(count("--cache", cache)).toBe(count());
    expect(count("--cache", cache)).toBe(count());
  });

  test("leaves nothing but its files, also after an error", () => {
    train(paths, ...standard);
    expect(train([...paths, "none.txt"], ...standard).code).toBe(1);
    // The index is not written if the texts are younger than two seconds.
    const names = readdirSync(at(cache)).filter((name) => name !== "bpe-index");
    expect(names.map((name) => name.replace(/.*\./, "")).sort()).toEqual([
      "result",
      "sum",
      "words",
      "words",
      "words",
    ]);
  });

  test("is shared by processes that run at the same time", async () => {
    const runs = Array.from({ length: 4 }, (_, i) =>
      Bun.spawn(
        [binary, "train", ...paths.slice(i % 2), "-o", `${output}-${i}`, "--cache", cache, ...standard, "-q"],
        { cwd: home, stderr: "pipe" },
      ),
    );
    for (const run of runs)
      expect([await run.exited, await new Response(run.stderr).text()]).toEqual([0, ""]);
    expect(tokenizerFiles(at(`${output}-0`))).toEqual(tokenizerFiles(at(`${output}-2`)));
    expect(tokenizerFiles(at(`${output}-1`))).toEqual(tokenizerFiles(at(`${output}-3`)));
  });

  test("loses the leftovers of a killed run in the next run", async () => {
    const large = put(home, "long.txt", madeText(50, 3000).repeat(40));
    const run = Bun.spawn([binary, "count", large, "-o", "killed.tsv", "--cache", cache, "-w", "1", "-q"], {
      cwd: home,
    });
    while (!existsSync(at(cache)) || readdirSync(at(cache)).length === 0) await Bun.sleep(1);
    run.kill("SIGKILL");
    await run.exited;
    train(paths, ...standard);
    expect(readdirSync(at(cache)).filter((name) => name.startsWith("."))).toEqual([]);
  });

  test("stores nothing about streams, and says so once", () => {
    const script = `"$0" count - text-1.txt --cache "$1" -o x.tsv < text-2.txt`;
    const run = () => Bun.spawnSync(["bash", "-c", script, binary, cache], { cwd: home });
    for (const _ of [1, 2]) {
      const lines = run().stderr.toString().split("\n");
      expect(lines.filter((line) => line.includes("--cache")).length).toBe(1);
    }
    expect(readdirSync(at(cache)).filter((name) => name.endsWith(".words")).length).toBe(1);
    const both = bpe(["count", "text-1.txt", "text-2.txt", "-q"], { cwd: home }).stdout;
    expect(readFileSync(at("x.tsv"), "utf8")).toBe(both);
  });

  test("continues without it if the directory is read-only", () => {
    if (process.getuid!() === 0) return; // root may write anywhere
    train(paths, ...standard);
    chmodSync(at(cache), 0o555);
    const { code, stderr } = train([paths[0]!], ...standard);
    chmodSync(at(cache), 0o755);
    expect([code, stderr.includes("this run stores nothing more in it")]).toEqual([0, true]);
  });

  test("continues without it if the disk is full", () => {
    // No file may grow beyond 1 MB. The cache's entry for this text is larger, but the tokenizer's files are not.
    const words = Array.from({ length: 300_000 }, (_, i) => ` ${(i * 7919) % 1_000_003}x`);
    put(home, "large.txt", words.join(""));
    const script = `ulimit -f 1024; trap "" XFSZ; "$0" train large.txt -n 260 -o "$1" --cache "$2" -w 1`;
    const { exitCode, stderr } = Bun.spawnSync(["bash", "-c", script, binary, output, cache], { cwd: home });
    const warnings = stderr
      .toString()
      .split("\n")
      .filter((line) => line.includes("warning"));
    expect([exitCode, warnings.length]).toEqual([0, 1]);
    expect(warnings[0]).toContain("this run stores nothing more in it");
    expect(readdirSync(at(cache)).filter((name) => name.endsWith(".words"))).toEqual([]);
  });

  test("must be a directory", () => {
    put(home, "a file", "");
    for (const path of ["a file", "a file/below"]) {
      const { code, stderr } = bpe(["count", ...paths, "--cache", path], { cwd: home });
      expect([code, stderr.startsWith(`bpe: error: --cache "${path}" cannot be used: `)]).toEqual([1, true]);
    }
  });
});

describe("--if-changed", () => {
  test("does nothing, and says so, if nothing changed", () => {
    expect(changed()).toBe(true);
    const before = statSync(at(output), { bigint: true });
    expect(changed()).toBe(false);
    const { code, stdout, stderr } = train(paths, ...standard, "--if-changed");
    expect([code, stdout]).toEqual([0, ""]);
    expect(stderr).toBe(`unchanged: "${output}" was made from the same inputs with the same options\n`);
    const after = statSync(at(output), { bigint: true });
    expect([after.mtimeNs, after.ctimeNs, after.ino]).toEqual([before.mtimeNs, before.ctimeNs, before.ino]);
  });

  test("compares contents: touched files are unchanged", () => {
    changed();
    for (const path of paths) utimesSync(path, 1000 + round, 1000 + round);
    expect(changed()).toBe(false);
  });

  test("recognizes non-ASCII paths and special tokens", () => {
    const own = put(home, "é漢.txt", madeText(11, 100));
    const options = ["-s", "<é>", "-n", "400"];
    expect(changed([own], options)).toBe(true);
    expect(changed([own], options)).toBe(false);
  });

  test("trains if an input was changed, added, removed or moved", () => {
    const own = put(home, "own.txt", madeText(9, 100));
    changed([...paths, own]);
    writeFileSync(own, madeText(10, 100));
    expect(changed([...paths, own])).toBe(true);
    expect(changed([...paths, own])).toBe(false);
    expect(changed(paths)).toBe(true);
    expect(changed([...paths, own])).toBe(true);
    expect(changed([own, ...paths])).toBe(true);
    expect(changed([own, ...paths, own])).toBe(true);
  });

  test("trains where an option that affects the result was changed", () => {
    const others = [
      ["-s", "<y>", "-s", "<x>", "-n", "400"],
      ["-s", "<x>", "-n", "400"],
      ["-s", "<x>", "-s", "<y>", "-n", "401"],
      [...standard, "-p", "gpt4"],
      [...standard, "--compat", "rustbpe"],
      [...standard, "--min-frequency", "3"],
      [...standard, "--max-token-length", "4"],
      [...standard, "--whole-characters"],
      [...standard, "--special-tokens-first"],
      [...standard, "--seed-token", "widest"],
      [...standard, "--seed-token", "widest", "--seed-token", "low"],
      [...standard, "--normalize", "NFC"],
      [...standard, "--normalize", "NFC,lowercase"],
      [...standard, "--format", "gpt2"],
    ];
    for (const options of [standard, ...others]) {
      expect([options, changed(paths, options)]).toEqual([options, true]);
      // Words that were counted with other options are not used.
      bpe(["train", ...paths, "-o", "plain", ...options, "-q"], { cwd: home });
      expect([options, tokenizerFiles(at(output))]).toEqual([options, tokenizerFiles(at("plain"))]);
      expect([options, changed(paths, options)]).toEqual([options, false]);
    }
    changed(paths, ["-n", "400", "-w", "1"]);
    expect(changed(paths, ["-n", "400", "-w", "2"])).toBe(false);
  }, 600_000);

  test("trains where the output was modified", () => {
    const damage: Record<string, () => void> = {
      "a file is gone": () => rmSync(join(at(output), "vocab.json")),
      "a file was changed": () => writeFileSync(join(at(output), "merges.txt"), "#version: 0.2\n"),
      "it is gone": () => rmSync(at(output), { recursive: true }),
      "another training took its place": () =>
        bpe(["train", ...paths, "-o", output, ...standard, "-q"], { cwd: home }),
    };
    changed();
    for (const [name, make] of Object.entries(damage)) {
      make();
      expect([name, changed()]).toEqual([name, true]);
      expect([name, changed()]).toEqual([name, false]);
    }
  });

  test("trains if the cache is damaged or missing", () => {
    changed();
    const result = readdirSync(at(cache)).find((name) => name.endsWith(".result"))!;
    const bytes = readFileSync(join(at(cache), result));
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(join(at(cache), result), bytes);
    const { stderr } = train(paths, ...standard, "--if-changed");
    expect(stderr).toContain(`${result}" is damaged: the output is made again`);
    expect(changed()).toBe(false);
    rmSync(at(cache), { recursive: true });
    expect(changed()).toBe(true);
    expect(changed()).toBe(false);
  });

  test("compares word counts read from files, and those to be saved", () => {
    expect(
      bpe(["train", paths[0]!, "-n", "300", "-o", "x", "--save-counts", "a.counts", "-q"], { cwd: home })
        .code,
    ).toBe(0);
    const options = ["-n", "300", "--counts", "a.counts", "--save-counts", "b.counts"];
    expect(changed([paths[1]!], options)).toBe(true);
    expect(changed([paths[1]!], options)).toBe(false);
    rmSync(at("b.counts"));
    expect(changed([paths[1]!], options)).toBe(true);
    expect(
      bpe(["train", paths[2]!, "-n", "300", "-o", "x", "--save-counts", "a.counts", "-q"], { cwd: home })
        .code,
    ).toBe(0);
    expect(changed([paths[1]!], options)).toBe(true);
    expect(changed([paths[1]!], options)).toBe(false);
  });

  test("trains if an input is a stream", () => {
    const script = `"$0" train - -n 300 -o "$1" --cache "$2" --if-changed -q < text-1.txt`;
    for (const _ of [1, 2]) {
      rmSync(at(output), { recursive: true, force: true });
      expect(Bun.spawnSync(["bash", "-c", script, binary, output, cache], { cwd: home }).exitCode).toBe(0);
      expect(existsSync(at(output))).toBe(true);
    }
  });
});
