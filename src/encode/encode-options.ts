import { idWriters } from "#ids";
import { kinds, optionTables, sharedOptions } from "#options";
import { asOption, phrase } from "#runtime";

// The options of encode, tokens and decode. Help lists the options of a topic in the order of these tables.

const { tokenizer, output: outputFile, ranges, json, workers, memoryLimit } = sharedOptions.several;
const { logFile } = sharedOptions.unattended;

/** Options about files of ids. */
export const idFiles = optionTables.of({
  idsFormat: {
    name: "ids-format",
    kind: kinds.word(idWriters.formatNames, "NAME"),
    topic: "output",
    description: "format of the files",
    details:
      "parquet, megatron, olmo and datatrove keep the documents; npy, bin and llmc are ids alone. part is for bpe ids join.",
    default: "by the ending of --output",
  },
  shardSize: {
    name: "shard-size",
    kind: kinds.whole(1),
    topic: "output",
    description: "write numbered files of N ids or slightly more",
    details:
      "A shard closes at the end of the document that brings it to N ids. NAME.json lists the finished shards; repeating the command resumes after them.",
  },
  ifChanged: {
    name: "if-changed",
    kind: kinds.flag,
    topic: "nightly",
    rare: true,
    needs: {
      other: "shard-size",
      hint: phrase`write shards, e.g. with ${asOption("shard-size", "100M")}: without shards, bpe does not record which inputs the ids were made from`,
    },
    description: "replace shards of other inputs or options, and damaged ones",
    details:
      "If nothing changed, nothing is done. Inputs are compared by path, size and time, shards by their checksums.",
  },
  documentEnd: {
    name: "document-end",
    kind: kinds.text(),
    topic: "output",
    rare: true,
    description: "special token that ends documents in plain text",
    details:
      "A record is one document, and so is a file of plain text without it. (Training counts only documents with text, and special tokens end documents within a record, too.)",
    default: "<|endoftext|> or the like, if the tokenizer has it",
  },
  keepField: {
    name: "keep-field",
    kind: kinds.keptFields,
    topic: "output",
    rare: true,
    excludes: [{ other: "input-format text", why: "plain text has no fields" }],
    description: "fields of records to write as columns of parquet",
    details:
      "The first value decides the type of a column, unless NAME:text, :int, :double or :bool states it. Objects and lists are kept as JSON. A missing field is an error.",
    sample: "id,url",
  },
});

export const encodeOptions = optionTables.of({
  tokenizer,
  output: {
    ...outputFile,
    description: "ids as .npy, .bin, or files of another format",
    details: "Without it, decimal ids go to stdout, one line for each input or record.",
    default: "stdout, decimal",
  },
  ...idFiles,
  ...{ ranges, idType: sharedOptions.idType },
  appendToken: {
    name: "append-token",
    kind: kinds.text(),
    topic: "output",
    description: "special token to add after each input or record",
  },
  ...{
    specialTokensAsText: sharedOptions.specialTokensAsText,
    ...sharedOptions.tokenizerSupplements,
    ...sharedOptions.reading,
  },
  ...{ workers, memoryLimit, ...sharedOptions.unattended },
});

export const tokensOptions = {
  ...{
    tokenizer,
    json,
    specialTokensAsText: sharedOptions.specialTokensAsText,
    ...sharedOptions.tokenizerSupplements,
    ...sharedOptions.reading,
  },
  ...{ workers, memoryLimit, logFile, ...sharedOptions.common },
};

export const decodeOptions = optionTables.of({
  tokenizer,
  output: { ...outputFile, sample: "text.txt", description: "where the text goes" },
  idType: {
    ...sharedOptions.idType,
    topic: "input",
    description: "type of the ids in a .bin file",
    default: "as encode writes it",
  },
  ...{ ...sharedOptions.tokenizerSupplements, ...sharedOptions.unattended },
});
