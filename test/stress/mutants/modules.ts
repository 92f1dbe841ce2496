/** A module of the sources, and the tests that must detect its mutants. */
export type Module = {
  /** The directory below src/, unless `sources` is given. */
  readonly name: string;
  readonly sources?: RegExp;
  /** Tests that run the sources. The kernel has none, because it must be built first. */
  readonly tests?: readonly string[];
  /** Tests that run a new build. Only mutants that pass all other tests are built. */
  readonly executableTests?: readonly string[];
};

const unit = (...names: readonly string[]) => names.map((name) => `test/unit/${name}`);
const cli = (...names: readonly string[]) => names.map((name) => `test/cli/${name}.test.ts`);

/** Returns the path at which a source file's own test would be. */
export const ownTestOf = (file: string) => file.replace(/^src\/(.*)\.ts$/, "test/unit/$1.test.ts");

export const modules: readonly Module[] = [
  { name: "runtime", tests: unit("runtime", "words"), executableTests: cli("memory") },
  { name: "bytes", tests: unit("bytes", "corpus", "words") },
  { name: "pattern", tests: unit("pattern") },
  { name: "text", tests: unit("text", "tokenizer", "words") },
  {
    name: "corpus",
    tests: unit("corpus", "words", "training/train.test.ts"),
    executableTests: cli("plan-command", "records", "piped-inputs"),
  },
  { name: "words", tests: unit("words", "training/train.test.ts"), executableTests: cli("counts") },
  { name: "merge", tests: unit("merge") },
  {
    name: "tokenizer",
    tests: unit("tokenizer"),
    executableTests: [
      ...unit("tokenizer", "formats/readers.test.ts"),
      ...cli("plan-command", "train-command"),
    ],
  },
  {
    name: "formats",
    tests: unit("formats", "tokenizer"),
    executableTests: [...unit("formats/every-format.test.ts"), ...cli("record")],
  },
  { name: "ids", tests: unit("ids", "encode"), executableTests: cli("ids-command", "record") },
  {
    name: "store",
    tests: unit("store"),
    executableTests: cli("paths", "output-names", "lock-outputs", "cache"),
  },
  { name: "jobs", tests: unit("jobs", "words"), executableTests: cli("train-command") },
  {
    name: "options",
    tests: [...unit("options", "training/added-tokens.test.ts"), ...cli("training-options")],
    executableTests: cli("eval-command", "languages", "weights"),
  },
  {
    name: "evaluation",
    tests: unit("evaluation", "evaluate"),
    executableTests: cli("eval-command", "diff-command"),
  },
  {
    name: "training",
    tests: unit("training", "runtime/errors.test.ts", "words"),
    executableTests: [...cli("train-command", "record", "records"), ...unit("formats/readers.test.ts")],
  },
  {
    name: "encoding",
    tests: unit("encode", "tokenizer/streaming.test.ts"),
    executableTests: cli("records"),
  },
  { name: "pages", tests: ["test/pages"], executableTests: cli("report") },
  { name: "playground", tests: ["test/playground"] },
  ...["terminal", "reports", "train", "edit", "encode", "evaluate", "main"].map((name) => ({
    name,
    tests: [...unit("main"), ...cli("progress")],
    executableTests: ["test/cli"],
  })),
  { name: "doctor", tests: unit("doctor"), executableTests: cli("doctor", "verify") },
  { name: "library", tests: unit("library") },
  {
    name: "kernel",
    executableTests: unit("kernel", "words", "merge", "tokenizer", "text", "pattern"),
  },
];
