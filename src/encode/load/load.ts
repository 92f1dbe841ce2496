import { statSync } from "node:fs";
import { join } from "node:path";
import { exitCode, UserError } from "../../errors.ts";
import type { ResolvedPattern } from "../../pattern/index.ts";
import type { TokenizerParts } from "../tokenizer-parts.ts";
import { isFile } from "./files.ts";
import { loadGpt2Files, partnerOf } from "./gpt2-files.ts";
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
      hint: "name a tokenizer directory, a tokenizer.json, a vocab.json or a .tiktoken file",
    });
  }
  if (stats.isDirectory()) {
    const inside = (name: string) => join(path, name);
    if (isFile(inside("tokenizer.json"))) return loadJson(inside("tokenizer.json"), options);
    if (isFile(inside("vocab.json")) && isFile(inside("merges.txt"))) {
      return loadGpt2Files(inside("vocab.json"), inside("merges.txt"), options);
    }
    if (isFile(inside("tokenizer.tiktoken"))) return loadTiktokenFile(inside("tokenizer.tiktoken"), options);
    throw new UserError(`"${path}" holds no tokenizer`, {
      hint: "a tokenizer is tokenizer.json, vocab.json with merges.txt, or tokenizer.tiktoken",
    });
  }
  if (path.endsWith(".tiktoken")) return loadTiktokenFile(path, options);
  if (path.endsWith("vocab.json") || path.endsWith("merges.txt")) {
    const { vocabPath, mergesPath } = partnerOf(path);
    return loadGpt2Files(vocabPath, mergesPath, options);
  }
  if (path.endsWith(".json")) return loadJson(path, options);
  throw new UserError(`"${path}" is no kind of tokenizer that is known by its name`, {
    hint: "known are tokenizer.json, vocab.json, merges.txt and names that end in .tiktoken",
  });
}

function loadJson(path: string, options: LoadOptions): TokenizerParts {
  const given = options.pattern !== undefined ? "--pattern" : "--special-token";
  if (options.pattern !== undefined || (options.specialTokens?.length ?? 0) > 0) {
    throw new UserError(`${given} is in tokenizer.json itself and cannot be given beside it`, {
      hint: "leave it out, or name the vocab.json or the .tiktoken file",
      exitCode: exitCode.usage,
    });
  }
  return loadTokenizerJson(path);
}
