import { formatCode } from "#format-code";
import { imageFile } from "#tokenizer";
import type { TokenizerFormat } from "./output-file.ts";

/** A format's description, available before its code is loaded. */
export type Entry = {
  readonly name: string;
  /**
   * The files that the format writes, for help. Undefined for a format that is only read, and for `image`, whose file
   * is written by separate code.
   */
  readonly written?: string;
  /** Whether the files of `written` are written only if `--format` names the format. */
  readonly isOnRequest?: boolean;
  /**
   * The file names of the format in a tokenizer's directory: each list is a set of files that belong together, and the
   * lists are alternatives.
   */
  readonly names: readonly (readonly string[])[];
  /**
   * Whether a file may have this format, judging by its first 4 KB, read as Latin-1. Of several formats that match, the
   * last one in `all` is taken. Always false for a format that is not recognized by content.
   */
  readonly matches: (head: string) => boolean;
  /** A file with this suffix has this format if its content shows no other kind of file. */
  readonly suffix?: string;
  readonly load: () => Promise<TokenizerFormat>;
};

/**
 * Whether a file is a Protocol Buffers message whose first field is a `SentencePiece`. This field has the tag 0A and a
 * length of one byte. In it are the text (the tag 0A, a length of one byte, the bytes) and then the score (the tag 15).
 */
const isSentencePiece = (head: string) =>
  head[0] === "\n" && head[1]! < "\x80" && head[2] === "\n" && head[4 + head.charCodeAt(3)] === "\x15";

/** The value of `--format` for an image: the tokenizer compiled into a single file (src/tokenizer/image.ts). */
export const image = "image";

/**
 * All formats. Their files are written in this order. A directory is searched in this order, too: first for the first
 * list of `names` of every format, then for the second lists.
 */
export const all: readonly Entry[] = [
  {
    name: "huggingface",
    written: "tokenizer.json and what transformers reads next to it",
    names: [["tokenizer.json"]],
    matches: (head) => /^\s*\{/.test(head),
    suffix: ".json",
    load: formatCode.huggingface,
  },
  {
    name: "gpt2",
    written: "vocab.json and merges.txt",
    names: [["vocab.json", "merges.txt"]],
    matches: () => false,
    load: formatCode.gpt2,
  },
  {
    name: "tiktoken",
    written: "a rank file",
    // Meta's rank files are named `tokenizer.model`.
    names: [["tokenizer.tiktoken"], ["tokenizer.model"]],
    matches: (head) => /^[A-Za-z0-9+/]+={0,2} \d+\r?(\n|$)/.test(head),
    suffix: ".tiktoken",
    load: formatCode.tiktoken,
  },
  {
    name: "sentencepiece",
    names: [["tokenizer.model"]],
    matches: isSentencePiece,
    load: formatCode.sentencepiece,
  },
  {
    name: "tekken",
    written: "tekken.json, for mistral-common",
    isOnRequest: true,
    names: [["tekken.json"]],
    matches: (head) => /^\s*\{/.test(head) && head.includes('"default_num_special_tokens"'),
    load: formatCode.tekken,
  },
  {
    name: "gguf",
    written: "tokenizer.gguf, for llama.cpp",
    isOnRequest: true,
    names: [],
    matches: () => false,
    load: formatCode.gguf,
  },
  {
    name: image,
    names: [],
    matches: (head) => head.startsWith(imageFile.magic),
    load: formatCode.image,
  },
];

/** The values of `--format`, except `image`. */
export const written = all.filter(({ written }) => written !== undefined).map(({ name }) => name);

/** The names of the formats with `isOnRequest`: "tekken and gguf". */
export const writtenOnRequest = all
  .flatMap(({ name, isOnRequest }) => (isOnRequest ? [name] : []))
  .join(" and ");

/** Describes all formats with `written`: "huggingface is tokenizer.json and …, gpt2 vocab.json and …". */
export const describeWritten = () =>
  `${all
    .flatMap(({ name, written }) => (written === undefined ? [] : { name, written }))
    .map(({ name, written }, i) => `${name}${i === 0 ? " is" : ""} ${written}`)
    .join(", ")} (${writtenOnRequest} only if named)`;

/** The usual file names of tokenizers, in all formats. */
export const usualNames = all.flatMap(({ names }) => names.flat());
