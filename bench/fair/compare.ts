// Trains vocabularies of ten languages in three ways (`kinds`), and prints tables that compare them:
//
//   node scripts/bun.mjs bench/fair/compare.ts english.txt multilingual.txt
//
// Together, the two files contain documents of all ten languages, with <|endoftext|> between them.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Evaluation, TokenizerResult } from "../../src/evaluation/evaluation.ts";
import type { Measures } from "../../src/evaluation/measures.ts";
import type { TrainingRecord } from "../../src/formats/training-json.ts";
import { patterns } from "../../src/pattern/named-patterns.ts";
import { table } from "../markdown.ts";
import { declarationFile, devFile, heldOutFile, languages, trainingFile, writeTexts } from "./texts.ts";

const root = join(import.meta.dir, "../..");
const home = join(root, "dist/fair");
const sizes = [32_000, 128_000];

/** Groups of up to three digits, counted from the right. */
const fromTheRight = String.raw`\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))`;
/** GPT-4o's pattern, but with groups of digits counted from the right. */
const pattern = patterns.o200k.sources[0].replace(String.raw`\p{N}{1,3}`, () => fromTheRight);
const clean = ["-p", pattern, "--whole-characters", "--normalize", "NFC"];
const files = languages.map(trainingFile);
const fair = languages.flatMap((language) => [
  ...["--language", `${language.name}=${trainingFile(language)}`],
  ...["--language-dev", `${language.name}=${devFile(language)}`],
]);

const kinds: readonly (readonly [name: string, ...args: string[]])[] = [
  ["plain", "-p", "gpt-4o", ...files],
  ["clean", ...clean, ...files],
  ["fair", ...clean, ...fair, "--global-merges", "16000", "--language-window", "100:2"],
];

function run(...args: string[]): string {
  const startMs = performance.now();
  const { status, stdout, stderr } = spawnSync(join(root, "dist/bpe"), args, {
    cwd: home,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  console.error(`${((performance.now() - startMs) / 1000).toFixed(1)} s: bpe ${args.join(" ")}`);
  if (status !== 0) throw new Error(`bpe ${args[0]}: ${stderr}`);
  return stdout;
}

const evaluate = (fileOf: (language: (typeof languages)[0]) => string, ...more: string[]): Evaluation => {
  const tokenizers = sizes.flatMap((size) => kinds.map(([kind]) => `${kind}-${size}=${kind}/${size}`));
  const texts = languages.map((language) => `${language.name}=${fileOf(language)}`);
  return JSON.parse(run("eval", ...tokenizers, "--text", ...texts, "--json", "--numbers", "-q", ...more));
};

const percent = (share: number | null) => (share === null ? "–" : `${(100 * share).toFixed(1)} %`);
const count = (value: number) => value.toLocaleString("en-US");

function rowsOf<T>(
  of: readonly T[],
  rows: readonly (readonly [name: string, (one: T) => string | number])[],
) {
  return rows.map(([name, value]) => [name, ...of.map((one) => String(value(one)))]);
}

const head = (what: string) => [
  what,
  ...sizes.flatMap((size) => kinds.map(([kind]) => `${kind} ${size / 1000}k`)),
];

const byLanguage = (tokenizers: readonly TokenizerResult[], shown: (of: Measures) => string) =>
  languages.map(({ name }, i) => [name, ...tokenizers.map(({ texts }) => shown(texts[i]!))]);

rmSync(home, { recursive: true, force: true });
for (const directory of ["learned", "held-out", "dev", "declaration"]) {
  mkdirSync(join(home, directory), { recursive: true });
}
writeTexts(home, process.argv.slice(2));
for (const [name, ...args] of kinds) {
  run("train", ...args, "-n", sizes.join(","), "-s", "<|endoftext|>", "-o", name, "-q");
}
const heldOut = evaluate(heldOutFile);
const declared = evaluate(declarationFile, "--report", "report.html").tokenizers;
const records = sizes.flatMap((size) =>
  kinds.map(
    ([kind]) =>
      JSON.parse(readFileSync(join(home, kind, String(size), "training.json"), "utf8")) as TrainingRecord,
  ),
);

const parts = [
  `${count(languages.reduce((sum, { trainingBytes }) => sum + trainingBytes, 0))} bytes to learn from.`,
  table(head("bytes per token"), [
    ...byLanguage(heldOut.tokenizers, ({ bytesPerToken }) => bytesPerToken!.toFixed(2)),
    ...rowsOf(heldOut.tokenizers, [["all", ({ overall }) => overall.bytesPerToken!.toFixed(2)]]),
  ]),
  table(head("tokens of the declaration"), [
    ...byLanguage(declared, ({ tokens }) => count(tokens)),
    ...rowsOf(declared, [
      ["worst by best", ({ parity }) => parity!.costRatioByTokens!.toFixed(2)],
      ["worst", ({ parity }) => parity!.costliestTextByTokens],
      ["Gini", ({ parity }) => parity!.giniTokens.toFixed(3)],
    ]),
  ]),
  table(head("vocabulary, held-out texts"), [
    ...rowsOf(heldOut.tokenizers, [
      ["tokens that are not whole characters", ({ notUtf8InVocabulary }) => count(notUtf8InVocabulary)],
      ["tokens that mix characters", ({ mixedInVocabulary }) => count(mixedInVocabulary)],
      ["of these in the texts", ({ overall }) => count(overall.mixedTokens)],
      ["long numbers cut from the right", ({ overall }) => percent(overall.numbers!.fromRightShare)],
      ["from the left", ({ overall }) => percent(overall.numbers!.fromLeftShare)],
      ["tokens per group of digits", ({ overall }) => overall.numbers!.tokensPerDigitGroup!.toFixed(2)],
      ["vocabulary that the texts use", ({ overall }) => percent(overall.vocabularyUtilization)],
    ]),
    ...rowsOf(records, [
      ["intermediate tokens", ({ residueCount }) => count(residueCount ?? 0)],
      ["tokens that the corpus does not use", ({ neverReachedCount }) => count(neverReachedCount ?? 0)],
    ]),
  ]),
];
console.log(parts.join("\n\n"));
