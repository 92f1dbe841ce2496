import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compileLibrary } from "../../../scripts/npm/compile.ts";
import { TextTokenizer } from "../../../src/library/text-tokenizer.ts";
import { UserError } from "../../../src/runtime/errors.ts";
import { isSmallScale } from "../../../src/runtime/scale.ts";
import { bpe } from "../../binary.ts";
import { randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { randomFile, told } from "../formats/random-files.ts";
import { randomText } from "../pattern/random-patterns.ts";

const directory = mkdtempSync(join(tmpdir(), "bpe-browser-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

let compiled: Promise<typeof import("../../../src/browser.ts")> | undefined;
/** Compiles the script for browsers as in the package; at small scale, with tiny sizes. */
const library = () => {
  compiled ??= compileLibrary("browser", directory, "", isSmallScale).then(
    () => import(join(directory, "browser/browser.js")),
  );
  return compiled;
};

test("the page of npm/README runs", async () => {
  await library();
  const [, script] = /<script type="module">\n(.*?)<\/script>/s.exec(readFileSync("npm/README.md", "utf8"))!;
  const path = "./node_modules/bpe/lib/browser/browser.js";
  expect(script).toContain(`from "${path}"`);
  const page = join(directory, "page.mjs");
  const json = JSON.stringify({
    ...randomFile(randomNumbers(3)),
    pre_tokenizer: { type: "ByteLevel", add_prefix_space: false, use_regex: true },
  });
  writeFileSync(join(directory, "tokenizer.json"), json);
  const fetchOfBun = globalThis.fetch;
  globalThis.fetch = (async (name: string) => new Response(Bun.file(join(directory, name)))) as never;
  writeFileSync(
    page,
    `const document = { body: {} };
    ${script!.replace(path, "./browser/browser.js")}
    export const shown = document.body.textContent;`,
  );
  const { shown } = await import(page).finally(() => {
    globalThis.fetch = fetchOfBun;
  });
  expect(shown).toBe(TextTokenizer.from(json).encode("some text").join(" "));
});

test("the script for Workers imports its WebAssembly as compiled files, and compiles no bytes", async () => {
  const built = join(directory, "for-workers");
  await compileLibrary("workers", built, "", isSmallScale);
  const script = readFileSync(join(built, "workers/browser.js"), "utf8");
  const imported = [...script.matchAll(/^import (\w+) from "\.\/(.*)";$/gm)];
  expect(imported.map(([, , name]) => name).sort()).toEqual(["kernel-text.wasm", "kernel.wasm"]);
  // Bun imports a .wasm file as a path, so the modules are compiled from these files instead.
  const modules = imported.map(
    ([, name, file]) =>
      `const ${name} = new Module(fs.readFileSync(${JSON.stringify(join(built, "workers", file!))}));`,
  );
  const rest = script.replaceAll(/^import .*;$/gm, "");
  const path = join(built, "run.mjs");
  const head = `import * as fs from "node:fs";\nconst { Module } = WebAssembly;\n${modules.join("\n")}
    WebAssembly.Module = class { constructor() { throw new Error("bytes were compiled"); }
      static [Symbol.hasInstance](value) { return value instanceof Module; } };`;
  writeFileSync(path, `${head}\n${rest}`);
  const { Module } = WebAssembly;
  try {
    const { trainTokenizer } = await import(path);
    const trained = await trainTokenizer({ texts: ["low lower lowest ".repeat(50)], vocabSize: 280 });
    const browser = await library();
    const other = browser.Tokenizer.from(trained.files().get("tokenizer.json")!);
    expect([...trained.encode("low lower")]).toEqual([...other.encode("low lower")]);
    expect(trained.decode(trained.encode("low lower"))).toBe("low lower");
  } finally {
    WebAssembly.Module = Module;
  }
});

test("a tokenizer.json is loaded in a browser like elsewhere, or refused with the same reason", async () => {
  const browser = await library();
  const seed = 20261124;
  const random = randomNumbers(seed);
  let loadedCount = 0;
  for (let round = 0; round < rounds(30); round++) {
    const file = randomFile(random);
    const texts = Array.from({ length: 4 }, () => randomText(random, 20));
    const wanted = told(TextTokenizer, file, texts);
    expect({ seed, file, told: told(browser.Tokenizer, file, texts) }).toEqual({ seed, file, told: wanted });
    if (typeof wanted !== "string") loadedCount++;
    else expect(wanted).toStartWith(new UserError("").toString());
  }
  expect(loadedCount).toBeGreaterThan(rounds(8));
});

const separator = "<|end|>";
const story =
  "The low tower was lower; the newest tower's 12,345 bricks weren't naïve.\r\n\tthey  thought\n\nof 数据 🦊 weather";
const corpus = Buffer.concat([
  ...["", story, separator, story.toUpperCase(), "\n\n", `${story} `.repeat(9)].map((text) =>
    Buffer.from(text),
  ),
  Uint8Array.of(0xff, 0x41, 0xc3),
]);
const files = (directory: string, names: Iterable<string>) =>
  Object.fromEntries(Array.from(names, (name) => [name, readFileSync(join(directory, name), "latin1")]));
const latin1 = (made: Map<string, Uint8Array>) =>
  Object.fromEntries(Array.from(made, ([name, bytes]) => [name, Buffer.from(bytes).toString("latin1")]));

test("a training in a browser gives the files of bpe train, under every rule and from File objects", async () => {
  const { trainTokenizer } = await library();
  const path = join(directory, "corpus.txt");
  writeFileSync(path, corpus);
  for (const compat of ["cs336", "huggingface", "rustbpe"] as const) {
    for (const pattern of ["gpt2", "cl100k", "o200k", "llama-3", "\\S+|\\s+"]) {
      const output = join(directory, `${compat}-${pattern.length}`);
      const size = 256 + pattern.length * 20;
      const args = ["-n", String(size), "-s", separator, "--pattern", pattern, "--compat", compat];
      expect(bpe(["train", path, path, ...args, "-o", output, "-w", "1"]).code).toBe(0);
      const file = new File([corpus], "corpus.txt");
      const options = { files: [file, file], vocabSize: size, specialTokens: [separator], pattern, compat };
      const made = latin1((await trainTokenizer(options)).files());
      expect({ compat, pattern, made }).toEqual({ compat, pattern, made: files(output, Object.keys(made)) });
      expect(Object.keys(made)).toContain("tokens.tsv");
    }
  }
});

test("texts in a browser are documents like lines of JSON, also with a normal form and seeds", async () => {
  const { trainTokenizer } = await library();
  const texts = [story, "", `${story}\ud800`, separator, story.slice(0, 40)];
  const path = join(directory, "texts.jsonl");
  writeFileSync(path, texts.map((text) => `${JSON.stringify({ text: text.toWellFormed() })}\n`).join(""));
  const output = join(directory, "texts");
  const args = ["-n", "400", "--normalize", "NFKC,lowercase", "--seed-token", "tower", "--pad-to", "64"];
  expect(bpe(["train", path, ...args, "-o", output, "-w", "1"]).code).toBe(0);
  const trained = await trainTokenizer({
    texts: (async function* () {
      yield* texts;
    })(),
    ...{ vocabSize: 400, normalize: ["NFKC", "lowercase"], seedTokens: ["tower"], padTo: 64 },
  });
  const made = latin1(trained.files());
  expect(made).toEqual(files(output, Object.keys(made)));
  expect(trained.merges.length).toBe(trained.statistics.mergeCount);
  expect([...trained.encode(story)]).toEqual([
    ...TextTokenizer.from(trained.files().get("tokenizer.json")!).encode(story),
  ]);
});

test("a training in a browser reports progress and warnings, and a signal ends it", async () => {
  const { trainTokenizer } = await library();
  const stages = new Set<string>();
  const warnings: string[] = [];
  const large = [new File([corpus, story.repeat(9000)], "a.txt")];
  await trainTokenizer({
    ...{ files: large, vocabSize: 5000 },
    onProgress: ({ stage, done, total }) => {
      stages.add(stage);
      expect(done).toBeLessThanOrEqual(total!);
    },
    onWarning: (message) => warnings.push(message),
  });
  expect([...stages]).toEqual(["counting", "merging"]);
  expect(warnings[0]).toBe("2 bytes are not valid UTF-8; each was counted as a pretoken of its own");
  expect(warnings[1]).toMatch(/^stopped early: the corpus has only enough pairs for \d+ of 4,744 merges$/);
  for (const stage of ["counting", "merging"]) {
    const ending = new AbortController();
    const onProgress = (progress: { stage: string }) => progress.stage === stage && ending.abort("enough");
    const training = trainTokenizer({ files: large, vocabSize: 400, signal: ending.signal, onProgress });
    expect(await training.catch((reason) => reason)).toBe("enough");
  }
});

test("progress of a training in a browser counts the bytes of texts in UTF-8", async () => {
  const { trainTokenizer } = await library();
  const counted: [done: number, total: number | null][] = [];
  await trainTokenizer({
    ...{ texts: Array(400).fill("数据 café 🦊 ".repeat(400)), vocabSize: 300 },
    onProgress: ({ stage, done, total }) => stage === "counting" && counted.push([done, total]),
  });
  const sizeBytes = 400 * 400 * Buffer.byteLength("数据 café 🦊 ");
  expect(counted.length).toBeGreaterThan(0);
  for (const [done, total] of counted) expect([total, done <= sizeBytes]).toEqual([sizeBytes, true]);
});

test("a training in a browser on slow texts leaves turns to timers, and their signal ends it", async () => {
  const { trainTokenizer } = await library();
  for (const isAsync of [false, true]) {
    const stop = new AbortController();
    let textCount = 0;
    function* slow() {
      for (; textCount < 40; textCount++) {
        const startMs = performance.now();
        while (performance.now() - startMs < 12);
        if (textCount === 3) setTimeout(() => stop.abort("enough"), 0);
        yield story;
      }
    }
    const texts = isAsync
      ? (async function* () {
          yield* slow();
        })()
      : slow();
    const training = trainTokenizer({ texts, vocabSize: 300, signal: stop.signal });
    expect(await training.catch((reason) => reason)).toBe("enough");
    expect(textCount).toBeLessThan(40);
  }
});

test("a page's values are accepted directly: a list of files, no files, and texts of any length in parts", async () => {
  const { trainTokenizer } = await library();
  const file = new File([corpus], "corpus.txt");
  const made = async (files: unknown) =>
    latin1((await trainTokenizer({ files: files as File[], vocabSize: 300 })).files());
  const wanted = await made([file, file]);
  expect(await made({ 0: file, 1: file, length: 2, item: () => null })).toEqual(wanted);
  expect(await made(new Set([file, new File([corpus], "other.txt")]))).toEqual(wanted);
  const none = { files: null, texts: ["low lower"], vocabSize: 258 };
  expect((await trainTokenizer(none)).vocabSize).toBe(258);
  await expect(trainTokenizer({ files: null, vocabSize: 300 })).rejects.toThrow("nothing to train on");
  const long = `${"a".repeat((1 << 18) - 1)}🦊 b🦊`;
  const trained = await trainTokenizer({ texts: [long], vocabSize: 260, pattern: "\\S+|\\s+" });
  expect(trained.statistics.byteCount).toBe(Buffer.byteLength(long));
  expect(trained.statistics.distinctWordCount).toBe(3);
});

test("input that bpe train would read differently is refused in a browser, and so are missing options", async () => {
  const { trainTokenizer } = await library();
  const records = '{"text":"a"}\n{"text":"b"}\n';
  const refused: [file: File, message: string][] = [
    [
      new File([Bun.gzipSync("text")], "a.txt"),
      'UserError: "a.txt" is compressed with gzip, but in a browser, bpe reads only plain text',
    ],
    [
      new File([records], "a.txt"),
      'UserError: "a.txt" contains records (jsonl), but in a browser, bpe reads only plain text',
    ],
    [
      new File(["anything"], "a.JSONL"),
      'UserError: "a.JSONL" contains records (jsonl), but in a browser, bpe reads only plain text',
    ],
    [new File(['{"a":1}'], "a.json"), "none"],
    [
      new File(["PAR1\0"], "a"),
      'UserError: "a" contains records (parquet), but in a browser, bpe reads only plain text',
    ],
    [
      new File([Buffer.from("\x89PNG\r\n\x1a\n\0", "latin1")], "a"),
      'UserError: "a" is a PNG image, not text',
    ],
    [new File([""], "a"), "UserError: there is nothing to train on: the texts contain no words"],
  ];
  for (const [file, message] of refused) {
    const told = await trainTokenizer({ files: file, vocabSize: 300 }).then(() => "none", String);
    expect(told).toBe(message);
  }
  const wrong: [options: object, message: RegExp][] = [
    [{ vocabSize: 300 }, /^UserError: trainTokenizer: there is nothing to train on$/],
    [
      { texts: ["a"], vocabSize: 300, output: "a" },
      /^UserError: trainTokenizer: output is not available in a browser$/,
    ],
    [{ texts: ["a"], vocabSize: 300, languages: [] }, /languages is not available in a browser$/],
    [{ texts: ["a"], vocabSize: [300, 400] }, /vocabSize is .*, but must be a whole number$/],
    [{ texts: ["a"], vocabSise: 300 }, /has no option "vocabSise"$/],
    [{ texts: ["a"], vocabSize: 200 }, /^UserError: vocabSize is 200, but must be at least 256/],
    [undefined as never, /^UserError: trainTokenizer: options is missing; it must be a plain object$/],
    [
      { texts: ["a", null], vocabSize: 300 },
      /^UserError: trainTokenizer: texts\[1\] is null, but must be a string$/,
    ],
    [{ files: 5, vocabSize: 300 }, /^UserError: trainTokenizer: files is 5, but must be a File, a Blob/],
    [
      { files: ["a.txt"], vocabSize: 300 },
      /files contains "a.txt", but in a browser must contain only File or Blob objects$/,
    ],
    [{ texts: [Uint8Array.of(1)], vocabSize: 300 }, /texts\[0\] is .*, but must be a string$/],
  ];
  for (const [options, message] of wrong) {
    const told = await trainTokenizer(options as never).then(() => "none", String);
    expect(told).toMatch(message);
  }
});
