import { expect, test } from "bun:test";
import { existsSync, linkSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Tokenizer, type TrainTokenizerOptions, trainTokenizer, UserError } from "../../../src/index.ts";
import * as outputLock from "../../../src/store/output-lock.ts";
import { placeOf } from "../../../src/store/output-place.ts";
import { bpe, put, scratch, tokenizerFiles } from "../../binary.ts";
import { naiveWords } from "../../naive.ts";
import { turns } from "../../rounds.ts";
import { madeText } from "../tokenizer/made-merges.ts";

const home = scratch();
const special = "<|endoftext|>";
const documents = [
  ...Array.from({ length: 60 }, (_, seed) => madeText(seed, 40 + seed)),
  "",
  `inside ${special} a text`,
  "line\nline\r\n\u2028",
  "naïve 数据 🦊".repeat(300),
  '"\\\u0000\u001f',
  "long ".repeat(600_000),
];
const settings = { vocabSize: 600, specialTokens: [special] };
/** The same documents in one file, separated by the special token. */
const corpus = put(home, "corpus.txt", documents.join(special));

const filesOf = (made: ReadonlyMap<string, Uint8Array>) =>
  Object.fromEntries([...made].sort().map(([name, bytes]) => [name, Buffer.from(bytes).toString()]));

async function* oneByOne(texts: readonly string[]) {
  for (const text of texts) {
    if (text.length % 7 === 0) await Bun.sleep(0);
    yield text;
  }
}

/** The executable's result for the same corpus. */
const output = join(home, "executable");
const trained = bpe(["train", corpus, "-n", "600", "-s", special, "-o", output, "-q"]);
if (trained.code !== 0) throw new Error(trained.stderr);
const expected = tokenizerFiles(output);

test("texts give the executable's results for the same documents, from any source and on any threads", async () => {
  for (const [turn, workers] of [1, 2, 7].entries()) {
    for (const make of turns(
      [() => documents, () => oneByOne(documents), () => new Set(documents).values()],
      turn,
    )) {
      const texts = make();
      const tokenizer = await trainTokenizer({ ...settings, texts, workers });
      expect(filesOf(tokenizer.files())).toEqual(expected);
    }
  }
});

test("files, texts and words are added up", async () => {
  const [front, middle, back] = [documents.slice(0, 20), documents.slice(20, 40), documents.slice(40)];
  const files = put(home, "front.txt", front.join(special));
  const words = naiveWords(back.join(special), [special]);
  const bytesOf = (word: string) => Uint8Array.from(Buffer.from(word, "latin1"));
  const wordCounts = [...words].map(([word, count]) => [bytesOf(word), count] as const);
  const tokenizer = await trainTokenizer({ ...settings, files, texts: middle, wordCounts });
  expect(filesOf(tokenizer.files())).toEqual(expected);
});

test("a pattern that only HF's engine can read is read like there", async () => {
  const asked = {
    vocabSize: 300,
    compat: "huggingface" as const,
    pattern: "a+{2}b|(?m:.)",
    texts: ["aab ab"],
  };
  const tokenizer = await trainTokenizer(asked);
  expect(["aab", "ab"].map((text) => tokenizer.encode(text).length)).toEqual([1, 2]);
});

test("words of a Map may be strings, and duplicates", async () => {
  const words = new Map([...naiveWords("the cat, the hat")].map(([word, count]) => [word, 3 * count]));
  const twice: [string, number][] = [...words].flatMap(([word, count]) => [
    [word, count - 1],
    [word, 1],
  ]);
  const [once, again] = [await trainTokenizer({ wordCounts: words, vocabSize: 262 })].concat(
    await trainTokenizer({ wordCounts: twice, vocabSize: 262, workers: 2 }),
  );
  expect(filesOf(again!.files())).toEqual(filesOf(once!.files()));
  expect(once!.statistics).toMatchObject({
    wordCount: 15,
    distinctWordCount: 5,
    mergeCount: 6,
    byteCount: 48,
  });
  expect(once!.merges[0]!.map((half) => Buffer.from(half).toString())).toEqual(["t", "h"]);
});

