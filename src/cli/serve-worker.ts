// Entry of the thread that answers the requests of `bpe serve`.
import { readSync } from "node:fs";
import { outOfMemory, UserError } from "../errors.ts";
import { loadTokenizerParts } from "../formats/load-tokenizer.ts";
import { roleTokensAt } from "../formats/model-files.ts";
import { type Failure, type Post, reviveFailure, serveJob, type Tell } from "../pipeline/job.ts";
import type { Saving } from "../pipeline/save-tokenizer.ts";
import { factsOf, fingerprintOf } from "../pipeline/tokenizer-facts.ts";
import { wordsOf } from "../pipeline/warnings.ts";
import { writeAll } from "../runtime/file-calls.ts";
import { openLibc, sleepSync } from "../runtime/host.ts";
import { adoptKernelModule } from "../runtime/kernel.ts";
import { codeOf, reasonOf } from "../runtime/system-error.ts";
import { allowedCores } from "../runtime/system-limits.ts";
import type { LoadOptions, TokenizerParts } from "../tokenizer/tokenizer-parts.ts";
import { errorOfStdout, ReaderGone } from "./data-output.ts";
import { Answers, type Items, kinds, type Request } from "./serve-answers.ts";
import { nameOfTokenizer, warnOfTokenizers } from "./tokenizer-options.ts";

/*
 * What other programs say to `bpe serve` on its stdin, and what it answers on its stdout, in order. All numbers are
 * unsigned, 32 bits wide, little-endian.
 *
 *   OFFSET          TYPE             MEANING
 *   0               u32              of a request its kind, of an answer its status
 *   4               u32              itemCount
 *   8               u32[itemCount]   size of each item in bytes
 *   8 + 4 items     bytes            the items end to end
 *
 *   KIND   ITEMS                                          ANSWERED BY
 *   0      texts (UTF-8)                                  their ids, each 4 bytes
 *   1      texts; special tokens in them are plain text   their ids
 *   2      ids, each 4 bytes                              their bytes
 *   3      a directory, and the path of the tokenizer     nothing; the files are saved there
 *   4      a text                                         the pieces it is cut into before merging, an item each
 *
 * Kinds 0 and 1 with 16 added have offsets in bytes, with 32 added offsets in characters: an item is then the ids of a text,
 * where each begins, and where each ends.
 *
 * Status 0: an item for each text, or list of ids, or piece. Status 1: the request is refused; one item says why. Before the first
 * request it answers once with one item: JSON that describes the tokenizer. It ends where its stdin ends, or where nobody
 * can read its stdout any more.
 *
 * Kind 0 with the two texts "a" and "bc" is 00000000 02000000 01000000 02000000 61 6263.
 */
const statuses = { done: 0, refused: 1 };

/** A request is in memory as a whole, and so is an answer. */
const requestBytesMax = 2 ** 30;
const itemCountMax = 2 ** 24;
const headBytes = 8;

const [stdin, stdout] = [0, 1];

type ServeSetup = {
  readonly kernel: WebAssembly.Module;
  readonly path: string;
  readonly options: LoadOptions;
};

/** A warning; or what is to be saved: the main thread does that, because it can undo it when the process is stopped. */
export type ServeNews =
  | { readonly kind: "warning"; readonly text: string }
  | (Omit<Saving, "guard"> & { readonly kind: "save" });

declare const self: { onmessage: (event: MessageEvent<never>) => void; postMessage: Post };

/** What the thread does (job.ts). Between its requests it waits in `read`, and hears nothing of the main thread. */
export class ServeJob {
  private takeSaved!: (refusal: Failure | null) => void;

  constructor(private readonly tell: Tell<ServeNews>) {}

  /** Answers requests until stdin has ended, or the reader of stdout has gone. */
  async serve({ kernel, path, options }: ServeSetup): Promise<void> {
    adoptKernelModule(kernel);
    const parts = await loadTokenizerParts(path, options);
    warnOfTokenizers([{ name: nameOfTokenizer(path), parts }], {
      tell: (warnings) => {
        for (const warning of warnings) this.tell({ kind: "warning", text: wordsOf(warning) });
      },
    });
    try {
      await serve(parts, roleTokensAt(path), this);
    } catch (error) {
      if (!(error instanceof ReaderGone)) throw error;
    }
  }

