// `npm run suite windows`: tests the executable for Windows in wine. docs/internals/building.md lists what wine cannot
// show.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join, resolve } from "node:path";
import * as host from "../../src/runtime/host.ts";
import { binary, environment, scratch } from "../binary.ts";
import {
  beginWine,
  bpeExe,
  driveC,
  endWine,
  native,
  programs,
  pythonExe,
  start,
  startOnConsole,
} from "./wine.ts";

const root = resolve(import.meta.dir, "../..");

/** A directory on drive C, with a space and non-ASCII letters in its name. `homeOnC` is its Windows path. */
let home = "";
let homeOnC = "";
let texts: string[] = [];

beforeAll(() => {
  beginWine();
  const { code, stdout, stderr } = bpeExe(["--version"], { cwd: "/" });
  expect([code, stderr.includes("bpe:")]).toEqual([0, false]);
  expect(stdout.toString()).toStartWith("bpe ");
  home = mkdtempSync(join(driveC, "Größe 数 "));
  homeOnC = `C:\\${home.slice(driveC.length + 1)}`;
  // The order of these paths depends on whether "/" or "\" separates their names. Inputs are sorted by paths with "/".
  texts = ["corpus/a/one.txt", "corpus/a!.txt", "corpus/aB/two.txt", "corpus/äö.txt"];
  for (const [i, path] of texts.entries()) {
    mkdirSync(join(home, path, ".."), { recursive: true });
    writeFileSync(join(home, path), textOf(i, 150_000));
  }
}, 100_000);

afterAll(() => {
  endWine();
  if (home !== "") rmSync(home, { recursive: true, force: true });
});

/**
 * Returns words in several scripts, separators of documents, CRLF, invalid UTF-8, and Ctrl-Z, which ends a text on
 * Windows.
 */
function textOf(seed: number, sizeBytes: number): Buffer {
  const words = [
    "der",
    "Größe",
    "数据",
    "the",
    "data",
    "δεδομένα",
    "2026",
    "🦊",
    "don't",
    "\r\n",
    "\x1a",
    "<|endoftext|>",
  ];
  const parts: string[] = [];
  let state = seed + 1;
  for (let size = 0; size < sizeBytes; size += 7) {
    state = (state * 48271) % 0x7fffffff;
    const letters = (state % 4096).toString(26).replaceAll(/\d/g, "e");
    parts.push(words[state % words.length]! + (state % 3 === 0 ? letters : ""));
  }
  return Buffer.concat([Buffer.from(parts.join(" ")), Buffer.from([0xff, 0xfe, 0, 0x0d, 0x0a])]);
}

type Options = { readonly input?: Uint8Array; readonly code?: number };

/** Runs the executable for Windows in `home`. Throws if it does not end with `code`. */
function windows(args: readonly string[], { input, code = 0 }: Options = {}) {
  const run = bpeExe(args, { cwd: home, ...(input && { input }) });
  if (run.code !== code) throw new Error(`${args.join(" ")}: ${run.code}, ${run.stderr}`);
  return run;
}

function linux(args: readonly string[], { input, code = 0 }: Options = {}): Buffer {
  const run = Bun.spawnSync([binary, ...args], { cwd: home, env: environment, stdin: input ?? "ignore" });
  if (run.exitCode !== code) throw new Error(`${args.join(" ")}: ${run.exitCode}, ${run.stderr}`);
  return run.stdout;
}

/** Returns an absolute Windows path, because wine 8 cannot list a directory by a relative path of several names. */
const onC = (path: string) => `${homeOnC}\\${path.replaceAll("/", "\\")}`;

const bytes = (name: string) => readFileSync(join(home, name));

