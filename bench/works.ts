import { readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { type BenchTexts, titled } from "./bench-texts.ts";
import { median, runProcess } from "./record.ts";
import type { Cost, Row } from "./speed-table.ts";
import { firstCalls, LibraryComparison, publishedTokenizers, threadsOf } from "./works-in-python.ts";

/** A measurement that gives one row or several. Its inputs are made only when it runs. */
export type Work = {
  readonly name: string;
  /** Whether `--quick` measures it, too. */
  readonly isQuick: boolean;
  readonly run: () => readonly Row[];
};

export type Setting = {
  /** A directory that is deleted at the end. */
  readonly home: string;
  readonly texts: BenchTexts;
  readonly rounds: number;
  readonly isQuick: boolean;
  /** An older executable, which is measured, too, in some rows. */
  readonly before: string | undefined;
};

const root = join(import.meta.dir, "..");
const bpe = join(root, "dist/bpe");
/** A pattern in which each line is one pretoken. */
const linePattern = "[^\\n]*\\n|[^\\n]+";
const superwordsFrom = 24_000;
const quickTexts = ["english", "web", "code", "multilingual"];
/** Rounds of runs that take less than 0.1 s. */
const shortRounds = 15;

/** Runs another benchmark, and returns the results of its record. */
function resultsOf<Result>({ home }: Setting, script: string, ...args: string[]): Result[] {
  const record = join(home, "record.json");
  runProcess([process.execPath, "run", join(import.meta.dir, script), ...args, "--record", record]);
  return JSON.parse(readFileSync(record, "utf8")).results;
}

type Trained = { name: string; seconds: number; "processor s": number; "peak MB": number };

function train(setting: Setting, path: string, ...options: string[]): Cost[] {
  const before = setting.before === undefined ? [] : ["--before", setting.before];
  const rounds = ["--rounds", String(setting.rounds)];
  return resultsOf<Trained>(setting, "train.ts", path, ...rounds, ...before, ...options).map((result) => ({
    name: result.name,
    seconds: result.seconds,
    processorSeconds: result["processor s"],
    megabytes: result["peak MB"],
  }));
}

type Encoded = {
  name: string;
  seconds: number;
  callSeconds: number | null;
  processorSeconds: number;
  peakMemoryBytes: number | null;
};

/** Times encoding: for `bpe` the whole process, and for other tools the call only. */
function encode(setting: Setting, path: string): Cost[] {
  const results = resultsOf<Encoded>(
    ...([setting, "encode/encode.ts", path, setting.texts.tokenizerOf(path)] as const),
    ...[
      "--rounds",
      String(setting.rounds),
      "--workers",
      "default",
      "--peers",
      "gigatoken,huggingface,tiktoken",
    ],
  );
  return results.map(({ name, seconds, callSeconds, processorSeconds, peakMemoryBytes }) => ({
    name: name.startsWith("bpe") ? "bpe" : name === "huggingface" ? "tokenizers" : name,
    seconds: callSeconds ?? seconds,
    processorSeconds,
    ...(peakMemoryBytes !== null && { megabytes: Math.round(peakMemoryBytes / 1e6) }),
  }));
}

/** Times named commands that take turns. Peak memory is the largest of the runs. */
function inTurns(commands: Readonly<Record<string, readonly string[]>>, rounds: number): Cost[] {
  const entries = Object.entries(commands);
  const runs = entries.map(() => [] as ReturnType<typeof runProcess>[]);
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < entries.length; i++) {
      const which = (i + round) % entries.length;
      runs[which]!.push(runProcess([...entries[which]![1]]));
    }
  }
  return entries.map(([name], i) => {
    const of = (key: "seconds" | "processorSeconds") => median(runs[i]!.map((run) => run[key]));
    const peaks = runs[i]!.flatMap(({ stderr }) => peakOf(stderr.toString()));
    const memory = peaks.length > 0 && { megabytes: Math.round(Math.max(...peaks) / 1e6) };
    return { name, seconds: of("seconds"), processorSeconds: of("processorSeconds"), ...memory };
  });
}

const peakOf = (stderr: string): number[] =>
  [...stderr.matchAll(/"peakMemoryBytes":(\d+)/g)].map(([, bytes]) => Number(bytes));

/** Times a short command of `bpe`, without other tools. */
function own({ before }: Setting, ...args: string[]): Cost[] {
  const older = before === undefined ? {} : { "bpe, before": [before, ...args] };
  return inTurns({ bpe: [bpe, ...args], ...older }, shortRounds);
}

