import { shellLine } from "#runtime";

// The command lines that fix what was found.

/** A smaller vocabulary, without the tokens that nothing reaches. */
export const pruneCommand = (path: string, size: number) =>
  shellLine(["bpe", "prune", path, "--text", "corpus.txt", "-n", String(size), "-o", "smaller"]);

/** The tokenizer with more special tokens. */
export const extendCommand = (path: string, specialTokens: readonly string[]) =>
  shellLine([
    ...["bpe", "train", "corpus.txt", "--extend", path],
    ...specialTokens.flatMap((text) => ["-s", text]),
    ...["-n", `+${specialTokens.length}`, "-o", "extended"],
  ]);

export const compareCommand = (path: string) => shellLine(["bpe", "diff", path, "original/tokenizer.json"]);

/** All files, from this one. */
export const convertCommand = (path: string) => shellLine(["bpe", "convert", path, "-o", "converted"]);

export const wholeCharactersCommand = shellLine(
  "bpe train corpus.txt -n 32k --whole-characters -o tokenizer".split(" "),
);
