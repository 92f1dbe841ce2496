import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import {
  createSha1,
  createSha256,
  isDirectory,
  isFile,
  readBytes,
  readText,
  shellLine,
  statOf,
  UserError,
} from "#runtime";
import type { AskedModelSettings } from "#tokenizer";
import { tokenizersIn } from "./load-tokenizer.ts";
import { rankSums } from "./rank-sums.ts";

// Tokenizers that are named and not pointed at. They are looked for where other programs of this machine keep what they have
// fetched: bpe has no network.

/** A tokenizer that is known by names: its encoding as tiktoken.ts has it, and what else --like takes. */
type Published = {
  readonly names: readonly string[];
  readonly encoding: string;
  readonly model?: AskedModelSettings;
};

export const published: readonly Published[] = [
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

/** Models of their publishers that have these tokenizers. */
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

/** A tokenizer as messages name it, and where it is. */
export type FoundTokenizer = { readonly name: string | undefined; readonly path: string };

/**
 * Where the tokenizer is: at the path that was typed, if anything is there; else in a cache, by its name. A UserError that says
 * how to fetch it, if the name is one. Without a name it is called by its path.
 */
export function findTokenizer(typed: string): FoundTokenizer {
  if (statOf(typed) !== undefined) return { name: undefined, path: typed };
  const known = published.find(({ names }) => names.includes(typed));
  const repository = known === undefined ? typed : repositories[typed];
  if (known !== undefined && repository === undefined) {
    const url = `https://openaipublic.blob.core.windows.net/encodings/${known.encoding}.tiktoken`;
    const path = ranksInCache(url);
    if (path !== undefined) {
      checkRanks(path, known.encoding as keyof typeof rankSums);
      return { name: typed, path };
    }
    throw notHere(typed, `fetch it, and name the file: curl -LO ${url}`);
  }
  // One that is called as a file is called is a path.
  const isModel = /^\w[\w.-]*\/[\w.-]+(?<!\.(json|tiktoken|model|txt))$/.test(repository!);
  if (!isModel) return { name: undefined, path: typed };
  const path = modelInCache(repository!);
  if (path !== undefined) return { name: typed, path };
  const fetched = shellLine(["hf", "download", repository!, "tokenizer.json", "tokenizer_config.json"]);
  throw notHere(typed, `if it is a model of Hugging Face, fetch it: ${fetched}`);
}

const notHere = (typed: string, hint: string) =>
  new UserError(`"${typed}": no such file or directory, and no tokenizer in the caches of this machine`, {
    hint,
  });

/** tiktoken's copy of a file. An empty variable means that it keeps none. */
function ranksInCache(url: string): string | undefined {
  const { TIKTOKEN_CACHE_DIR, DATA_GYM_CACHE_DIR } = process.env;
  const directory = TIKTOKEN_CACHE_DIR ?? DATA_GYM_CACHE_DIR ?? join(tmpdir(), "data-gym-cache");
  const path = join(directory, createSha1().update(url).digest("hex"));
  return directory !== "" && isFile(path) ? path : undefined;
}

/** Anyone may write into the directory of temporary files. */
function checkRanks(path: string, encoding: keyof typeof rankSums): void {
  if (createSha256().update(readBytes(path)).digest("hex") === rankSums[encoding]) return;
  throw new UserError(`"${path}", tiktoken's copy of ${encoding}, is not the published file`, {
    hint: "remove it, and fetch it again",
  });
}

/** The directory of a model in the cache of Hugging Face's hub, at the commit that its main branch had when it was fetched. */
function modelInCache(repository: string): string | undefined {
  const directory = join(hubCache(), `models--${repository.replace("/", "--")}`);
  const head = join(directory, "refs/main");
  if (!isFile(head)) return undefined;
  const path = join(directory, "snapshots", readText(head).trim());
  return isDirectory(path) && tokenizersIn(path).length > 0 ? path : undefined;
}

/** As the package huggingface_hub finds it. */
function hubCache(): string {
  const { HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, HF_HOME, XDG_CACHE_HOME } = process.env;
  const home = HF_HOME || join(XDG_CACHE_HOME || join(homedir(), ".cache"), "huggingface");
  const path = HF_HUB_CACHE || HUGGINGFACE_HUB_CACHE || join(home, "hub");
  return path.replace(/^~(?=\/|$)/, () => homedir());
}
