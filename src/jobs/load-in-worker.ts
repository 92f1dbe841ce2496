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

/** A request to the loading thread. */
export type LoadRequest = {
  readonly path: string;
  readonly options: LoadOptions;
  /** Whether ids will be decoded: building the table for that takes time, and encoding does not need it. */
  readonly isDecoded: boolean;
};

/** The loading thread's answer. */
type LoadedTokenizer = {
  /** The table is removed but its key stays, because the fingerprint depends on the order of keys. */
  readonly parts: Omit<TokenizerParts, "tokens"> & { readonly tokens: undefined };
  readonly tokens: TokenTable | null;
};

/**
 * Loads a tokenizer like `loadTokenizerParts`. Another thread loads large files: parsing cannot be
 * interrupted, but a thread can be ended in the middle of it. So the event loop is never blocked for long.
 */
export async function loadInWorker(request: LoadRequest): Promise<TokenizerParts> {
  const { path, options } = request;
  if (loadedHereMs(path) <= loadedHereMsMax) return loadTokenizerParts(path, options);
  const thread = startJob<typeof loadingJob>("loading");
  try {
    const { parts, tokens } = await thread.ask("load", request);
    // Deserializing the thread's answer may take 0.1 s.
    await yieldToEventLoop();
    return { ...parts, tokens: tokens ?? lazyTokenTable(noTokens) };
  } finally {
    thread.end();
  }
}

/** Reads the settings for `--like`, likewise in a worker for large files. */
export async function readLikeInWorker(path: string): Promise<Like> {
  if (loadedHereMs(path) <= loadedHereMsMax) return loadingJob.like(path);
  const thread = startJob<typeof loadingJob>("loading");
  try {
    return await thread.ask("like", path);
  } finally {
    thread.end();
  }
}

/** Estimates the memory for loading, beyond the tokenizer itself, in bytes, until garbage is collected. */
export function loadingBytes(path: string): number {
  const ms = loadedHereMs(path);
  return ms <= loadedHereMsMax ? 0 : workerBytes + garbageBytesPerMs * ms;
}

/** Measured: 30 MB of garbage for 100,000 merges, in each format. */
const garbageBytesPerMs = 120_000;

function noTokens(): never {
  throw new Error("bug: a tokenizer whose ids are decoded is loaded with its table");
}

/** Starting a thread and deserializing its answer takes some 15 ms; a signal may wait for 200 ms in total. */
const loadedHereMsMax = 100;

/**
 * Estimates the loading time by the size of the largest file: 40 ns a byte for HF's files, which are scanned,
 * 130 ns for all others.
 */
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

/** The job of the loading thread. */
export const loadingJob = {
  async load({ path, options, isDecoded }: LoadRequest): Promise<LoadedTokenizer> {
    const parts = await loadTokenizerParts(path, options);
    return { parts: { ...parts, tokens: undefined }, tokens: isDecoded ? { ...parts.tokens } : null };
  },
  /** Loaded on demand, because few trainings need it. */
  like: async (path: string): Promise<Like> => (await import("#formats/like")).readLike(path),
};
