import { closeSync, readSync } from "node:fs";
import { UserError } from "../../errors.ts";
import { openRegularFile } from "../../runtime/file-calls.ts";
import { reasonOf } from "../../runtime/system-error.ts";

/** What a tokenizer's file is by its first bytes. Its name says little: Meta's file of ranks is called `tokenizer.model`. */
export type FileKind = "ranks" | "tekken" | "json" | "other";

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

/** Files that hold a tokenizer, but none that can be loaded. */
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
  { isIt: beginsWith("\x1f\x8b"), what: "packed with gzip", hint: "unpack it first: gzip -d" },
  { isIt: beginsWith("\x28\xb5\x2f\xfd"), what: "packed with zstd", hint: "unpack it first: zstd -d" },
  { isIt: beginsWith("PK\x03\x04"), what: "a zip archive", hint: "unpack it first: unzip" },
];

function beginsWith(magic: string): (head: Buffer) => boolean {
  return (head) => head.toString("latin1", 0, magic.length) === magic;
}

/**
 * A message of Protocol Buffers that begins with a piece: field 1 (0A) and its length, in it field 1 (0A), the length of
 * the text, the text, and field 2, the score (15).
 */
function isSentencePiece(head: Buffer): boolean {
  return head[0] === 0x0a && head[1]! < 0x80 && head[2] === 0x0a && head[4 + head[3]!] === 0x15;
}

function readHead(path: string): Buffer {
  const head = Buffer.alloc(headBytes);
  const fd = openRegularFile(path);
  try {
    return head.subarray(0, readSync(fd, head, 0, headBytes, 0));
  } catch (error) {
    throw new UserError(`"${path}" cannot be read: ${reasonOf(error)}`);
  } finally {
    closeSync(fd);
  }
}
