import { dirname, join } from "node:path";
import { loadTokenizerParts, pathsOf, recordName, usualNames } from "#formats";
import { isDirectory, statOf, workerBytes, yieldToEventLoop } from "#runtime";
import {
  type Like,
  type LoadOptions,
  lazyTokenTable,
  type TokenizerParts,
  type TokenTable,
} from "#tokenizer";
import { startJob } from "./job.ts";

/** What the thread that loads is asked. */
export type LoadRequest = {
  readonly path: string;
  readonly options: LoadOptions;
  /** Whether ids will be decoded: the table for that takes its time, and encoding needs none. */
  readonly isDecoded: boolean;
};

/** What it answers. */
type LoadedTokenizer = {
  /** Its table is taken out, and its place stays: the fingerprint goes by the order. */
  readonly parts: Omit<TokenizerParts, "tokens"> & { readonly tokens: undefined };
  readonly tokens: TokenTable | null;
};

/**
 * Loads a tokenizer as `loadTokenizerParts` does. Large files are loaded by another thread: parsing them cannot be
 * interrupted, and a thread can be ended in the middle of it. So the event loop is never kept from turning for long.
 */
export async function loadInWorker(request: LoadRequest): Promise<TokenizerParts> {
  const { path, options } = request;
  if (loadedHereMs(path) <= loadedHereMsMax) return loadTokenizerParts(path, options);
  const thread = startJob<typeof loadingJob>("loading");
  try {
    const { parts, tokens } = await thread.ask("load", request);
    // To take over what the thread made may take 0.1 s.
    await yieldToEventLoop();
    return { ...parts, tokens: tokens ?? lazyTokenTable(noTokens) };
  } finally {
    thread.end();
  }
}

/** What a training takes from a tokenizer, read in the same way. */
export async function likeInWorker(path: string): Promise<Like> {
  if (loadedHereMs(path) <= loadedHereMsMax) return loadingJob.like(path);
  const thread = startJob<typeof loadingJob>("loading");
  try {
    return await thread.ask("like", path);
  } finally {
    thread.end();
  }
}

/** About how much memory loading takes beside the tokenizer itself, in bytes, until garbage is collected. */
export function loadingBytes(path: string): number {
  const ms = loadedHereMs(path);
  return ms <= loadedHereMsMax ? 0 : workerBytes + garbageBytesPerMs * ms;
}

/** Measured: 30 MB of garbage for 100,000 merges, in each format. */
const garbageBytesPerMs = 120_000;

function noTokens(): never {
  throw new Error("bug: a tokenizer whose ids are decoded is loaded with its table");
}

/** Starting a thread and taking over what it made takes some 15 ms; a signal may wait for 200 in all. */
const loadedHereMsMax = 100;

/** About how long loading takes, by the size of the largest file: 40 ns a byte of HF's, which are scanned, 130 of all others. */
function loadedHereMs(path: string): number {
  const msOf = (file: string) => {
    const stats = statOf(file);
    return stats?.isFile() ? stats.size * (file.endsWith("tokenizer.json") ? 40e-6 : 130e-6) : 0;
  };
  const files = isDirectory(path)
    ? [...usualNames, recordName].map((name) => join(path, name))
    : [...pathsOf(path), join(dirname(path), recordName)];
  return Math.max(...files.map(msOf));
}

/** What the thread that loads does. */
export const loadingJob = {
  async load({ path, options, isDecoded }: LoadRequest): Promise<LoadedTokenizer> {
    const parts = await loadTokenizerParts(path, options);
    return { parts: { ...parts, tokens: undefined }, tokens: isDecoded ? { ...parts.tokens } : null };
  },
  /** Few trainings need the code for it. */
  like: async (path: string): Promise<Like> => (await import("#formats/like")).readLike(path),
};