  /** A note: why something was not saved; null: it was. */
  saved(refusal: Failure | null): void {
    this.takeSaved(refusal);
  }

  /** Has the main thread save something, and waits for it. */
  async save(saving: Omit<Saving, "guard">): Promise<void> {
    const answered = new Promise<Failure | null>((take) => {
      this.takeSaved = take;
    });
    this.tell({ kind: "save", ...saving });
    const refusal = await answered;
    if (refusal !== null) throw reviveFailure(refusal);
  }
}

const serveMessage = serveJob(
  (tell: Tell<ServeNews>) => new ServeJob(tell),
  (message, transfer) => self.postMessage(message, transfer),
);
self.onmessage = ({ data }) => serveMessage(data);

/** Answers one request after the other. */
async function serve(
  parts: TokenizerParts,
  roles: Readonly<Record<string, string>>,
  job: ServeJob,
): Promise<void> {
  const fingerprint = fingerprintOf(parts);
  answer(statuses.done, itemOf(JSON.stringify(factsOf(parts, roles, fingerprint))));
  const answers = new Answers(parts);
  const requests = new RequestReader();
  for (let request = requests.next(); request !== null; request = requests.next()) {
    let answered: Items;
    try {
      answered =
        request.kind === kinds.save ? await saved(request, fingerprint, job) : answers.answerTo(request);
    } catch (error) {
      const refusal = error instanceof UserError ? error : outOfMemory(error);
      if (refusal === undefined) throw error;
      answers.tidy(request, error);
      const hint = refusal.hint === undefined ? "" : `\nhint: ${refusal.hint}`;
      answer(statuses.refused, itemOf(`${refusal.message}${hint}`));
      continue;
    }
    answer(statuses.done, answered);
    answers.tidy(request);
  }
}

/** Has the main thread save the tokenizer's files, and waits for it. */
async function saved({ sizes, items }: Items, fingerprint: string, job: ServeJob): Promise<Items> {
  const [outputBytes = 0] = sizes;
  const [output, path] = [items.subarray(0, outputBytes), items.subarray(outputBytes)].map(pathOf);
  if (sizes.length !== 2 || !output || !path)
    throw new UserError("a save request has two paths: the directory, and the tokenizer's");
  await job.save({ path, output, fingerprint });
  return { sizes: new Uint32Array(0), items: new Uint8Array(0) };
}

function pathOf(item: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(item);
  } catch {
    throw new UserError("the path is not UTF-8");
  }
}

function itemOf(text: string): Items {
  const items = Buffer.from(text);
  return { sizes: Uint32Array.of(items.length), items };
}

function answer(status: number, { sizes, items }: Items): void {
  const head = new Uint32Array(2 + sizes.length);
  head[0] = status;
  head[1] = sizes.length;
  head.set(sizes, 2);
  const headBytes = new Uint8Array(head.buffer);
  // Small ones are written at once: a call of the system costs more than a copy.
  const parts = items.length < smallBytes ? [Buffer.concat([headBytes, items])] : [headBytes, items];
  try {
    for (const bytes of parts) writeAll(stdout, bytes);
  } catch (error) {
    throw errorOfStdout(error);
  }
}

const smallBytes = 1 << 16;

/** Takes requests off stdin. */
class RequestReader {
  /** Bytes [start, end) were read and not taken. */
  private bytes = new Uint8Array(smallBytes);
  private start = 0;
  private end = 0;

  /** The next request, valid until the next call; null where stdin ends behind the last one. */
  next(): Request | null {
    if (this.bytes.length > keptBytesMax) this.makeRoom(this.end - this.start);
    if (!this.fill(headBytes)) {
      if (this.end === this.start) return null;
      throw cutOff("the head");
    }
    const itemCount = this.numberAt(4);
    if (itemCount > itemCountMax) {
      throw damaged(`a request of ${itemCount} items; ${itemCountMax} is the limit`);
    }
    const itemsPos = headBytes + 4 * itemCount;
    if (!this.fill(itemsPos)) throw cutOff("the sizes");
    const sizes = new Uint32Array(itemCount);
    let sizeBytes = 0;
    for (let i = 0; i < itemCount; i++) {
      sizes[i] = this.numberAt(headBytes + 4 * i);
      sizeBytes += sizes[i]!;
    }
    if (sizeBytes > requestBytesMax) {
      throw damaged(`a request of ${sizeBytes} bytes; ${requestBytesMax} is the limit`);
    }
    if (!this.fill(itemsPos + sizeBytes)) throw cutOff("the items");
    const kind = this.numberAt(0);
    const from = this.start + itemsPos;
    this.start = from + sizeBytes;
    return { kind, sizes, items: this.bytes.subarray(from, this.start) };
  }

