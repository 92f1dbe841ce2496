import { asOption, type Message, phrase } from "#runtime";

/**
 * Descriptions of options in the library and Python that differ from those of the command line, by the names of the
 * options. Only `npm run suite options` reads them, so they are not in the table of options, which is in every program.
 */
export const inCode: Readonly<Record<string, Message>> = {
  "vocab-size":
    'The size of the vocabulary: 256 bytes, special tokens and merges. Several sizes, as in [16_384, 32_768], are made by one run: each is written into a directory of the output that is named by its size. When a tokenizer is extended, "+8000" is the number of new tokens.',
  "special-token":
    "Tokens that are never merged. A document ends wherever one occurs. The text of a special token is never counted, and it has an id of its own. Where several match, the longest wins.",
  pattern:
    "How text is split: a name (cl100k, …; bpe help docs/size-and-pattern.md) or a regular expression. No token crosses a split.",
  "seed-token": phrase`Texts that the vocabulary must have as tokens. They are ordinary tokens, used only where the pattern does not split them. Their merges come first, whatever their counts, and later merges build on them. With ${asOption("extend")}, their merges come after those of the base, and are made of its tokens. A text that the pattern splits wherever it occurs is an error.`,
  extend:
    "A tokenizer to add tokens to. Training continues after its merges. Its tokens keep their ids, and new tokens get the ids after them. Without a size and a corpus, only the given special tokens, seed tokens and renames change it. Pattern and formats stay; documents also end at the given special tokens.",
  rename: "New texts for special tokens of the base, keyed by the old texts; their ids stay.",
  language:
    "Files by language, instead of files. Each merge is then learned from the language whose text has the most tokens. If all languages have dev texts, these are compared instead (bpe help docs/clean-and-fair.md). If several languages have equally many tokens, the first of them wins.",
  "language-window":
    "In any `size` merges, a language gets at most `alpha` times its share: e.g. in 100 merges, at most 2.0 times. A language above its limit waits, unless all are above theirs.",
  weight:
    'How often the words of some inputs count: the path of an input, a folder above it, or a glob, and its weight, as in {"corpus/en": 0.5, "*.hi.txt": 3}. The last weight that matches an input applies; the default is 1. A weight is a number from 0 to 1,000,000 with at most six decimal places.',
  output:
    "The directory of the tokenizer, written as a whole or not at all. It may be absent or empty, or contain the result of an earlier training, which is replaced. If it is left out, the tokenizer is saved by its method save.",
};