/** Times encoding with two tokenizers of the same size, trained on the same text: one with superwords, one without. */
function encodeWithSuperwords(
  { texts, home, rounds, before }: Setting,
  path: string,
  workers: number,
): Cost[] {
  const command = (executable: string, tokenizer: string) => [
    ...[executable, "encode", path, "--tokenizer", tokenizer, "-o", join(home, "ids.npy")],
    ...["-w", String(workers), "--progress", "json"],
  ];
  const superwords = texts.tokenizerOf(path, superwordsFrom);
  const older = before === undefined ? {} : { "bpe, before": command(before, superwords) };
  const plain = { "bpe, plain": command(bpe, texts.tokenizerOf(path)) };
  return inTurns({ bpe: command(bpe, superwords), ...older, ...plain }, rounds);
}

function mergeMadeWords(setting: Setting, english: string): Cost[] {
  const rows = resultsOf<{ name: string; seconds: number; "peak MB": number }>(
    ...([setting, "merge/peers.ts", setting.texts.madeWords(english), "--rounds", "1"] as const),
  );
  return rows.map(({ name, seconds, "peak MB": megabytes }) => ({
    name: name.split(",")[0]!,
    seconds,
    megabytes,
  }));
}

function worksOf(
  rows: Readonly<Record<string, () => Cost[]>>,
  flags: { isQuick: boolean; isOnlyRecorded?: true },
) {
  const { isQuick, ...rest } = flags;
  return Object.entries(rows).map(
    ([work, costs]): Work => ({ name: work, isQuick, run: () => [{ work, costs: costs(), ...rest }] }),
  );
}

/** Returns all works, in the order of the table. */
export function worksIn(setting: Setting): Work[] {
  const { texts } = setting;
  const first = texts.named("english") ?? texts.paths[0]!;
  return [
    ...trainings(setting, first),
    ...encodings(setting, first),
    ...inPython(setting, first),
    ...starts(setting, first),
    ...arrays(setting, first),
    ...worksOf(
      {
        "the limit of counting, one thread": () => resultsOf<Cost>(setting, "counting-limit.ts", first),
        "the executable": () => [
          { name: "bpe", megabytes: statSync(bpe).size / 1e6 },
          ...(setting.before === undefined
            ? []
            : [{ name: "bpe, before", megabytes: statSync(setting.before).size / 1e6 }]),
        ],
      },
      { isQuick: true, isOnlyRecorded: true },
    ),
  ];
}

/** In `--quick`, only the fastest other trainer takes part, and short trainings have more rounds. */
function trainings(setting: Setting, first: string): Work[] {
  const { texts, isQuick } = setting;
  const peers = isQuick ? ["--peers", "gigabpe"] : [];
  const short = { ...setting, rounds: isQuick ? 5 : setting.rounds };
  const [english, multilingual] = [texts.named("english"), texts.named("multilingual")];
  const some = texts.named("code") ?? texts.paths[0]!;
  const isShort = (path: string) => statSync(path).size < 30e6 && !path.includes("multilingual");
  const of = (path: string) => () => train(isShort(path) ? short : setting, path, ...peers);
  const isAmong = (path: string) => quickTexts.includes(basename(path, ".txt")) || path === first;
  const language = (name: string) => ({
    [`train: ${name}, 2 MB`]: () => train(short, texts.ofLanguage(multilingual!, name), ...peers),
  });
  const superwords = ["--peers", "", `--bpe=--superwords-from ${superwordsFrom}`];
  const beginning = () => texts.beginningOf(first, 130e3);
  return [
    ...worksOf(
      {
        [`train: 130 KB of ${basename(first, ".txt")}`]: () =>
          train({ ...setting, rounds: shortRounds }, beginning(), "--vocab-size", "1000", ...peers),
      },
      { isQuick: true, isOnlyRecorded: true },
    ),
    ...texts.paths.flatMap((path) =>
      worksOf({ [`train: ${titled(path)}`]: of(path) }, { isQuick: isAmong(path) }),
    ),
    ...worksOf(
      { [`train with superwords: ${basename(first, ".txt")}`]: () => train(setting, first, ...superwords) },
      { isQuick: true },
    ),
    ...(english === undefined
      ? []
      : worksOf(
          {
            "train: 1 GB, grown from english": () =>
              train(setting, texts.grownTo1GB(english), "--peers", "gigabpe"),
            "merge: 6,000,000 made words": () => mergeMadeWords(setting, english),
          },
          { isQuick: false },
        )),
    ...(multilingual === undefined
      ? []
      : [
          ...worksOf({ ...language("Chinese"), ...language("Japanese") }, { isQuick: false }),
          ...worksOf(language("Thai"), { isQuick: true }),
        ]),
    ...worksOf(
      {
        [`train on lines: ${titled(some)}`]: () => train(setting, some, "--pattern", linePattern),
        [`train on documents: ${titled(some)}`]: () =>
          train(setting, some, "--pattern", "none", "--vocab-size", "4000", "--peers", ""),
        "train on lines: made DNA, 10 MB": () =>
          train(setting, texts.dna(), "--pattern", linePattern, "--vocab-size", "4000"),
      },
      { isQuick: false },
    ),
  ];
}

