import { pick, type Random } from "../random.ts";
import { randomPattern } from "../unit/pattern/random-patterns.ts";

/** The rules for ties. Trainings by the rule `extension` only continue a tokenizer. */
export const rules = ["cs336", "huggingface", "rustbpe", "extension"] as const;
export type Rule = (typeof rules)[number];

export type MadeTraining = {
  /** The contents of the input files, by name. */
  readonly inputs: ReadonlyMap<string, string>;
  /** The arguments of the training that makes the tokenizer to continue. Null if no tokenizer is continued. */
  readonly base: readonly string[] | null;
  /** What is typed after `bpe train`, except output and threads. */
  readonly args: readonly string[];
  /** The options of the training for a naive trainer. Null if that trainer does not know all of them. */
  readonly plain: PlainTraining | null;
};

export type PlainTraining = {
  readonly vocabSize: number;
  readonly specialTokens: readonly string[];
  readonly minFrequency: number | null;
  readonly maxTokenLength: number | null;
  readonly wholeCharacters: boolean;
};

/** The directory of the tokenizer that a training continues. */
export const baseName = "base";
const specialTokens = ["<|endoftext|>", "<|end|>", "<s>", "<|endoftext|>x"];
const alphabets = [
  "ab",
  "aab",
  "abcde",
  "etaoinshr",
  "aé中😀",
  "ßſKéΣ",
  "กขคงาิี",
  "あいう中文",
  "01ab_({",
  "аеи",
  "ab\u0301é",
];
const gaps = [" ", " ", " ", "  ", "\n", "\n\n", "\r\n", "\t", ", ", ". ", "", "'s ", " 12 ", ": ", "\u00a0"];

/** Returns words that repeat, with gaps between them, and some special tokens. */
function madeText(random: Random, lengthMax: number): string {
  const words = Array.from({ length: 1 + random(60) }, () => {
    const letters = [...pick(random, alphabets)];
    return Array.from({ length: 1 + random(8) }, () => pick(random, letters)).join("");
  });
  const usedGaps = Array.from({ length: 1 + random(5) }, () => pick(random, gaps));
  let text = random(6) === 0 ? pick(random, words).repeat(random(300)) : "";
  for (let left = random(lengthMax); left > 0; left--) {
    // Small indexes are likely, like the frequent words of a language.
    text += words[Math.floor(words.length ** (random(1000) / 1000)) - 1]! + pick(random, usedGaps);
    if (random(40) === 0) text += pick(random, specialTokens);
  }
  return text;
}

function madeInputs(random: Random): Map<string, string> {
  const inputs = new Map<string, string>();
  const lengthMax = pick(random, [20, 200, 200, 2000, 10_000]);
  for (let i = 1 + random(4); i > 0; i--) {
    if (random(5) > 0) inputs.set(`${i}.txt`, madeText(random, lengthMax));
    else {
      const records = Array.from({ length: 1 + random(20) }, (_, id) =>
        JSON.stringify({ id, text: madeText(random, lengthMax / 10) }),
      );
      inputs.set(`${i}.jsonl`, `${records.join("\n")}\n`);
    }
  }
  return inputs;
}

const patternNames = ["gpt2", "cl100k", "o200k", "llama3", "qwen2", "deepseek-v3", "starcoder", "none"];

/** Returns a random training by a rule. `bpe` may refuse it. */
export function madeTraining(random: Random, rule: Rule): MadeTraining {
  const inputs = madeInputs(random);
  const specials = specialTokens.filter(() => random(3) === 0);
  const vocabSize = 257 + specials.length + random(pick(random, [20, 300, 1200]));
  const isOneIn = (count: number) => random(count) === 0;
  const limits = {
    minFrequency: isOneIn(4) ? 1 + random(20) : null,
    maxTokenLength: isOneIn(4) ? 2 + random(12) : null,
    wholeCharacters: isOneIn(5),
  };
  const args = [
    ...inputs.keys(),
    ...["--compat", rule],
    ...specials.flatMap((token) => ["-s", token]),
    ...(limits.minFrequency === null ? [] : ["--min-frequency", String(limits.minFrequency)]),
    ...(limits.maxTokenLength === null ? [] : ["--max-token-length", String(limits.maxTokenLength)]),
    ...(limits.wholeCharacters ? ["--whole-characters"] : []),
  ];
  if (rule === "extension") {
    const base = ["-n", String(260 + random(200)), "--compat", pick(random, rules.slice(0, 3))];
    const added = ["--extend", baseName, "-n", `+${1 + random(300)}`];
    const names = [...inputs.keys()];
    const from = [...names.slice(0, 1 + random(names.length)), ...base, "-p", pick(random, patternNames)];
    return { inputs, base: from, args: [...args, ...added, ...otherOptions(random, rule)], plain: null };
  }
  const isPlain = isOneIn(3) && ![...inputs.keys()].some((name) => name.endsWith(".jsonl"));
  args.push("-n", isOneIn(10) && !isPlain ? `${vocabSize},${vocabSize + 100}` : String(vocabSize));
  if (isPlain) return { inputs, base: null, args, plain: { vocabSize, specialTokens: specials, ...limits } };
  args.push("-p", isOneIn(3) ? randomPattern(random) : pick(random, patternNames));
  if (isOneIn(4)) {
    args.push("--superwords-from", String(256 + specials.length + random(vocabSize - 256 - specials.length)));
    if (isOneIn(3)) args.push("--superword-pattern", pick(random, ["\\d{1,3}|[^\\d]+", " ?\\p{L}+|."]));
  }
  return { inputs, base: null, args: [...args, ...otherOptions(random, rule)], plain: null };
}

/** Returns some of the other options. Each is chosen with a probability of 1/14. */
function otherOptions(random: Random, rule: Rule): string[] {
  const always = [
    ["--seed-token", pick(random, ["ab", " ab", "éa", "the"])],
    ["--pad-to", String(pick(random, [8, 64, 128]))],
    ["--weight", pick(random, ["1.txt:0.5", "*.txt:3", "*.jsonl:0.25"])],
    ["--no-ledger"],
    ["--memory-limit", "1GB"],
    ["--input-format", "text"],
    // Saves the counts in text form, because the frames of the compact form depend on the scale.
    ["--save-counts", "counts.tsv"],
    ["--cache", "cache"],
  ];
  const unlessExtended = [
    ["--normalize", pick(random, ["NFC", "NFD", "NFKC", "NFKC,lowercase", "lowercase"])],
    ["--format", pick(random, ["huggingface", "gpt2", "tiktoken", "tekken", "gguf", "gpt2,tiktoken"])],
    ["--ledger"],
    ["--chat-template", pick(random, ["chatml", "gemma", "llama3"])],
    ["--model-max-length", "512"],
    ["--add-bos"],
    ["--bos", "<s>"],
    ["--model-card"],
    ["--report", "report.html"],
    ["--language", "one=1.txt", "--language", "two=2.txt", "--global-merges", "9"],
  ];
  const options = [
    ...always,
    ...(rule === "extension" ? [["--special-tokens-as-text"]] : unlessExtended),
    ...(rule === "huggingface" ? [["--special-tokens-as-text"], ["--whole-texts"]] : []),
    ...(rule === "cs336" || rule === "rustbpe" ? [["--special-tokens-first"]] : []),
  ];
  return options.flatMap((option) => (random(14) === 0 ? option : []));
}
