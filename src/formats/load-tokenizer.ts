import { readSync } from "node:fs";
import { join } from "node:path";
import { exitCode, UserError } from "../errors.ts";
import { isFile, statOf, withRegularFile } from "../runtime/named-files.ts";
import type { LoadOptions, TokenizerParts } from "../tokenizer/tokenizer-parts.ts";
import { loadGpt2Files, partnerOf } from "./gpt2.ts";
import { idMergesPath } from "./id-merges.ts";
import { readBytes } from "./read-file.ts";
import { recordedSizes } from "./read-training-record.ts";
import { loadTekkenFile } from "./tekken.ts";
import { loadTiktokenFile } from "./tiktoken.ts";
import { tokenizerOfJson } from "./tokenizer-json.ts";
import { recordName } from "./training-json.ts";

/** Loads a tokenizer from a file, or from a directory, where the first kind of file counts that is there. */
export function loadTokenizerParts(path: string, options: LoadOptions = {}): TokenizerParts {
  const stats = statOf(path);
  if (stats === undefined) {
    throw new UserError(`"${path}": no such file or directory`, {
      hint: "name a tokenizer directory, a tokenizer.json, a vocab.json, a file of ranks or a tekken.json",
    });
  }
  if (idMergesPath(path) !== undefined) {
    throw new UserError(`"${path}" is a tokenizer of ids, not of text`, {
      hint: "bpe encode --input-format ids, bpe decode and bpe inspect take it",
    });
  }
  if (stats.isDirectory()) return loadDirectory(path, options);
  if (!stats.isFile()) throw new UserError(`"${path}" is no regular file`);
  return loadFile(path, options);
}

function loadDirectory(path: string, options: LoadOptions): TokenizerParts {
  const inside = (name: string) => join(path, name);
  if (isFile(inside("tokenizer.json"))) return loadJson(inside("tokenizer.json"), options);
  if (isFile(inside("vocab.json")) && isFile(inside("merges.txt"))) {
    return loadGpt2Files(inside("vocab.json"), inside("merges.txt"), options);
  }
  const other = ["tokenizer.tiktoken", "tekken.json", "tokenizer.model", "operations.txt"]
    .map(inside)
    .find(isFile);
  if (other !== undefined) return loadFile(other, options);
  const sizes = recordedSizes(inside(recordName));
  if (sizes !== undefined) {
    throw new UserError(`"${path}" holds tokenizers of ${sizes.length} sizes: ${sizes.join(", ")}`, {
      hint: `name one of them, e.g. "${inside(String(sizes.at(-1)))}"`,
    });
  }
  throw new UserError(`"${path}" holds no tokenizer`, {
    hint: "a tokenizer is tokenizer.json, vocab.json with merges.txt, tokenizer.tiktoken, tekken.json or tokenizer.model; name the file if it is called otherwise",
  });
}

/** GPT-2's pair of files is known by its names, every other file by its content. */
function loadFile(path: string, options: LoadOptions): TokenizerParts {
  if (path.endsWith("vocab.json") || path.endsWith("merges.txt")) {
    const { vocabPath, mergesPath } = partnerOf(path);
    return loadGpt2Files(vocabPath, mergesPath, options);
  }
  const kind = fileKind(path);
  if (kind === "tekken") return loadTekken(path, options);
  if (kind === "json" || (kind === "other" && path.endsWith(".json"))) return loadJson(path, options);
  if (kind === "ranks" || path.endsWith(".tiktoken")) return loadTiktokenFile(path, options);
  throw new UserError(`"${path}" is no kind of tokenizer that is known`, {
    hint: "known are tokenizer.json, vocab.json with merges.txt, tiktoken's files of ranks and tekken.json",
  });
}

function loadJson(path: string, options: LoadOptions): TokenizerParts {
  refuseOptions("tokenizer.json", options);
  return tokenizerOfJson(readBytes(path), path);
}

function loadTekken(path: string, options: LoadOptions): TokenizerParts {
  refuseOptions("tekken.json", options);
  return loadTekkenFile(path);
}

/** Refuses options for files that hold their pattern and their special tokens. */
function refuseOptions(name: string, { pattern, specialTokens = [] }: LoadOptions): void {
  if (pattern === undefined && specialTokens.length === 0) return;
  const given = pattern !== undefined ? "--pattern" : "--special-token";
  throw new UserError(`${given} is in ${name} itself and cannot be given beside it`, {
    hint: "leave it out, or name the vocab.json or the file of ranks",
    exitCode: exitCode.usage,
  });
}

/** What a tokenizer's file is by its first bytes. The name says little: Meta's file of ranks is called `tokenizer.model`. */
type FileKind = "ranks" | "tekken" | "json" | "other";

const headBytes = 4096;

export function fileKind(path: string): FileKind {
  const head = readHead(path);
  const text = head.toString("latin1");
  if (/^[A-Za-z0-9+/]+={0,2} \d+\r?(\n|$)/.test(text)) return "ranks";
  if (/^\s*\{/.test(text)) return text.includes('"default_num_special_tokens"') ? "tekken" : "json";
  for (const { isIt, what, hint } of foreignKinds) {
    if (isIt(head)) throw new UserError(`"${path}" is ${what}`, { hint });
  }
  return "other";
}

/** Files of tokenizers that cannot be loaded. */
const foreignKinds: readonly { isIt: (head: Buffer) => boolean; what: string; hint: string }[] = [
  {
    isIt: isSentencePiece,
    what: "a SentencePiece model, not byte-level BPE",
    hint: "its ids are made by the package sentencepiece",
  },
  {
    isIt: beginsWith("GGUF"),
    what: "a GGUF model",
    hint: "name the tokenizer.json of the model that it was converted from",
  },
  {
    isIt: beginsWith("minbpe v1"),
    what: "a model of minbpe",
    hint: "tiktoken's and HF's files can be loaded",
  },
  {
    isIt: beginsWith("#bpe-boundless\t"),
    what: "a tokenizer of boundless superwords, which bpe learned once and reads no more",
    hint: "train anew with --superwords-from: tokenizer.json then holds the superwords, for HF, too",
  },
  { isIt: beginsWith("\x1f\x8b"), what: "packed with gzip", hint: "unpack it first: gzip -d" },
  { isIt: beginsWith("\x28\xb5\x2f\xfd"), what: "packed with zstd", hint: "unpack it first: zstd -d" },
  { isIt: beginsWith("PK\x03\x04"), what: "a zip archive", hint: "unpack it first: unzip" },
];

function beginsWith(magic: string): (head: Buffer) => boolean {
  return (head) => head.toString("latin1", 0, magic.length) === magic;
}

/**
 * A message of Protocol Buffers that begins with a `SentencePiece`: field 1 (0A) and its length, in it field 1 (0A), the length
 * of the text, the text, and field 2, the score (15).
 */
function isSentencePiece(head: Buffer): boolean {
  return head[0] === 0x0a && head[1]! < 0x80 && head[2] === 0x0a && head[4 + head[3]!] === 0x15;
}

function readHead(path: string): Buffer {
  const head = Buffer.alloc(headBytes);
  return withRegularFile(path, (fd) => head.subarray(0, readSync(fd, head, 0, headBytes, 0)));
}