test("counts files are added, and provide the settings that the caller does not give", async () => {
  const counts = join(home, "words.tsv");
  expect(bpe(["count", corpus, "-s", special, "-o", counts, "-q"]).code).toBe(0);
  const tokenizer = await trainTokenizer({ ...settings, counts, pattern: "gpt2" });
  expect(filesOf(tokenizer.files())).toEqual(expected);
  const twice = await trainTokenizer({ ...settings, counts, wordCounts: [["zyzzyva", 1]], pattern: "gpt2" });
  expect(twice.statistics.wordCount).toBe(tokenizer.statistics.wordCount + 1);
  const { specialTokens: _, ...open } = settings;
  expect(filesOf((await trainTokenizer({ ...open, counts })).files())).toEqual(expected);
  const bare = join(home, "bare.tsv");
  writeFileSync(bare, "the\t2\n");
  await expect(trainTokenizer({ ...open, counts: bare })).rejects.toThrow(
    "does not state the options with which its words were counted",
  );
  const other = { ...settings, counts, pattern: "cl100k" };
  await expect(trainTokenizer(other)).rejects.toThrow("made with");
});

test("half a surrogate pair becomes U+FFFD in training, as in encoding", async () => {
  const broken = await trainTokenizer({ texts: ["a\ud800b a\ud800b"], vocabSize: 262 });
  const whole = await trainTokenizer({ texts: ["a\ufffdb a\ufffdb"], vocabSize: 262 });
  expect(filesOf(broken.files())).toEqual(filesOf(whole.files()));
});

test("a trained tokenizer is saved as a whole, over an earlier one, in the requested formats", async () => {
  const tokenizer = await trainTokenizer({ ...settings, texts: documents });
  const directory = join(home, "saved");
  await tokenizer.save(directory);
  expect(tokenizerFiles(directory)).toEqual(expected);
  const loaded = await Tokenizer.load(directory);
  const text = documents.slice(0, 10).join(special);
  expect(Bun.deepEquals(loaded.encode(text), tokenizer.encode(text))).toBe(true);
  await tokenizer.save(directory, { formats: ["tiktoken"] });
  expect(readdirSync(directory).sort()).toEqual(["tokenizer.tiktoken", "training.json"]);
  expect([...tokenizer.files({ formats: ["gpt2"] }).keys()].sort()).toEqual(["merges.txt", "vocab.json"]);
  await expect(tokenizer.save(home)).rejects.toThrow("is not replaced");
});

test("a corpus without text, and values other than a corpus, are errors with a message", async () => {
  const errorOf = async (corpus: object) => {
    const options = { vocabSize: 300, ...corpus } as TrainTokenizerOptions;
    const error = await trainTokenizer(options).then(
      () => undefined,
      (reason) => reason,
    );
    expect(error).toBeInstanceOf(UserError);
    return error.message as string;
  };
  expect(await errorOf({})).toBe("trainTokenizer: there is nothing to train on");
  expect(await errorOf({ texts: [] })).toBe("trainTokenizer: there is nothing to train on");
  expect(await errorOf({ texts: ["", ""] })).toStartWith("the corpus is empty");
  expect(await errorOf({ wordCounts: [] })).toBe("trainTokenizer: there is nothing to train on");
  expect(await errorOf({ wordCounts: new Map() })).toStartWith("there is nothing to train on");
  expect(await errorOf({ texts: "a text" })).toContain("must be an iterable");
  expect(await errorOf({ texts: ["a", 5n] })).toContain("texts[1] is 5n");
  expect(await errorOf({ texts: [Buffer.from("a")] })).toContain("texts[0] is bytes");
  expect(await errorOf({ wordCounts: { a: 1 } })).toContain("must be a Map, or an iterable of pairs");
  expect(await errorOf({ wordCounts: ["ab"] })).toContain('wordCounts[0] is "ab"');
  expect(
    await errorOf({
      wordCounts: [
        ["a", 1],
        ["", 1],
      ],
    }),
  ).toContain('wordCounts[1] has the word ""');
  for (const count of [0, -1, 0.5, 2 ** 53, "1", Number.NaN]) {
    expect(await errorOf({ wordCounts: [["a", count]] })).toContain("wordCounts[0] has the count");
  }
  expect(
    await errorOf({
      wordCounts: [
        ["a", 2 ** 52],
        ["a", 2 ** 52],
      ],
    }),
  ).toContain("2^53");
  expect(
    await errorOf({
      texts: (async function* () {
        yield "a";
        throw new UserError("of its own");
      })(),
    }),
  ).toBe("of its own");
});

