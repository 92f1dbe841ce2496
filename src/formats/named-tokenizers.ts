import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { files, host, shell, UserError } from "#runtime";
import type { AskedModelSettings } from "#tokenizer";
import * as tokenizerFiles from "./load-tokenizer.ts";
import { rankSums } from "./rank-sums.ts";

// Tokenizers that are known by name. bpe does not use the network, so it looks in caches that other programs have on
// this machine.

/** A published tokenizer. `encoding` is the name of its encoding in tiktoken.ts. */
type Published = {
  readonly names: readonly string[];
  readonly encoding: string;
  readonly model?: AskedModelSettings;
};

export const publishedTokenizers: readonly Published[] = [
  { names: ["gpt2", "gpt-2", "r50k_base"], encoding: "r50k_base" },
  { names: ["gpt-4", "gpt-3.5-turbo", "cl100k", "cl100k_base"], encoding: "cl100k_base" },
  { names: ["gpt-4o", "gpt4o", "gpt-4.1", "o200k", "o200k_base"], encoding: "o200k_base" },
  {
    names: ["llama3", "llama-3", "llama3.1", "llama3.2", "llama3.3"],
    encoding: "Llama 3",
    model: { addsBos: true, chatTemplate: "llama3" },
  },
  { names: ["llama4", "llama-4"], encoding: "Llama 4", model: { addsBos: true } },
  { names: ["qwen3"], encoding: "Qwen 3", model: { chatTemplate: "chatml" } },
];

/** Whether this is a name of a published tokenizer. */
export const isPublished = (name: string): boolean =>
  publishedTokenizers.some(({ names }) => names.includes(name));

/**
 * The publishers' repositories on Hugging Face. A published tokenizer whose name is not listed here has a rank file of
 * tiktoken.
 */
const repositories: Readonly<Record<string, string>> = {
  llama3: "meta-llama/Meta-Llama-3-8B",
  "llama-3": "meta-llama/Meta-Llama-3-8B",
  "llama3.1": "meta-llama/Llama-3.1-8B",
  "llama3.2": "meta-llama/Llama-3.2-1B",
  "llama3.3": "meta-llama/Llama-3.3-70B-Instruct",
  llama4: "meta-llama/Llama-4-Scout-17B-16E",
  "llama-4": "meta-llama/Llama-4-Scout-17B-16E",
  qwen3: "Qwen/Qwen3-8B",
};

/** A tokenizer's path, and its name in messages. */
export type Found = { readonly name: string | undefined; readonly path: string };

/**
 * Finds a tokenizer. If there is something at the typed path, returns that path and no name. Otherwise, a known name,
 * or a text like `owner/model`, is looked for in the caches. If no cache has it, throws a UserError that says how to
 * download the tokenizer. Also throws one if the file in the cache is not the published one (`checkRanks`). Any other
 * text is returned as a path.
 */
export function find(typed: string): Found {
  if (files.stat(typed) !== undefined) return { name: undefined, path: typed };
  const known = publishedTokenizers.find(({ names }) => names.includes(typed));
  const repository = known === undefined ? typed : repositories[typed];
  if (known !== undefined && repository === undefined) {
    const url = `https://openaipublic.blob.core.windows.net/encodings/${known.encoding}.tiktoken`;
    const path = ranksInCache(url);
    if (path !== undefined) {
      checkRanks(path, known.encoding as keyof typeof rankSums);
      return { name: typed, path };
    }
    throw notFoundError(typed, `download the tokenizer with curl -LO ${url}, and name that file`);
  }
  // A name with the ending of a tokenizer's file is a path, not a model.
  const isModel = /^\w[\w.-]*\/[\w.-]+(?<!\.(json|tiktoken|model|txt))$/.test(repository!);
  if (!isModel) return { name: undefined, path: typed };
  const path = modelInCache(repository!);
  if (path !== undefined) return { name: typed, path };
  const fetched = shell.line(["hf", "download", repository!, "tokenizer.json", "tokenizer_config.json"]);
  throw notFoundError(typed, `if it is a model on Hugging Face, download it: ${fetched}`);
}

const notFoundError = (typed: string, hint: string) =>
  new UserError(
    `"${typed}": no such file or directory, and no tokenizer of that name in the caches of tiktoken and Hugging Face`,
    {
      hint,
    },
  );

/**
 * Returns the path of tiktoken's copy of a file, if there is one. If the environment variable for the directory is
 * empty, tiktoken keeps no copies.
 */
function ranksInCache(url: string): string | undefined {
  const { TIKTOKEN_CACHE_DIR, DATA_GYM_CACHE_DIR } = process.env;
  const directory = TIKTOKEN_CACHE_DIR ?? DATA_GYM_CACHE_DIR ?? join(tmpdir(), "data-gym-cache");
  const path = join(directory, host.createSha1().update(url).digest("hex"));
  return directory !== "" && files.isFile(path) ? path : undefined;
}

/**
 * Throws a UserError unless the file has the published checksum, because anyone may write to the temporary directory.
 */
function checkRanks(path: string, encoding: keyof typeof rankSums): void {
  if (host.createSha256().update(files.readBytes(path)).digest("hex") === rankSums[encoding]) return;
  throw new UserError(`"${path}", tiktoken's copy of ${encoding}, is not the published file`, {
    hint: `remove this file; in Python, tiktoken.get_encoding("${encoding}") downloads it again`,
  });
}

/**
 * Returns the directory of a model in Hugging Face's hub cache, at the commit in `refs/main`; undefined if there is
 * none, or if it has no tokenizer. Throws a UserError if the system refuses to read the cache.
 */
function modelInCache(repository: string): string | undefined {
  const directory = join(hubCache(), `models--${repository.replace("/", "--")}`);
  const head = join(directory, "refs/main");
  if (!files.isFile(head)) return undefined;
  const path = join(directory, "snapshots", files.readText(head).trim());
  return files.isDirectory(path) && tokenizerFiles.findIn(path).length > 0 ? path : undefined;
}

/** Returns the path of the cache, from the environment variables that the package huggingface_hub reads. */
function hubCache(): string {
  const { HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, HF_HOME, XDG_CACHE_HOME } = process.env;
  const home = HF_HOME || join(XDG_CACHE_HOME || join(homedir(), ".cache"), "huggingface");
  const path = HF_HUB_CACHE || HUGGINGFACE_HUB_CACHE || join(home, "hub");
  return path.replace(/^~(?=\/|$)/, () => homedir());
}
