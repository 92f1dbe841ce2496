import { usageError } from "../errors.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import type { TypedOptions } from "./option-values.ts";
import { counted } from "./units.ts";

const forTransformers = "what transformers reads is not written";

/** Options that have no meaning with `--superwords boundless`, and why. */
const refused = {
  pattern: "it has a pretokenizer of its own",
  compat: "it has rules of its own",
  counts: "it reads the corpus, and word counts do not say what follows what",
  "save-counts": "its pretokens are those of no --pattern",
  "superwords-from": "it is another form of superwords",
  "superword-pattern": "it is another form of superwords",
  bos: forTransformers,
  eos: forTransformers,
  pad: forTransformers,
  unk: forTransformers,
  "add-bos": forTransformers,
  "chat-template": forTransformers,
  "model-max-length": forTransformers,
  class: forTransformers,
  "model-card": forTransformers,
} as const;

/** Whether `--superwords boundless` is given; a usage error for options that do not go with it. */
export function readSuperwords(options: TypedOptions): boolean {
  if (!options.has("superwords")) return false;
  for (const [name, reason] of Object.entries(refused)) {
    if (options.has(name)) throw usageError(`--superwords boundless: ${reason}`, `leave --${name} out`);
  }
  if (options.text("vocab-size")!.includes(",")) {
    throw usageError(
      "--superwords boundless: a smaller vocabulary has other supermerges, so one run makes one size",
      "give one --vocab-size, and start a run for each",
    );
  }
  return true;
}

/** A usage error if a format cannot hold what is learned. */
export function checkFormats(formats: readonly string[] | undefined, hasSupermerges: boolean): void {
  if (!hasSupermerges) {
    if (!formats?.includes("boundless")) return;
    throw usageError("--format boundless is for supermerges", "add --superwords boundless, or leave it out");
  }
  const other = formats?.find((name) => name !== "boundless");
  if (other === undefined) return;
  throw usageError(
    `--format ${other}: it has no place for supermerges, which join whole pretokens`,
    "leave --format out: operations.txt is written, for bpe encode and the library",
  );
}

/** What the summary says of supermerges, and of who can apply them. */
export function supermergeRows({ operations }: Vocabulary): [string, string][] {
  if (operations === undefined) return [];
  const superCount = operations.areSuper.reduce((sum, isSuper) => sum + isSuper, 0);
  const what = counted(superCount, "supermerge");
  return [
    ["superwords", `${what}, for bpe encode and the library: tokenizer.json and the like cannot hold them`],
  ];
}
