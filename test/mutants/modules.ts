/** Which tests look after which sources. */
export type Module = {
  /** The directory below src/, unless `sources` says more. */
  readonly name: string;
  readonly sources?: RegExp;
  /** Tests that run the sources. The kernel has none: its files have to be built. */
  readonly tests?: readonly string[];
  /** Tests that run what is built, which is built anew for them: only for what the others let pass. */
  readonly executableTests?: readonly string[];
};

export const modules: readonly Module[] = [
  {
    name: "pipeline",
    tests: ["test/pipeline", "test/errors.test.ts", "test/count", "test/tokenizer/streaming.test.ts"],
    executableTests: [
      "test/cli/train-command.test.ts",
      "test/formats/readers.test.ts",
      "test/cli/record.test.ts",
      "test/cli/records.test.ts",
    ],
  },
  { name: "bytes", tests: ["test/bytes", "test/corpus", "test/count"] },
  { name: "merge", tests: ["test/merge"] },
  { name: "words", tests: ["test/words", "test/count"], executableTests: ["test/cli/counts.test.ts"] },
  {
    name: "count",
    tests: ["test/count", "test/pipeline/train.test.ts"],
    executableTests: ["test/cli/counts.test.ts"],
  },
  {
    name: "vocabulary",
    tests: ["test/vocabulary"],
    executableTests: ["test/formats/readers.test.ts", "test/cli/train-command.test.ts"],
  },
  {
    name: "store",
    tests: ["test/store"],
    executableTests: [
      "test/cli/output-names.test.ts",
      "test/cli/lock-outputs.test.ts",
      "test/cli/cache.test.ts",
    ],
  },
  { name: "runtime", tests: ["test/runtime", "test/count"], executableTests: ["test/cli/memory.test.ts"] },
  {
    name: "cli",
    tests: ["test/cli/arguments.test.ts", "test/cli/progress.test.ts"],
    executableTests: ["test/cli"],
  },
  {
    name: "corpus",
    tests: ["test/corpus", "test/count", "test/pipeline/train.test.ts"],
    executableTests: [
      "test/cli/plan-command.test.ts",
      "test/cli/records.test.ts",
      "test/cli/piped-inputs.test.ts",
    ],
  },
  {
    name: "options",
    tests: ["test/options", "test/cli/arguments.test.ts", "test/pipeline/added-tokens.test.ts"],
    executableTests: [
      "test/cli/eval-command.test.ts",
      "test/cli/languages.test.ts",
      "test/cli/weights.test.ts",
    ],
  },
  { name: "pattern", tests: ["test/pattern"] },
  {
    name: "tokenizer",
    tests: ["test/tokenizer"],
    executableTests: ["test/tokenizer", "test/cli/plan-command.test.ts"],
  },
  { name: "text", tests: ["test/text", "test/tokenizer", "test/count"] },
  {
    name: "formats",
    tests: ["test/formats", "test/vocabulary", "test/pipeline/id-files.test.ts"],
    executableTests: ["test/formats/every-format.test.ts", "test/cli/record.test.ts"],
  },
  { name: "superwords", tests: ["test/superwords"] },
  {
    name: "evaluation",
    tests: ["test/evaluation", "test/pipeline/evaluate.test.ts"],
    executableTests: ["test/cli/eval-command.test.ts", "test/cli/diff-command.test.ts"],
  },
  {
    name: "pages",
    tests: ["test/pages"],
    executableTests: ["test/cli/report.test.ts"],
  },
  { name: "playground", tests: ["test/playground"] },
  { name: "native", sources: /^native\/\w+\.c$/, tests: ["test/native/core.test.ts"] },
  {
    name: "kernel",
    executableTests: [
      "test/kernel",
      "test/words",
      "test/merge",
      "test/tokenizer",
      "test/text",
      "test/pattern",
    ],
  },
];
