import { statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { UserError } from "../errors.ts";
import { createSha256 } from "../runtime/host.ts";
import { isFile } from "../runtime/named-files.ts";
import type { TokenizerParts } from "../tokenizer/tokenizer-parts.ts";
import { partnerOf } from "./gpt2.ts";
import { fileKind } from "./load-tokenizer.ts";
import { readBytes } from "./read-file.ts";

/** A file of a base tokenizer, read once: what it is, and the name that it has in a tokenizer directory. */
export type BaseFile = {
  readonly kind: "tokenizer.json" | "vocab.json" | "merges.txt" | "ranks" | "beside";
  readonly name: string;
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly sha256: string;
};

/** What transformers reads beside the vocabulary: it says nothing of learned tokens, so it stays as it is. */
const namesBeside = [
  "tokenizer_config.json",
  "special_tokens_map.json",
  "added_tokens.json",
  "chat_template.jinja",
];

/**
 * The files of a tokenizer that can be extended: those of all kinds that a directory holds, and what is beside them; or the
 * one file, or pair, that is named.
 */
export function readBaseFiles(path: string): BaseFile[] {
  if (!statSync(path).isDirectory()) return filesOfFile(path);
  const inside = (name: string) => join(path, name);
  const files: BaseFile[] = [];
  if (isFile(inside("tokenizer.json"))) files.push(readFile("tokenizer.json", inside("tokenizer.json")));
  if (isFile(inside("vocab.json")) && isFile(inside("merges.txt")))
    files.push(...filesOfFile(inside("vocab.json")));
  if (isFile(inside("tokenizer.tiktoken"))) files.push(readFile("ranks", inside("tokenizer.tiktoken")));
  const other = ["tekken.json", "tokenizer.model"].map(inside).find(isFile);
  if (files.length === 0 && other !== undefined) return filesOfFile(other);
  return [
    ...files,
    ...namesBeside.filter((name) => isFile(inside(name))).map((name) => readFile("beside", inside(name))),
  ];
}

/** The files, each of a kind of its own, that say what another one of them says; the first is what a directory is loaded from. */
export const kindsBeside = (files: readonly BaseFile[]): readonly BaseFile[] =>
  files.filter(({ kind }) => kind !== "beside" && kind !== "merges.txt").slice(1);

/** A UserError if two files of a directory have other ids for bytes, or other merges. */
export function checkSame(base: TokenizerParts, other: TokenizerParts): void {
  const sameNumbers = (a: Int32Array, b: Int32Array) => Buffer.compare(bytesOf(a), bytesOf(b)) === 0;
  const [a, b] = [base.model, other.model];
  const isSame =
    sameNumbers(a.byteIds, b.byteIds) &&
    sameNumbers(a.merges.left, b.merges.left) &&
    sameNumbers(a.merges.right, b.merges.right) &&
    sameNumbers(a.merges.merged, b.merges.merged);
  if (isSame) return;
  throw new UserError(
    `"${base.description.path}" and "${other.description.path}" are not of one tokenizer: their merges differ`,
    { hint: "name the file that is meant" },
  );
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Int32Array) =>
  new Uint8Array(buffer, byteOffset, byteLength);

function filesOfFile(path: string): BaseFile[] {
  if (path.endsWith("vocab.json") || path.endsWith("merges.txt")) {
    const { vocabPath, mergesPath } = partnerOf(path);
    return [readFile("vocab.json", vocabPath), readFile("merges.txt", mergesPath)];
  }
  const kind = fileKind(path);
  if (kind === "tekken") {
    throw new UserError(`"${path}": a tekken.json cannot be extended: its sizes are fixed in it`, {
      hint: "name the same tokenizer as a tokenizer.json",
    });
  }
  const isRanks = kind === "ranks" || path.endsWith(".tiktoken");
  return [readFile(isRanks ? "ranks" : "tokenizer.json", path)];
}

const names = {
  "tokenizer.json": "tokenizer.json",
  "vocab.json": "vocab.json",
  "merges.txt": "merges.txt",
  ranks: "tokenizer.tiktoken",
};

function readFile(kind: BaseFile["kind"], path: string): BaseFile {
  const bytes = readBytes(path);
  const sha256 = createSha256();
  sha256.update(bytes);
  const name = kind === "beside" ? basename(path) : names[kind];
  return { kind, name, path: join(dirname(path), basename(path)), bytes, sha256: sha256.digest("hex") };
}
