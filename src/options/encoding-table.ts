import { idFormatNames } from "../formats/id-writers.ts";
import { flag, keptFields, text, whole, word } from "./kinds.ts";
import { tableOf } from "./option.ts";

/** The options of `bpe encode` that say into which files ids go. */
export const encodingOptions = tableOf({
  idsFormat: {
    name: "ids-format",
    kind: word(idFormatNames, "NAME"),
    topic: "output",
    description: "whose files to write",
    details:
      "parquet, megatron, olmo and datatrove keep the documents; npy, bin and llmc are ids alone. part is for bpe ids join.",
    default: "by the ending of --output",
  },
  shardSize: {
    name: "shard-size",
    kind: whole(1),
    topic: "output",
    description: "write numbered files of N ids, each a little more",
    details:
      "Each ends with the document in which it gets N ids. NAME.json says which are there; the same command goes on behind them.",
  },
  ifChanged: {
    name: "if-changed",
    kind: flag,
    topic: "nightly",
    rare: true,
    needs: { other: "shard-size", hint: "NAME.json says of what the files are" },
    description: "replace shards of other inputs or options",
    details: "If nothing changed, nothing is done. Inputs are compared by path, size and time.",
  },
  documentEnd: {
    name: "document-end",
    kind: text(),
    topic: "output",
    rare: true,
    description: "special token that ends documents in plain text",
    details:
      "A record is one document, and so is a file of plain text without it. (Training counts only documents with text, and special tokens in a record end them, too.)",
    default: "<|endoftext|> or the like, if the tokenizer has it",
  },
  keepField: {
    name: "keep-field",
    kind: keptFields,
    topic: "output",
    rare: true,
    description: "fields of records that parquet has as columns",
    details:
      "The first value decides what a column holds, or NAME:text, :int, :double or :bool says it. Objects and lists are kept as JSON. A missing field is an error.",
    sample: "id,url",
  },
});