/** Returns a hash of each file of a result, by path. Leaves out the record, because it has paths and times. */
function files(name: string): Record<string, string> {
  const paths = readdirSync(join(home, name), { recursive: true, encoding: "utf8", withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "training.json")
    .map((entry) => join(entry.parentPath, entry.name).slice(home.length + name.length + 2))
    .sort();
  return Object.fromEntries(paths.map((path) => [path, Bun.hash(bytes(`${name}/${path}`)).toString(16)]));
}

/** Returns hidden names next to outputs, which a run must not leave. */
const hidden = () => readdirSync(home).filter((entry) => entry.startsWith("."));

const special = ["-s", "<|endoftext|>", "-q"];

describe("the same bytes as on Linux:", () => {
  test("train, with several sizes, from a glob and a directory with backslashes, with two workers", () => {
    linux(["train", "corpus/**/*.txt", "-n", "500,900", "-w", "2", ...special, "-o", "linux"]);
    windows(["train", onC("corpus/**/*.txt"), "-n", "500,900", "-w", "2", ...special, "-o", "windows"]);
    expect(Object.keys(files("linux")).length).toBeGreaterThan(7);
    expect(files("windows")).toEqual(files("linux"));
    windows(["train", `${homeOnC}\\corpus\\`, "-n", "500,900", ...special, "-o", `${homeOnC}\\again\\`]);
    expect(files("again")).toEqual(files("linux"));
    const { inputs } = JSON.parse(bytes("windows/training.json").toString());
    const inOrder = ["a!.txt", "a/one.txt", "aB/two.txt", "äö.txt"];
    const pathOf = (name: string) => onC(`corpus/${name}`).replaceAll("\\", "/");
    expect(inputs.map(({ path }: { path: string }) => path)).toEqual(inOrder.map(pathOf));
    windows(["count", "corpus\\*.txt", ...special, "-o", "words"]);
    linux(["count", "corpus/*.txt", ...special, "-o", "linux words"]);
    expect(bytes("words").equals(bytes("linux words"))).toBe(true);
    windows(["train", onC("corpus"), "--include", "aB\\*.txt", "-n", "300", ...special, "-o", "some"]);
    linux(["train", "corpus", "--include", "aB/*.txt", "-n", "300", ...special, "-o", "linux some"]);
    expect(files("some")).toEqual(files("linux some"));
    const weights = (path: string) => ["--weight", `${path}:3`, "-n", "300", ...special, "-o"];
    windows(["train", onC("corpus"), ...weights(`${homeOnC}\\corpus\\a`), "heavy"]);
    linux(["train", "corpus", ...weights("corpus/a"), "linux heavy"]);
    expect(files("heavy")).toEqual(files("linux heavy"));
    expect(files("heavy")).not.toEqual(files("some"));
    expect(hidden()).toEqual([]);
  });

  test("train on drive Z, where wine shows this machine's /proc; the peak memory is that of the program", () => {
    const onZ = scratch();
    const args = ["corpus/äö.txt", "-n", "300", ...special, "-o"];
    linux(["train", ...args, "linux z"]);
    const { code, stderr } = bpeExe(["train", onC(args[0]!), ...args.slice(1), "z"], { cwd: onZ });
    expect([code, stderr]).toEqual([0, ""]);
    expect(readFileSync(join(onZ, "z/merges.txt")).equals(bytes("linux z/merges.txt"))).toBe(true);
    const { peakMemoryBytes } = JSON.parse(readFileSync(join(onZ, "z/training.json"), "utf8"));
    expect(peakMemoryBytes).toBeGreaterThan(60e6);
    expect(peakMemoryBytes).toBeLessThan(2e9);
  });

  test("encode and decode, with files and pipes", () => {
    for (const [name, tokenizer] of [
      ["ids.npy", "windows\\900"],
      ["ids ü.bin", "windows\\900"],
    ]) {
      windows(["encode", onC("corpus"), "--tokenizer", tokenizer!, "-q", "-o", name!]);
      linux(["encode", "corpus", "--tokenizer", "linux/900", "-q", "-o", `linux ${name}`]);
      expect(bytes(name!).equals(bytes(`linux ${name}`))).toBe(true);
    }
    windows(["decode", "ids.npy", "--tokenizer", "windows\\900", "-q", "-o", "text"]);
    expect(bytes("text").equals(linux(["decode", "linux ids.npy", "--tokenizer", "linux/900", "-q"]))).toBe(
      true,
    );
    const input = bytes(texts[0]!);
    const ids = windows(["encode", "-", "--tokenizer", "windows/900", "-q"], { input }).stdout;
    expect(ids.equals(linux(["encode", "-", "--tokenizer", "linux/900", "-q"], { input }))).toBe(true);
    expect(
      windows(["decode", "-", "--tokenizer", "windows/900", "-q"], { input: ids }).stdout.equals(input),
    ).toBe(true);
  });

  /** Runs both executables, and compares their outputs. The one for Windows gets the absolute path of `corpus`. */
  function both(args: readonly string[]): void {
    windows(args.map((arg) => (arg === "corpus" ? onC(arg) : arg)).concat("-o", "made"));
    linux([...args, "-o", "linux made"]);
    if (existsSync(join(home, "made/tokenizer.json"))) expect(files("made")).toEqual(files("linux made"));
    else expect(bytes("made").equals(bytes("linux made"))).toBe(true);
    for (const name of ["made", "linux made"]) rmSync(join(home, name), { recursive: true });
  }

  test("count, extend, prune", () => {
    both(["count", "corpus", ...special]);
    both(["train", "corpus", "--extend", "linux/500/tokenizer.json", "-n", "700", "-q"]);
    both(["prune", "linux/900/tokenizer.json", "--text", "corpus", "-n", "600", "-q"]);
    expect(hidden()).toEqual([]);
  });

  test("tokens, inspect, eval and diff", () => {
    const [large, small] = ["linux/900/tokenizer.json", "linux/500/tokenizer.json"] as const;
    const [text] = texts as [string];
    for (const args of [
      ["inspect", large, "--json"],
      ["tokens", ...texts, "--tokenizer", large],
      ["eval", `l=${large}`, `s=${small}`, "--text", text, "--json"],
      ["diff", large, small, "--json"],
    ]) {
      expect(windows(args).stdout.toString()).toBe(linux(args).toString());
    }
    const args = ["eval", `l=${large}`, "--text", "-", "--json"];
    const input = bytes(text);
    expect(windows(args, { input }).stdout.toString()).toBe(linux(args, { input }).toString());
  });

  test("the manual", () => {
    expect(windows(["help", "docs\\evaluate.md"]).stdout.toString()).toBe(
      linux(["help", "docs/evaluate.md"]).toString(),
    );
  });
});

test("a missing drive or share, and a device, are errors at once, for every path argument", () => {
  const text = "corpus/äö.txt";
  const absent = [
    "X:\\tok",
    "X:tok",
    "X:\\",
    "\\\\none\\share\\tok",
    "//none/share/tok",
    "\\\\?\\X:\\tok",
    "\\\\.\\pipe\\x",
  ];
  for (const path of [...absent, "CON", "aux.txt"]) {
    for (const args of [
      ["train", text, "-n", "300", "-o", path],
      ["count", text, "-o", path],
      ["count", text, "--cache", path],
      ["count", path],
      ["inspect", path],
    ]) {
      const { code, stderr } = bpeExe(args, { cwd: home });
      expect([args, code, stderr]).toEqual([
        args,
        1,
        expect.stringMatching(/^bpe: error: (?!internal error)/),
      ]);
    }
  }
  expect(hidden()).toEqual([]);
});

describe("publication:", () => {
  const train = (...more: string[]) => ["train", "corpus/äö.txt", ...special, "-o", "out", ...more];

  test("a result replaces an older one, an empty directory, and nothing else; earlier ones are kept", () => {
    mkdirSync(join(home, "out"));
    for (const size of ["300", "310"]) windows(train("-n", size));
    linux([...train("-n", "310").slice(0, -4), "-o", "linux out", "-n", "310"]);
    expect(files("out")).toEqual(files("linux out"));
    windows(train("-n", "320", "--keep", "1"));
    expect(readdirSync(home).filter((name) => name.startsWith("out."))).toHaveLength(1);
    writeFileSync(join(home, "out/mine"), "");
    expect(windows(train("-n", "330"), { code: 1 }).stderr).toContain('it contains "mine"');
    rmSync(join(home, "out/mine"));
    expect(hidden()).toEqual([]);
  });

  test("a cache is filled and used, and an unchanged result stays", () => {
    const cached = train("-n", "330", "--cache", onC("cache"), "--if-changed").filter((arg) => arg !== "-q");
    windows(cached);
    expect(windows(cached).stderr).toContain('unchanged: "out"');
    expect(readdirSync(join(home, "cache")).filter((name) => name.startsWith("."))).toEqual([]);
    writeFileSync(join(home, "corpus/äö.txt"), textOf(9, 150_000));
    expect(windows(cached).stderr).not.toContain("unchanged");
  });

  test("the leftovers of a run that died between its two renames are restored by the next", async () => {
    const before = files("out");
    const { host: lockHost } = await killed();
    const left = `.out.bpe-${host.xxHash32(lockHost).toString(16).padStart(8, "0")}-00000001`;
    renameSync(join(home, "out"), join(home, `${left}.old`));
    mkdirSync(join(home, `${left}.new`));
    for (const name of readdirSync(home).filter((name) => name.startsWith("out.")))
      rmSync(join(home, name), { recursive: true });
    windows(train("-n", "340", "--keep", "1"));
    const [kept] = readdirSync(home).filter((name) => name.startsWith("out."));
    expect([files(kept!), hidden()]).toEqual([before, []]);
  });

  test("only one run at a time writes an output; a run that was killed holds no lock", async () => {
    const { run } = await started();
    const refused = windows(train("-n", "300"), { code: 1 }).stderr;
    expect(refused).toContain('"out" is being written by process ');
    run.kill("SIGKILL");
    await run.exited;
    windows(train("-n", "300", "--wait"));
    expect(hidden()).toEqual([]);
  });

  test("a result, or a file, that a program has open is not replaced, and the error names the new one", async () => {
    const encode = ["encode", "corpus/äö.txt", "--tokenizer", "out", "-q", "-o", "held.npy"];
    windows(encode);
    const before = bytes("held.npy");
    const holder = start("hold.exe", [onC("held.npy")], home);
    await shown(holder, "held");
    windows(["train", "corpus/äö.txt", "-n", "350", ...special, "-o", "out"]);
    const { stderr } = windows(encode, { code: 1 });
    expect(stderr).toBe(
      `bpe: error: "held.npy" is not replaced: a program has it open, or it is read-only\nhint: close that program, or make the file writable, and then put the finished file in its place: "${onC("held.npy.new")}"\n`,
    );
    expect(bytes("held.npy").equals(before)).toBe(true);
    holder.stdin.end();
    await holder.exited;
    windows(encode);
    expect(bytes("held.npy").equals(bytes("held.npy.new"))).toBe(true);
    expect(hidden()).toEqual([]);
  });
});

test("Ctrl-C on a console ends a run, which leaves no files", async () => {
  const users = join(driveC, "users");
  const scratchNames = () =>
    readdirSync(users)
      .map((user) => join(users, user, "Temp"))
      .filter(existsSync)
      .flatMap((temporary) => readdirSync(temporary))
      .filter((name) => name.startsWith(".bpe-"));
  const before = files("out");
  writeFileSync(join(home, "long.txt"), longText());
  const session = startOnConsole(
    "bpe.exe",
    ["train", "long.txt", "-n", "60000", "-w", "1", "-o", "out"],
    home,
  );
  await lockedBy();
  session.type("\x03");
  expect(await session.exited).toBe(130);
  expect([files("out"), hidden(), scratchNames()]).toEqual([before, [], []]);
});

/** Returns about 30 MB of text with 400,000 distinct words, whose counting takes some seconds. */
function longText(): string {
  const words = Array.from({ length: 400_000 }, (_, i) => ((i * 2654435761) % 2 ** 32).toString(36));
  return `${words.join(" ")}\n`.repeat(10);
}

/** The arguments of a training into `out` that runs until its standard input ends. */
const endless = ["train", "-", "-n", "300", ...special, "-o", "out"];

const lock = () => join(home, ".out.bpe-lock");

/** Waits until a run has locked `out`. Returns the host that the lock names. */
async function lockedBy(): Promise<string> {
  for (let i = 0; i < 3000; i++) {
    await Bun.sleep(10);
    const text = existsSync(lock()) ? readFileSync(lock(), "utf8") : "";
    if (text.endsWith("}\n")) return JSON.parse(text).host;
  }
  throw new Error("no run has taken the lock");
}

async function started() {
  const run = start("bpe.exe", endless, home);
  return { run, host: await lockedBy() };
}

async function killed() {
  const { run, host: lockHost } = await started();
  run.kill("SIGKILL");
  await run.exited;
  return { host: lockHost };
}

async function shown(run: ReturnType<typeof start>, text: string): Promise<void> {
  let all = "";
  for await (const chunk of run.stdout) {
    all += Buffer.from(chunk).toString();
    if (all.includes(text)) return;
  }
  throw new Error(`it shows ${JSON.stringify(all)}`);
}

describe("the Python package", () => {
  test("trains, encodes in the process and in a child, and saves, like on Linux", () => {
    const place = scratch();
    cpSync(join(root, "python/bpe_trainer"), join(place, "bpe_trainer"), { recursive: true });
    cpSync(join(native, "_native.pyd"), join(place, "bpe_trainer/_native.pyd"));
    mkdirSync(join(place, "bin"));
    for (const path of [binary, ...["bpe.exe", "bcryptprimitives.dll"].map((name) => join(programs, name))])
      symlinkSync(path, join(place, "bin", basename(path)));
    const script = join(import.meta.dir, "package.py");
    const [here, there] = ["linux", "windows"].map((name) => join(place, name)) as [string, string];
    for (const path of [here, there]) mkdirSync(path);
    const onLinux = Bun.spawnSync(["python3", "-B", script, here, place]);
    const onZ = [script, there, place].map((path) => `Z:${path.replaceAll("/", "\\")}`);
    const { code, stdout, stderr } = pythonExe(["-B", "-W", "error::ResourceWarning", ...onZ], {
      cwd: there,
    });
    expect([code, stderr]).toEqual([0, ""]);
    const { model, ...found } = JSON.parse(stdout.toString());
    const { model: _, ...expected } = JSON.parse(onLinux.stdout.toString());
    expect(model).toBe("bpe_trainer._native");
    expect(found).toEqual(expected);
    expect(found).toMatchObject({ "gpt2, child": true, "o200k, child": true, left: [] });
  }, 700_000);
});
