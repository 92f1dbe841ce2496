import { dirname, join } from "node:path";
import { formats, recordedFiles, tokenizerFiles } from "#formats";
import { files, machine, yieldToEventLoop } from "#runtime";
import {
  type modelSettings,
  type TokenizerParts,
  type TokenTable,
  type tokenizers,
  tokenTables,
} from "#tokenizer";
import * as jobs from "./job.ts";

/** A request to the loading thread. */
export type LoadRequest = {
  readonly path: string;
  readonly options: tokenizers.LoadOptions;
  /**
   * Whether the token table will be used, for example to decode. If not, it is not built, which saves time: encoding
   * does not need it.
   */
  readonly isDecoded: boolean;
};

/** The loading thread's answer. */
type LoadedTokenizer = {
  /**
   * The parts, with `tokens` undefined. The key `tokens` is kept, so that the keys stay in the same order, on which
   * `digestOfParts` depends.
   */
  readonly parts: Omit<TokenizerParts, "tokens"> & { readonly tokens: undefined };
  readonly tokens: TokenTable | null;
};

/**
 * Loads a tokenizer like `tokenizerFiles.load`, but loads large files in another thread, so that the event loop is
 * never blocked for long. Parsing cannot be interrupted, but a thread can be ended in the middle of it.
 */
export async function loadInWorker(request: LoadRequest): Promise<TokenizerParts> {
  const { path, options } = request;
  if (loadedHereMs(path) <= loadedHereMsMax) return tokenizerFiles.load(path, options);
  const thread = jobs.start<typeof loadingJob>("loading");
  try {
    const { parts, tokens } = await thread.ask("load", request);
    // Deserializing the thread's answer may take 0.1 s.
    await yieldToEventLoop();
    return { ...parts, tokens: tokens ?? tokenTables.lazy(noTokens) };
  } finally {
    thread.end();
  }
}

/** Reads the settings for `--like`, in a worker if the files are large. */
export async function readLikeInWorker(path: string): Promise<modelSettings.Like> {
  if (loadedHereMs(path) <= loadedHereMsMax) return loadingJob.like(path);
  const thread = jobs.start<typeof loadingJob>("loading");
  try {
    return await thread.ask("like", path);
  } finally {
    thread.end();
  }
}

/**
 * Estimates, in bytes, the memory that loading takes in addition to the tokenizer itself, until garbage is collected.
 */
export function loadingBytes(path: string): number {
  const ms = loadedHereMs(path);
  return ms <= loadedHereMsMax ? 0 : machine.workerBytes + garbageBytesPerMs * ms;
}

/** The bytes of garbage per millisecond of loading. Measured: 30 MB for 100,000 merges, in each format. */
const garbageBytesPerMs = 120_000;

function noTokens(): never {
  throw new Error("bug: ids are decoded, but the tokenizer was loaded without its token table");
}

/**
 * Files whose loading takes at most this many milliseconds are loaded in this thread. Starting another thread and
 * deserializing its answer takes at least about 15 ms. Signals, which wait while this thread loads, may be handled up
 * to 200 ms late.
 */
const loadedHereMsMax = 100;

/**
 * Estimates how many milliseconds it takes to load the slowest of the tokenizer's files. A tokenizer.json, which has a
 * faster reader, takes 40 ns a byte, any other file 130 ns.
 */
function loadedHereMs(path: string): number {
  const msOf = (file: string) => {
    const stats = files.stat(file);
    return stats?.isFile() ? stats.size * (file.endsWith("tokenizer.json") ? 40e-6 : 130e-6) : 0;
  };
  const paths = files.isDirectory(path)
    ? [...formats.usualNames, recordedFiles.recordName].map((name) => join(path, name))
    : [...tokenizerFiles.pathsOf(path), join(dirname(path), recordedFiles.recordName)];
  return Math.max(...paths.map(msOf));
}

/** The job of the loading thread. */
export const loadingJob = {
  async load({ path, options, isDecoded }: LoadRequest): Promise<LoadedTokenizer> {
    const parts = await tokenizerFiles.load(path, options);
    return { parts: { ...parts, tokens: undefined }, tokens: isDecoded ? { ...parts.tokens } : null };
  },
  like: async (path: string): Promise<modelSettings.Like> => (await import("#formats/like")).readLike(path),
};