/**
 * Yields texts without end, stops the training after some of them, and calls `hasEnded` when the generator is closed.
 */
async function* neverEnding(stop: AbortController, hasEnded: () => void) {
  try {
    for (let n = 0; ; n++) {
      yield `text ${n}`.repeat(1000);
      if (n === 300) stop.abort(new Error("that is enough"));
      if (n % 100 === 0) await Bun.sleep(1);
    }
  } finally {
    hasEnded();
  }
}

test("a signal ends training in every stage with its reason, and leaves no files", async () => {
  const stages = ["counting", "merging"] as const;
  for (const workers of [1, 3]) {
    for (const stage of stages) {
      let calledAfter = 0;
      const stop = new AbortController();
      const reason = new Error(`stopped while ${stage}`);
      const made = join(home, "aborted");
      const training = trainTokenizer({
        ...settings,
        files: corpus,
        output: made,
        workers,
        signal: stop.signal,
        onProgress: (progress) => {
          if (stop.signal.aborted) calledAfter++;
          if (progress.stage === stage) stop.abort(reason);
        },
      });
      await expect(training).rejects.toBe(reason);
      expect(calledAfter).toBe(0);
      expect(existsSync(made)).toBe(false);
    }
  }
  expect(readdirSync(home).filter((name) => name.startsWith("."))).toEqual([]);
  const before = { ...settings, texts: documents, signal: AbortSignal.abort(new Error("before")) };
  await expect(trainTokenizer(before)).rejects.toThrow("before");
});

test("a signal ends training on texts that never end, or never arrive", async () => {
  for (const workers of [1, 2]) {
    const stop = new AbortController();
    const { promise: hasEnded, resolve } = Promise.withResolvers<void>();
    const texts = neverEnding(stop, resolve);
    const endless = trainTokenizer({ ...settings, workers, texts, signal: stop.signal });
    await expect(endless).rejects.toThrow("that is enough");
    await hasEnded;
    const silent = (async function* () {
      yield "a text";
      await new Promise(() => {});
    })();
    const hanging = { ...settings, workers, texts: silent, signal: AbortSignal.timeout(20) };
    await expect(trainTokenizer(hanging)).rejects.toThrow("timed out");
  }
});

test("an error of onProgress ends the training, even while only workers count", async () => {
  for (const workers of [1, 2]) {
    const onProgress = () => {
      throw new Error("enough");
    };
    await expect(trainTokenizer({ ...settings, files: corpus, workers, onProgress })).rejects.toThrow(
      "enough",
    );
    await expect(trainTokenizer({ ...settings, texts: documents, workers, onProgress })).rejects.toThrow(
      "enough",
    );
  }
});

const at = (name: string) => join(home, name);
const files = [1, 2, 3].map((seed) => put(home, `text-${seed}.txt`, madeText(seed, 400)));

test("a cache stays within its limit, and reports mistakes", async () => {
  const warnings: string[] = [];
  const train = (cacheLimitBytes: number) =>
    trainTokenizer({
      files,
      vocabSize: 300,
      cache: at("small"),
      cacheLimitBytes,
      onWarning: (message) => warnings.push(message),
    });
  await train(1e9);
  expect(warnings).toEqual([]);
  const [entry] = readdirSync(at("small")).filter((name) => name.endsWith(".words"));
  for (const name of readdirSync(at("small"))) {
    if (name === entry) writeFileSync(join(at("small"), name), "damaged");
    else rmSync(join(at("small"), name));
  }
  await train(0);
  expect(warnings).toEqual([
    expect.stringContaining(entry!),
    expect.stringMatching(/still has [\d,]+ bytes, more than [\d,]+ \(cacheLimitBytes\)/),
  ]);
});

test("skipped files of a directory are reported", async () => {
  const directory = join(home, "mixed");
  mkdirSync(directory);
  writeFileSync(join(directory, "a.txt"), "some words, some more words");
  writeFileSync(join(directory, "b.png"), Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0]));
  const warnings: string[] = [];
  await trainTokenizer({ files: directory, vocabSize: 260, onWarning: (message) => warnings.push(message) });
  expect(warnings).toEqual([expect.stringMatching(/^".*b\.png" is not read: ./)]);
});

