import { fstatSync, readFileSync, readSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { parseJson } from "../bytes/schema.ts";
import { UserError } from "../errors.ts";
import { isDirectory, isFile, withRegularFile } from "../runtime/system-error.ts";
import type { TokenizerParts } from "../tokenizer/tokenizer-parts.ts";
import { sha256Of } from "./output-file.ts";

/** A tokenizer in a file, or in GPT-2's pair, which is named by its vocabulary. */
export type TokenizerFile = { readonly kind: "json" | "gpt2" | "ranks" | "tekken"; readonly path: string };

/** The tokenizers that a path names: of a directory all that are in it, the one that is loaded first. */
export const tokenizerFilesAt = (path: string): TokenizerFile[] =>
  isDirectory(path) ? tokenizersIn(path).map(fileAt) : [fileAt(path)];

/** Where the tokenizers of a directory are, in the order in which they are looked for. */
export function tokenizersIn(directory: string): string[] {
  const inside = (name: string) => join(directory, name);
  const names = ["tokenizer.json", "vocab.json", "tokenizer.tiktoken", "tekken.json", "tokenizer.model"];
  return names
    .filter((name) => isFile(inside(name)) && (name !== "vocab.json" || isFile(inside("merges.txt"))))
    .map(inside);
}

/** Both files, when the path of one is known. */
export function partnerOf(path: string): { vocabPath: string; mergesPath: string } {
  const name = basename(path);
  const beside = (other: string) => join(dirname(path), other);
  if (name.endsWith("vocab.json")) {
    return { vocabPath: path, mergesPath: beside(name.replace(/vocab\.json$/, "merges.txt")) };
  }
  return { vocabPath: beside(name.replace(/merges\.txt$/, "vocab.json")), mergesPath: path };
}

/** What `transformers` reads beside the tokenizers of a directory. */
export const namesBeside = (directory: string): string[] =>
  [
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "chat_template.jinja",
    "chat_template.json",
  ].filter((name) => isFile(join(directory, name)));

/** A file of a base tokenizer, read once: what it is, and the name that it has in a tokenizer directory. */
export type BaseFile = {
  readonly kind: "tokenizer.json" | "vocab.json" | "merges.txt" | "ranks" | "beside";
  readonly name: string;
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly sha256: string;
};

/**
 * The files of a tokenizer that can be extended: those of all kinds that a directory holds, and what is beside them; or the
 * one file, or pair, that is named. What is beside them says nothing of learned tokens, so it stays as it is.
 */
export function readBaseFiles(path: string): BaseFile[] {
  if (!isDirectory(path)) return filesOfFile(fileAt(path));
  const places = tokenizersIn(path);
  const usual = places.filter((place) => !["tekken.json", "tokenizer.model"].includes(basename(place)));
  if (usual.length === 0) return filesOfFile(fileAt(places[0]!));
  const beside = namesBeside(path).map((name) => readFile("beside", join(path, name)));
  return [...usual.map(fileAt).flatMap(filesOfFile), ...beside];
}

/** The files, each of a kind of its own, that say what another one of them says; the first is what a directory is loaded from. */
export const kindsBeside = (files: readonly BaseFile[]): readonly BaseFile[] =>
  files.filter(({ kind }) => kind !== "beside" && kind !== "merges.txt").slice(1);

function filesOfFile({ kind, path }: TokenizerFile): BaseFile[] {
  switch (kind) {
    case "gpt2": {
      const { vocabPath, mergesPath } = partnerOf(path);
      return [readFile("vocab.json", vocabPath), readFile("merges.txt", mergesPath)];
    }
    case "ranks":
      return [readFile("ranks", path)];
    case "json":
      return [readFile("tokenizer.json", path)];
    case "tekken":
      throw new UserError(`"${path}": a tekken.json cannot be extended: its sizes are fixed in it`, {
        hint: "name the same tokenizer as a tokenizer.json",
      });
  }
}

const names = {
  "tokenizer.json": "tokenizer.json",
  "vocab.json": "vocab.json",
  "merges.txt": "merges.txt",
  ranks: "tokenizer.tiktoken",
};

function readFile(kind: BaseFile["kind"], path: string): BaseFile {
  const bytes = readBytes(path);
  const name = kind === "beside" ? basename(path) : names[kind];
  return { kind, name, path: join(dirname(path), basename(path)), bytes, sha256: sha256Of([bytes]) };
}

/** A UserError if two files of a directory have other ids for bytes, or other merges: a change is made to all of them. */
export function checkSameTokenizer(base: TokenizerParts, other: TokenizerParts): void {
  const sameNumbers = (a: Int32Array, b: Int32Array) => Buffer.compare(bytesOf(a), bytesOf(b)) === 0;
  const [a, b] = [base.model, other.model];
  const isSame =
    sameNumbers(a.byteIds, b.byteIds) &&
    sameNumbers(a.merges.left, b.merges.left) &&
    sameNumbers(a.merges.right, b.merges.right) &&
    sameNumbers(a.merges.merged, b.merges.merged);
  if (isSame) return;
  throw new UserError(
    `"${base.description.path}" and "${other.description.path}" are different tokenizers in one directory`,
    { hint: "name the file of the one that is meant" },
  );
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Int32Array) =>
  new Uint8Array(buffer, byteOffset, byteLength);

const headBytes = 4096;

/** GPT-2's pair is known by its names, every other file by its content: Meta's file of ranks is called `tokenizer.model`. */
export function fileAt(path: string): TokenizerFile {
  if (path.endsWith("vocab.json") || path.endsWith("merges.txt")) return { kind: "gpt2", path };
  const head = readHead(path);
  const text = head.toString("latin1");
  if (/^[A-Za-z0-9+/]+={0,2} \d+\r?(\n|$)/.test(text)) return { kind: "ranks", path };
  if (/^\s*\{/.test(text)) {
    return { kind: text.includes('"default_num_special_tokens"') ? "tekken" : "json", path };
  }
  for (const { matches, what, hint } of foreignKinds) {
    if (matches(head)) throw new UserError(`"${path}" is ${what}`, { hint });
  }
  if (path.endsWith(".json")) return { kind: "json", path };
  if (path.endsWith(".tiktoken")) return { kind: "ranks", path };
  throw new UserError(`"${path}" is no kind of tokenizer that is known`, {
    hint: "known are tokenizer.json, vocab.json with merges.txt, tiktoken's files of ranks and tekken.json",
  });
}

/** Files of tokenizers that cannot be loaded. */
const foreignKinds: readonly { matches: (head: Buffer) => boolean; what: string; hint: string }[] = [
  {
    matches: isSentencePiece,
    what: "a SentencePiece model, not byte-level BPE",
    hint: "its ids are made by the package sentencepiece",
  },
  {
    matches: beginsWith("GGUF"),
    what: "a GGUF model",
    hint: "name the tokenizer.json of the model that it was converted from",
  },
  {
    matches: beginsWith("minbpe v1"),
    what: "a model of minbpe",
    hint: "tiktoken's and HF's files can be loaded",
  },
  {
    matches: beginsWith("#bpe-boundless\t"),
    what: "a tokenizer of boundless superwords, which bpe learned once and reads no more",
    hint: "train anew with --superwords-from: tokenizer.json then holds the superwords, for HF, too",
  },
  { matches: beginsWith("\x1f\x8b"), what: "packed with gzip", hint: "unpack it first: gzip -d" },
  { matches: beginsWith("\x28\xb5\x2f\xfd"), what: "packed with zstd", hint: "unpack it first: zstd -d" },
  { matches: beginsWith("PK\x03\x04"), what: "a zip archive", hint: "unpack it first: unzip" },
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

/** The runtime's longest text has twice as many characters, and no tokenizer comes near it. */
const sizeBytesMax = 2 ** 30;

export const readText = (path: string): string => readBytes(path).toString("utf8");

export const readBytes = (path: string): Buffer =>
  withRegularFile(path, (fd) => {
    const { size } = fstatSync(fd);
    if (size <= sizeBytesMax) return readFileSync(fd);
    throw new UserError(`"${path}" has ${size} bytes, and no file of a tokenizer more than ${sizeBytesMax}`);
  });

export const readJson = (path: string): unknown => parseJson(readText(path), path);
