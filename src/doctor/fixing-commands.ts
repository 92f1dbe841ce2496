import { shell } from "#runtime";

// The command lines that findings propose.

/** Returns the command that makes a smaller vocabulary, without unreachable tokens. */
export const pruneCommand = (path: string, size: number) =>
  shell.line(["bpe", "prune", path, "--text", "corpus.txt", "-n", String(size), "-o", "smaller"]);

/** Returns the command that adds special tokens. */
export const extendCommand = (path: string, specialTokens: readonly string[]) =>
  shell.line([
    ...["bpe", "train", "corpus.txt", "--extend", path],
    ...specialTokens.flatMap((text) => ["-s", text]),
    ...["-n", `+${specialTokens.length}`, "-o", "extended"],
  ]);

export const compareCommand = (path: string) => shell.line(["bpe", "diff", path, "original/tokenizer.json"]);

/** Returns the command that writes a complete set of files from the tokenizer at `path`. */
export const convertCommand = (path: string) => shell.line(["bpe", "convert", path, "-o", "converted"]);

export const wholeCharactersCommand = shell.line(
  "bpe train corpus.txt -n 32k --whole-characters -o tokenizer".split(" "),
);
