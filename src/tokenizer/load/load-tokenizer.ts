import { statSync } from "node:fs";
import { join } from "node:path";
import { exitCode, UserError } from "../../errors.ts";
import type { ResolvedPattern } from "../../pattern/pattern.ts";
import type { TokenizerParts } from "../tokenizer-parts.ts";
import { fileKind } from "./file-kind.ts";
import { loadGpt2Files, partnerOf } from "./gpt2-files.ts";
import { isFile } from "./read-file.ts";
import { loadTekkenFile } from "./tekken-file.ts";
import { loadTiktokenFile } from "./tiktoken-file.ts";
import { loadTokenizerJson } from "./tokenizer-json.ts";

/** A special token that is not in the files; without an id it gets the next free one. */
export type SpecialTokenOption = { readonly text: string; readonly id: number | undefined };

/** What some files do not hold and the user adds. */
export type LoadOptions = {
  readonly pattern?: ResolvedPattern | undefined;
  readonly specialTokens?: readonly SpecialTokenOption[];
};

/** Loads a tokenizer: a directory (the first kind of file that is in it counts), or one of the files themselves. */
export function loadTokenizerParts(path: string, options: LoadOptions = {}): TokenizerParts {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) {
    throw new UserError(`"${path}": no such file or directory`, {
      hint: "name a tokenizer directory, a tokenizer.json, a vocab.json, a file of ranks or a tekken.json",
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
  const other = ["tokenizer.tiktoken", "tekken.json", "tokenizer.model"].map(inside).find(isFile);
  if (other !== undefined) return loadFile(other, options);
  throw new UserError(`"${path}" holds no tokenizer`, {
    hint: "a tokenizer is tokenizer.json, vocab.json with merges.txt, tokenizer.tiktoken, tekken.json or tokenizer.model; name the file if it is called otherwise",
  });
}

/** GPT-2's pair of files is told by its names, all else by its content. */
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
  return loadTokenizerJson(path);
}

function loadTekken(path: string, options: LoadOptions): TokenizerParts {
  refuseOptions("tekken.json", options);
  return loadTekkenFile(path);
}

/** Of files that hold their pattern and their special tokens. */
function refuseOptions(name: string, { pattern, specialTokens = [] }: LoadOptions): void {
  if (pattern === undefined && specialTokens.length === 0) return;
  const given = pattern !== undefined ? "--pattern" : "--special-token";
  throw new UserError(`${given} is in ${name} itself and cannot be given beside it`, {
    hint: "leave it out, or name the vocab.json or the file of ranks",
    exitCode: exitCode.usage,
  });
}
