import { formats } from "#formats";
import { kinds, optionTables, sharedOptions } from "#options";

// The options of prune, truncate, convert and image. Help lists the options of a topic in the order of these tables.

const { details: _, ...outputDirectory } = sharedOptions.ofTraining.output;
const { output: outputFile, texts: textFiles } = sharedOptions.several;
const { workers } = sharedOptions.ofTraining;

export const pruneOptions = optionTables.of({
  texts: {
    ...textFiles,
    required: true,
    description: "texts that show how often each token occurs",
    details:
      "Anything that encode reads, or - for standard input. Every file after --text is a text, so name the tokenizer first.",
  },
  vocabSize: {
    name: "vocab-size",
    short: "n",
    kind: kinds.whole(1),
    required: true,
    topic: "tokens",
    description: "number of tokens to keep, special tokens included",
  },
  ...{ output: outputDirectory, ...sharedOptions.tokenizerSupplements, ...sharedOptions.reading },
  workers: { ...workers, default: "1 for small texts, else all cores" },
  ...sharedOptions.unattended,
});

export const truncateOptions = optionTables.of({
  vocabSize: {
    ...pruneOptions.vocabSize,
    kind: kinds.sizes,
    details: "Several sizes, separated by commas: -n 64k,32k writes DIR/65536 and DIR/32768.",
  },
  ...{ output: outputDirectory, ...sharedOptions.tokenizerSupplements, ...sharedOptions.unattended },
});

export const convertOptions = optionTables.of({
  formats: {
    name: "format",
    kind: kinds.words(formats.written),
    topic: "output",
    description: "which kinds of files to write",
    default: `all that can store the tokenizer, except ${formats.writtenOnRequest}`,
  },
  copy: {
    name: "copy",
    kind: kinds.flag,
    topic: "output",
    description: "copy the tokenizer's own files",
    details:
      "Files next to them that transformers reads are copied, too. It is an error if the files do not contain the whole tokenizer.",
    excludes: [{ other: "format", why: "a copy has the formats of the tokenizer" }],
  },
  ...{ output: outputDirectory, ...sharedOptions.tokenizerSupplements, ...sharedOptions.unattended },
});

export const imageOptions = optionTables.of({
  output: { ...outputFile, description: "where the image goes" },
  ...{ ...sharedOptions.tokenizerSupplements, ...sharedOptions.unattended },
});
