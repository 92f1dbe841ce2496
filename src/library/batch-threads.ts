import { corpusEncoding } from "#encoding";
import { jobs } from "#jobs";
import { kernels, scaled, UserError, usageError } from "#runtime";
import type { TokenizerParts } from "#tokenizer";
import type { BatchJob, EncodedShare, TextShare } from "./batch-job.ts";
import { type EncodedBatch, offsetMax } from "./special-ids.ts";

/**
 * The texts of a batch are split into shares. A share ends with the text that brings it to this size, in bytes or, for
 * strings, in UTF-16 code units.
 */
const shareBytes = scaled(2 ** 18, 64);
/** How many milliseconds threads may be idle before they end. */
const idleMs = 10_000;

type Thread = jobs.Thread<BatchJob>;
type Texts = readonly (string | Uint8Array)[];

/** The threads that encode the batches of a tokenizer. While they are idle, the process may exit. */
export class BatchThreads {
  private threads: Thread[] = [];
  private runningCount = 0;
  private isEnded = false;
  private idleTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly parts: TokenizerParts) {}

  /** Encodes the texts, each separately. */
  async encode(
    texts: Texts,
    specialTokensAsText: boolean,
    workerCount: number,
    signal?: AbortSignal,
  ): Promise<EncodedBatch> {
    const shareEnds = sharesOf(texts);
    const encoded: EncodedShare[] = [];
    const threads = this.start(Math.min(workerCount, shareEnds.length));
    let next = 0;
    const work = async (thread: Thread) => {
      while (next < shareEnds.length) {
        const share = next++;
        const some = texts.slice(shareEnds[share - 1] ?? 0, shareEnds[share]);
        const packed = packTexts(some, specialTokensAsText);
        encoded[share] = await thread.ask("encode", packed, [packed.bytes.buffer, packed.ends.buffer]);
      }
    };
    try {
      await untilAborted(Promise.all(threads.map(work)), signal);
    } catch (error) {
      next = shareEnds.length;
      if (this.isEnded)
        throw usageError(
          "the tokenizer was disposed while a batch was encoded",
          "await the batch before you call dispose()",
        );
      // After an error, a thread cannot be used again.
      if (!signal?.aborted) this.endThreads();
      throw error;
    } finally {
      this.stop();
    }
    return joinShares(encoded, texts.length);
  }

  /** Ends the threads, even in the middle of their work. */
  end(): void {
    this.isEnded = true;
    this.endThreads();
  }

  private endThreads(): void {
    clearTimeout(this.idleTimer);
    for (const thread of this.threads.splice(0)) thread.end();
  }

  private start(count: number): Thread[] {
    clearTimeout(this.idleTimer);
    this.runningCount++;
    const missing = jobs.startAll<BatchJob>("batch", Math.max(0, count - this.threads.length));
    const setup = { kernelModule: kernels.sharedModule(), parts: corpusEncoding.encodingParts(this.parts) };
    for (const thread of missing) void thread.ask("begin", setup);
    this.threads.push(...missing);
    for (const thread of this.threads) thread.keepAlive(true);
    return this.threads.slice(0, count);
  }

  private stop(): void {
    if (--this.runningCount > 0) return;
    for (const thread of this.threads) thread.keepAlive(false);
    this.idleTimer = setTimeout(() => this.endThreads(), idleMs);
    this.idleTimer.unref();
  }
}

/** Splits texts into shares. Returns the index after the last text of each share. */
function sharesOf(texts: Texts): number[] {
  const ends: number[] = [];
  let size = 0;
  texts.forEach((text, i) => {
    size += text.length;
    if (size < shareBytes && i + 1 < texts.length) return;
    ends.push(i + 1);
    size = 0;
  });
  return ends;
}

const encoder = new TextEncoder();

function packTexts(texts: Texts, specialTokensAsText: boolean): TextShare {
  const parts = texts.map((text) => (typeof text === "string" ? encoder.encode(text) : text));
  const ends = new Float64Array(parts.length);
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let end = 0;
  parts.forEach((part, i) => {
    bytes.set(part, end);
    end += part.length;
    ends[i] = end;
  });
  return { bytes, ends, specialTokensAsText };
}

function joinShares(shares: readonly EncodedShare[], textCount: number): EncodedBatch {
  const idCount = shares.reduce((sum, share) => sum + share.ids.length, 0);
  if (idCount > offsetMax)
    throw new UserError(
      "encodeBatchAsync: the texts have more than 2^31 - 1 ids, the most that fit into a batch",
      {
        hint: "encode fewer texts at a time",
      },
    );
  const offsets = new Int32Array(textCount + 1);
  const ids = new Uint32Array(idCount);
  let [text, end] = [0, 0];
  for (const share of shares) {
    ids.set(share.ids, end);
    for (const count of share.counts) {
      end += count;
      offsets[++text] = end;
    }
  }
  return { ids, offsets };
}

/** Awaits the promise. Rejects with the signal's reason if the signal aborts first. */
async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort);
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