function encodings(setting: Setting, first: string): Work[] {
  const { texts } = setting;
  const multilingual = texts.named("multilingual");
  return [
    ...texts.paths.flatMap((path) =>
      worksOf({ [`encode: ${titled(path)}`]: () => encode(setting, path) }, { isQuick: false }),
    ),
    ...(multilingual === undefined
      ? []
      : worksOf(
          { "encode: Chinese, 2 MB": () => encode(setting, texts.ofLanguage(multilingual, "Chinese")) },
          { isQuick: false },
        )),
    ...[1, 2].flatMap((workers) =>
      worksOf(
        {
          [`encode with superwords: ${basename(first, ".txt")}, ${threadsOf(workers)}`]: () =>
            encodeWithSuperwords(setting, first, workers),
        },
        { isQuick: true, isOnlyRecorded: true },
      ),
    ),
  ];
}

function inPython(setting: Setting, first: string): Work[] {
  const comparison = new LibraryComparison(first, setting.rounds);
  const calls = [20, 200, 2000].map((length) => [
    `Python, a call of ${length.toLocaleString("en")} characters`,
    () => comparison.costs(`calls of ${length}`, "lists"),
  ]);
  const batches = (["lists", "arrays"] as const).flatMap((form) => [
    [`Python, a batch, ${form}: 10 MB`, () => comparison.costs("encode, a batch", form)],
    [`Python, the same again, ${form}`, () => comparison.costs("encode it again", form)],
  ]);
  const training = ["Python, train as rustbpe: 10 MB", () => comparison.costs("train, as rustbpe", "lists")];
  return worksOf(Object.fromEntries([training, ...batches, ...calls]), { isQuick: false });
}

function starts(setting: Setting, path: string): Work[] {
  const small = join(root, "LICENSE");
  const tokenizer = () => setting.texts.tokenizerOf(path);
  const output = join(setting.home, "small");
  const version = { "`bpe --version`": () => own(setting, "--version") };
  const others = {
    "`bpe train LICENSE -n 1000`": () => own(setting, "train", small, "-n", "1000", "-o", output, "-q"),
    "`bpe inspect`, 32,000 tokens": () => own(setting, "inspect", tokenizer()),
    "`bpe eval LICENSE`, 32,000 tokens": () => own(setting, "eval", tokenizer(), "--text", small),
  };
  return [...worksOf(version, { isQuick: true }), ...worksOf(others, { isQuick: false })];
}

/**
 * Returns a work for each published tokenizer that is installed, or for one trained here if there is none: encoding to
 * arrays in Python. In `--quick`, gigatoken is the only other library, and fewer measurements are made.
 */
function arrays({ isQuick, rounds, texts }: Setting, text: string): Work[] {
  const found = publishedTokenizers();
  const trained = () => ({ name: "trained", path: join(texts.tokenizerOf(text), "tokenizer.json") });
  const tokenizers = found.length > 0 ? found.map((each) => () => each) : [trained];
  const libraries = ["gigatoken", ...(isQuick ? [] : ["fastokens", "snaptokens", "tuetoken"])];
  const fixed = { text, libraries, runs: isQuick ? 2 : rounds };
  return tokenizers.map((makeTokenizer, i) => ({
    name: `arrays: ${found[i]?.name ?? "trained"}`,
    isQuick: true,
    run: () => {
      const tokenizer = makeTokenizer();
      const isLong = !isQuick || i < 2;
      return [
        ...firstCalls({ ...fixed, tokenizer, unit: "documents", threads: isLong ? [1, 2] : [1] }),
        ...firstCalls({
          ...fixed,
          tokenizer,
          unit: "lines",
          threads: isQuick ? (isLong ? [1] : []) : [1, 2],
        }),
      ];
    },
  }));
}