test("a cache limit without a cache, and a corpus that contains an output, are mistakes", async () => {
  const options = { files, vocabSize: 300 };
  await expect(trainTokenizer({ ...options, cacheLimitBytes: 1 })).rejects.toThrow("cacheLimitBytes");
  await expect(trainTokenizer({ ...options, cache: "" })).rejects.toThrow('cache is ""');
  await expect(trainTokenizer({ ...options, cache: at("c"), cacheLimitBytes: -1 })).rejects.toThrow("is -1");
  const misplaced = { ...options, output: at("new"), cache: join(at("new"), "cache") };
  await expect(trainTokenizer(misplaced)).rejects.toThrow("which this run writes");
  mkdirSync(at("corpus"));
  put(at("corpus"), "a.txt", "some text");
  const inside = { files: at("corpus"), vocabSize: 300, output: join(at("corpus"), "tokenizer") };
  await trainTokenizer(inside);
  await expect(trainTokenizer(inside)).rejects.toThrow("which this run writes");
  const made = inside.output;
  for (const reads of [
    { like: made },
    { like: join(made, "tokenizer.json") },
    { counts: join(made, "vocab.json"), pattern: "gpt2", specialTokens: [] },
  ])
    await expect(trainTokenizer({ ...options, ...reads, output: made })).rejects.toThrow("this run");
  linkSync(join(made, "vocab.json"), at("ids.npy"));
  const tokenizer = await Tokenizer.load(made);
  await expect(tokenizer.encodeFile(join(made, "vocab.json"), at("ids.npy"))).rejects.toThrow(
    "would replace",
  );
});

test("with like, the tokenizer in memory does not depend on the formats of its files", async () => {
  const [made, written] = [at("liked"), at("imitating")];
  const common = { files, vocabSize: 300 };
  await trainTokenizer({ ...common, specialTokens: ["<|endoftext|>"], output: made });
  const text = "low lower lowest<|endoftext|>";
  const whole = await trainTokenizer({ ...common, like: made });
  for (const formats of [["gpt2"], ["tiktoken"], ["huggingface", "gpt2"]] as const) {
    const tokenizer = await trainTokenizer({ ...common, like: made, formats, output: written });
    expect([...tokenizer.encode(text)]).toEqual([...whole.encode(text)]);
    expect(existsSync(join(written, "tokenizer.json"))).toBe(formats[0] === "huggingface");
  }
});

test("ifChanged does nothing for unchanged files, and trains again on data in memory", async () => {
  const built = globalThis as { BPE_COMMIT?: string };
  // Sets a commit, as a build does. Sources that are run directly have none, and then nothing counts as unchanged.
  built.BPE_COMMIT = "abcdef012345";
  try {
    const train = (name: string, sources: Partial<TrainTokenizerOptions>) =>
      trainTokenizer({
        ...{ vocabSize: 257, specialTokens: [], pattern: "gpt2", ifChanged: true },
        ...{ output: join(home, `unchanged-${name}`), cache: join(home, "unchanged-cache"), ...sources },
      });
    const newest = (tokenizer: { tokenBytes(id: number): Uint8Array }) =>
      Buffer.from(tokenizer.tokenBytes(256)).toString();
    const files = put(home, "unchanged.txt", "low low");
    expect((await train("files", { files })).isUnchanged).toBe(false);
    const again = await train("files", { files });
    expect([again.isUnchanged, newest(again)]).toEqual([true, "ow"]);
    writeFileSync(files, "zig zig zag");
    expect(newest(await train("files", { files }))).toBe("zi");
    for (const [word, token] of [
      ["aaab", "aa"],
      ["zzzb", "zz"],
    ] as const) {
      for (const sources of [{ wordCounts: [[word, 3]] as const }, { texts: [word] }]) {
        const tokenizer = await train(Object.keys(sources)[0]!, sources);
        expect([tokenizer.isUnchanged, newest(tokenizer)]).toEqual([false, token]);
      }
    }
  } finally {
    delete built.BPE_COMMIT;
  }
});

test("an output does not stay locked if another one is being written", async () => {
  const counts = join(home, "held.counts");
  const given = { texts: documents.slice(0, 3), vocabSize: 270, output: join(home, "free") };
  const held = outputLock.takeNow(placeOf(counts));
  await expect(trainTokenizer({ ...given, saveCounts: counts })).rejects.toThrow(
    "is already an output of this process",
  );
  held.release();
  await trainTokenizer({ ...given, saveCounts: counts });
  expect(existsSync(counts)).toBe(true);
});

