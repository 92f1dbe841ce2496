import { readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { UserError } from "../../errors.ts";
import { isFile } from "../../runtime/named-files.ts";
import type { OutputFile } from "../../vocabulary/formats/output-file.ts";
import { objectAt } from "../load/checked-json.ts";
import { fileKind } from "../load/load-tokenizer.ts";
import { readBytes, readJson } from "../load/read-file.ts";
import type { TokenizerParts } from "../tokenizer-parts.ts";
import { prunedGpt2 } from "./pruned-gpt2.ts";
import { prunedRanks, prunedTekken } from "./pruned-ranks.ts";
import { prunedTokenizerJson } from "./pruned-tokenizer-json.ts";
import { type Numbering, newIdOf } from "./token-numbering.ts";

/** A tokenizer in a file, or in GPT-2's pair, which is named by its vocabulary. */
export type TokenizerFile = { readonly kind: "json" | "gpt2" | "ranks" | "tekken"; readonly path: string };

/** The tokenizers that a path names: of a directory all that are in it, the one that is loaded first. */
export function tokenizerFilesAt(path: string): TokenizerFile[] {
  if (!statSync(path).isDirectory()) return [fileAt(path)];
  const inside = (name: string) => join(path, name);
  const found: TokenizerFile[] = [];
  if (isFile(inside("tokenizer.json"))) found.push({ kind: "json", path: inside("tokenizer.json") });
  if (isFile(inside("vocab.json")) && isFile(inside("merges.txt"))) {
    found.push({ kind: "gpt2", path: inside("vocab.json") });
  }
  const others = ["tokenizer.tiktoken", "tekken.json", "tokenizer.model"].map(inside).filter(isFile);
  return [...found, ...others.map(fileAt)];
}

function fileAt(path: string): TokenizerFile {
  if (path.endsWith("vocab.json") || path.endsWith("merges.txt")) return { kind: "gpt2", path };
  const kind = fileKind(path);
  if (kind === "tekken" || kind === "ranks") return { kind, path };
  return { kind: kind === "json" || path.endsWith(".json") ? "json" : "ranks", path };
}

/** The files of one tokenizer with the tokens that stay. */
export function prunedFiles(
  { kind, path }: TokenizerFile,
  parts: TokenizerParts,
  numbering: Numbering,
): OutputFile[] {
  switch (kind) {
    case "json":
      return [prunedTokenizerJson(path, parts, numbering)];
    case "gpt2":
      return prunedGpt2(path, parts, numbering);
    case "ranks":
      return [prunedRanks(path, parts, numbering)];
    case "tekken":
      return [prunedTekken(path, parts, numbering)];
  }
}

/** What `transformers` reads beside a `tokenizer.json` of a directory, with the new ids. */
export function filesBeside(directory: string, numbering: Numbering): OutputFile[] {
  return readdirSync(directory)
    .sort()
    .filter((name) => isFile(join(directory, name)))
    .flatMap((name) => {
      const path = join(directory, name);
      if (copiedNames.has(name)) return [{ name, chunks: () => [readBytes(path)] }];
      if (name === "tokenizer_config.json") return [jsonFile(path, renumberedConfig(path, numbering))];
      if (name === "added_tokens.json") return [jsonFile(path, renumberedTokens(path, numbering))];
      return [];
    });
}

/** What `transformers` reads beside a tokenizer. */
export const isReadBeside = (name: string) =>
  copiedNames.has(name) || name === "tokenizer_config.json" || name === "added_tokens.json";

/** Files without ids. */
const copiedNames = new Set(["special_tokens_map.json", "chat_template.jinja", "chat_template.json"]);

const jsonFile = (path: string, value: object): OutputFile => ({
  name: basename(path),
  chunks: () => [new TextEncoder().encode(`${JSON.stringify(value, null, 2)}\n`)],
});

function renumberedConfig(path: string, numbering: Numbering): object {
  const config = objectAt(readJson(path), path, "the configuration");
  if (!("added_tokens_decoder" in config)) return config;
  const decoder = objectAt(config.added_tokens_decoder, path, "added_tokens_decoder");
  const renumbered = Object.entries(decoder).map(([id, token]) => [
    newIdOf(numbering, Number(id), path, "added_tokens_decoder"),
    token,
  ]);
  return { ...config, added_tokens_decoder: Object.fromEntries(renumbered) };
}

function renumberedTokens(path: string, numbering: Numbering): object {
  const tokens = objectAt(readJson(path), path, "the list of added tokens");
  return Object.fromEntries(
    Object.entries(tokens).map(([text, id]) => [text, newIdOf(numbering, id, path, JSON.stringify(text))]),
  );
}

/** Throws unless another file holds the same tokens and merges: both are pruned by one choice. */
export function checkSame(first: TokenizerParts, other: TokenizerParts): void {
  const [a, b] = [first.model.merges, other.model.merges];
  const areEqual = (x: Int32Array, y: Int32Array) => Buffer.compare(bytesOf(x), bytesOf(y)) === 0;
  if (
    areEqual(a.left, b.left) &&
    areEqual(a.right, b.right) &&
    areEqual(a.merged, b.merged) &&
    areEqual(first.model.byteIds, other.model.byteIds)
  ) {
    return;
  }
  throw new UserError(
    `"${other.description.path}" and "${first.description.path}" are different tokenizers in one directory`,
    { hint: "name the file of the one that is meant" },
  );
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Int32Array) =>
  new Uint8Array(buffer, byteOffset, byteLength);