  /** The number at `pos` of the request. */
  private numberAt(pos: number): number {
    const { bytes, start } = this;
    const at = start + pos;
    return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
  }

  /** Reads until `byteCount` bytes are there; false if stdin ends before. */
  private fill(byteCount: number): boolean {
    if (this.start + byteCount > this.bytes.length) this.makeRoom(byteCount);
    while (this.end - this.start < byteCount) {
      const readBytes = readStdin(this.bytes, this.end);
      if (readBytes === 0) return false;
      this.end += readBytes;
    }
    return true;
  }

  /** Moves what was not taken to the front, of other memory where `byteCount` bytes need it. */
  private makeRoom(byteCount: number): void {
    const { bytes, start, end } = this;
    const fits = byteCount <= bytes.length && bytes.length <= keptBytesMax;
    if (!fits) this.bytes = new Uint8Array(Math.max(smallBytes, byteCount));
    this.bytes.set(bytes.subarray(start, end));
    this.end = end - start;
    this.start = 0;
  }
}

/** Memory for larger requests is given back. */
const keptBytesMax = 1 << 20;

/** What `poll` is asked: whether stdin has something, and whether stdout's reader is there. */
const polled = Int32Array.of(stdin, 1, stdout, 0);
/** POLLERR, POLLHUP and POLLNVAL, where `poll` puts what it found. */
const isGone = 0x38 << 16;

let libc: ReturnType<typeof openLibc<"poll">> | undefined;

/**
 * To be woken takes longer than to encode a short text. So a client that asks again at once is waited for awake, for some 50
 * µs, if it and this thread have a core each. Where that is in vain it is tried again after twice as many short waits.
 */
const awakePolls = 128;
const shortWaitMs = 0.1;
const waitsMax = 32;
let isAwake = false;
let shortWaits = 0;
let neededWaits = 1;
let mayBeAwake: boolean | undefined;

/** Waits until stdin has something, or has ended, or nobody can read stdout. */
function waitForStdin({ poll }: NonNullable<typeof libc>): void {
  if (isAwake) {
    for (let i = 0; i < awakePolls; i++) {
      if (poll(polled, 2n, 0) === 0) continue;
      neededWaits = Math.max(1, neededWaits - 1);
      return;
    }
    isAwake = false;
    shortWaits = 0;
    neededWaits = Math.min(2 * neededWaits, waitsMax);
  }
  const startMs = performance.now();
  poll(polled, 2n, -1);
  if (performance.now() - startMs > shortWaitMs) return;
  mayBeAwake ??= allowedCores() > 1;
  isAwake = mayBeAwake && ++shortWaits >= neededWaits;
}

/** Waits for bytes and reads them into `into` from `pos` on; 0 at the end. Throws if nobody can read the answers. */
function readStdin(into: Uint8Array, pos: number): number {
  libc ??= openLibc("poll");
  for (;;) {
    if (libc) waitForStdin(libc);
    if ((polled[3]! & isGone) !== 0) throw new ReaderGone("the reader of stdout has gone");
    try {
      return readSync(stdin, into, pos, into.length - pos, null);
    } catch (error) {
      if (codeOf(error) === "EOF") return 0;
      // Another program has made the pipe non-blocking.
      if (codeOf(error) === "EAGAIN") sleepSync(1);
      else throw new UserError(`standard input cannot be read: ${reasonOf(error)}`);
    }
  }
}

const damaged = (what: string) =>
  new UserError(`bpe serve: ${what}`, { hint: "docs/serve.md says what a request looks like" });

const cutOff = (part: string) => damaged(`stdin ends in ${part} of a request`);