test("a value that is not text is an error with its position, wherever it is", async () => {
  for (const wrong of [null, undefined, 5, {}]) {
    const texts = ["a", wrong] as string[];
    const training = trainTokenizer({ texts, vocabSize: 300 });
    await expect(training).rejects.toThrow("texts[1] is ");
  }
});

test("lists of options have no holes, and later changes to them have no effect", async () => {
  const tokens = [special, "<|pad|>"];
  const training = trainTokenizer({ texts: documents, vocabSize: 300, specialTokens: tokens });
  tokens.push("<|later|>");
  const trained = await training;
  tokens.pop();
  tokens[0] = "<|other|>";
  expect([...trained.specialTokens.keys()]).toEqual([special, "<|pad|>"]);
  expect(Buffer.from(trained.files().get("tokenizer.json")!).toString()).not.toMatch(/later|other/);
  const withHole = [special, "", "<|pad|>"];
  delete withHole[1];
  for (const name of ["specialTokens", "seedTokens", "formats", "normalize"]) {
    const wrong = { texts: documents, vocabSize: 300, [name]: withHole };
    await expect(trainTokenizer(wrong as never)).rejects.toThrow(`trainTokenizer: ${name} is [`);
  }
});

/** Keeps the thread busy for longer than the event loop may wait. */
function work(): void {
  const startMs = performance.now();
  while (performance.now() - startMs < 12);
}

/**
 * Returns three things. `each` is a generator function that works for some time before each value. `seen` lists, for
 * each value, how many turns the event loop had made by then. `turned()` returns how many values came at least one turn
 * after the value before.
 */
function slowly<T>(values: readonly T[], onValue: (index: number) => void = () => {}) {
  let turn = 0;
  let isOver = false;
  const seen: number[] = [];
  const next = () => {
    turn++;
    if (!isOver) setImmediate(next);
  };
  setImmediate(next);
  function* each() {
    try {
      for (const [index, value] of values.entries()) {
        work();
        seen.push(turn);
        onValue(index);
        yield value;
      }
    } finally {
      isOver = true;
    }
  }
  return { each, seen, turned: () => seen.filter((at, i) => i > 0 && at > seen[i - 1]!).length };
}

test("an iterator that works long for each text or word leaves turns to the event loop and to a signal", async () => {
  const texts = Array.from({ length: 12 }, (_, i) => `low lower ${i}`);
  const words = texts.map((text, i) => [text, i + 1] as const);
  const ways = [
    ...[1, 2].flatMap((workers) => [
      (each: () => Iterable<string>) => ({ texts: each(), workers }),
      (each: () => Iterable<string>) => ({
        workers,
        texts: (async function* () {
          yield* each();
        })(),
      }),
    ]),
    (each: () => Iterable<string>) => ({
      wordCounts: (function* () {
        let index = 0;
        for (const _ of each()) yield words[index++]!;
      })(),
    }),
  ];
  for (const [way, optionsOf] of ways.entries()) {
    const all = slowly(texts);
    await trainTokenizer({ ...optionsOf(all.each), vocabSize: 260 });
    expect([way, all.seen.length]).toEqual([way, texts.length]);
    expect([way, all.turned() >= texts.length - 3]).toEqual([way, true]);
    // A timer aborts the signal, and a timer needs a turn of the event loop.
    const stop = new AbortController();
    const some = slowly(texts, (index) => index === 3 && setTimeout(() => stop.abort(new Error("stop")), 0));
    const training = trainTokenizer({ ...optionsOf(some.each), vocabSize: 260, signal: stop.signal });
    await expect(training).rejects.toThrow("stop");
    expect([way, some.seen.length < texts.length]).toEqual([way, true]);
  }
});

test("a signal ends the counting of given words, and of long texts", async () => {
  const wordCounts = new Map(Array.from({ length: 200_000 }, (_, i) => [`word${i}`, 1 + (i % 7)]));
  const stop = new AbortController();
  const reports: string[] = [];
  const training = trainTokenizer({
    ...{ wordCounts, vocabSize: 400, signal: stop.signal },
    onProgress({ stage }) {
      reports.push(stage);
      stop.abort(new Error("in the middle"));
    },
  });
  await expect(training).rejects.toThrow("in the middle");
  expect(reports).toEqual(["counting"]);
});
