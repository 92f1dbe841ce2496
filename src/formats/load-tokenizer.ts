import { join } from "node:path";
import { exitCode, UserError } from "../errors.ts";
import { isFile, statOf } from "../runtime/system-error.ts";
import type { LoadOptions, TokenizerParts } from "../tokenizer/tokenizer-parts.ts";
import { loadGpt2Files } from "./gpt2.ts";
import { idMergesPath } from "./id-merges.ts";
import { loadTekkenFile } from "./tekken.ts";
import { loadTiktokenFile } from "./tiktoken.ts";
import { fileAt, partnerOf, readBytes, type TokenizerFile, tokenizersIn } from "./tokenizer-files.ts";
import { tokenizerOfJson } from "./tokenizer-json.ts";
import { recordedSizes, recordName } from "./training-json.ts";

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
  return loadFile(fileAt(path), options);
}

function loadDirectory(path: string, options: LoadOptions): TokenizerParts {
  const inside = (name: string) => join(path, name);
  const [first] = [...tokenizersIn(path), ...[inside("operations.txt")].filter(isFile)];
  if (first !== undefined) return loadFile(fileAt(first), options);
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

function loadFile({ kind, path }: TokenizerFile, options: LoadOptions): TokenizerParts {
  switch (kind) {
    case "gpt2": {
      const { vocabPath, mergesPath } = partnerOf(path);
      return loadGpt2Files(vocabPath, mergesPath, options);
    }
    case "ranks":
      return loadTiktokenFile(path, options);
    case "json":
      refuseOptions("tokenizer.json", options);
      return tokenizerOfJson(readBytes(path), path);
    case "tekken":
      refuseOptions("tekken.json", options);
      return loadTekkenFile(path);
  }
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
