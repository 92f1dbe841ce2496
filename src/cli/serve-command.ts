import { readSync } from "node:fs";
import { openByteStream } from "../corpus/byte-stream.ts";
import { inspectInput } from "../corpus/inspect-input.ts";
import { UserError } from "../errors.ts";
import { fingerprintOf, saveTokenizer } from "../pipeline/save-tokenizer.ts";
import { isReady } from "../runtime/poll.ts";
import { codeOf } from "../runtime/system-error.ts";
import { nextTurn } from "../runtime/turns.ts";
import { versionLine } from "../runtime/version.ts";
import { TextEncoding } from "../tokenizer/text-encoding.ts";
import { decodeIds, unknownId } from "../tokenizer/token-table.ts";
import { allAddedTokens, type TokenizerParts } from "../tokenizer/tokenizer-parts.ts";
import type { Invocation } from "./arguments.ts";
import type { Output } from "./output.ts";
import { onStop } from "./stop.ts";
import { StreamWriter } from "./stream-writer.ts";
import { openTokenizer, readTokenizerOptions } from "./tokenizer-options.ts";

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
 *
 * Status 0: an item for each text, or list of ids. Status 1: the request is refused; one item says why. Before the first
 * request it answers once with one item: JSON that describes the tokenizer. It ends where its stdin ends.
 *
 * Kind 0 with the two texts "a" and "bc" is 00000000 02000000 01000000 02000000 61 6263.
 */
const kinds = { encode: 0, encodeAsText: 1, decode: 2, save: 3 };
const statuses = { done: 0, refused: 1 };

/** A request is in memory as a whole. */
const requestBytesMax = 2 ** 30;
const itemCountMax = 2 ** 24;

/** Encoded between two turns of the event loop. */
const sliceBytes = 1 << 18;

/** `bpe serve`: encodes and decodes for another program, until its stdin ends. */
export async function runServe(invocation: Invocation, output: Output): Promise<void> {
  const options = readTokenizerOptions(invocation);
  const parts = await openTokenizer(options, true, output);
  const out = new StreamWriter();
  try {
    await serve(parts, out);
  } finally {
    // What was answered before an error is whole.
    await out.end();
  }
}

/** Answers one request after the other. */
async function serve(parts: TokenizerParts, out: StreamWriter): Promise<void> {
  await answer(out, statuses.done, [Buffer.from(JSON.stringify(description(parts)))]);
  const encodings = new Map<number, TextEncoding>();
  const requests = new RequestReader();
  for (let request = await requests.next(); request !== null; request = await requests.next()) {
    try {
      await answer(out, statuses.done, await answersTo(request, parts, encodings));
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      // What they hold of a text that failed must not begin the next one.
      encodings.clear();
      const hint = error.hint === undefined ? "" : `\nhint: ${error.hint}`;
      await answer(out, statuses.refused, [Buffer.from(`${error.message}${hint}`)]);
    }
  }
}

/** `encodings` keeps what was made for earlier requests, by their kind. */
async function answersTo(
  { kind, items }: Request,
  parts: TokenizerParts,
  encodings: Map<number, TextEncoding>,
): Promise<Uint8Array[]> {
  if (kind === kinds.decode) return decodeItems(parts, items);
  if (kind === kinds.save) {
    const [output, path] = items.length === 2 ? items.map(pathOf) : [];
    if (!output || !path)
      throw new UserError("what is to be saved has two paths: the directory, and the tokenizer's");
    await saveTokenizer({ path, parts, output, guard: onStop });
    return [];
  }
  if (kind !== kinds.encode && kind !== kinds.encodeAsText)
    throw new UserError(`${kind} is no kind of request`);
  let encoding = encodings.get(kind);
  if (encoding === undefined) {
    encoding = new TextEncoding(parts, { specialTokensAsText: kind === kinds.encodeAsText });
    encodings.set(kind, encoding);
  }
  return encodeItems(encoding, items);
}

const description = (parts: TokenizerParts) => ({
  version: versionLine,
  idLimit: parts.tokens.idLimit,
  tokenCount: parts.tokens.tokenCount,
  specialTokens: Object.fromEntries(allAddedTokens(parts).map(({ content, id }) => [content, id])),
  fingerprint: fingerprintOf(parts),
  notes: parts.notes,
});

function pathOf(item: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(item);
  } catch {
    throw new UserError("the path is not UTF-8");
  }
}

async function encodeItems(encoding: TextEncoding, texts: readonly Uint8Array[]): Promise<Uint8Array[]> {
  const answers: Uint8Array[] = [];
  let sinceTurn = 0;
  for (const text of texts) {
    for (let start = 0; start < text.length; start += sliceBytes) {
      const end = Math.min(text.length, start + sliceBytes);
      encoding.push(text, start, end);
      sinceTurn += end - start;
      if (sinceTurn < sliceBytes) continue;
      sinceTurn = 0;
      await nextTurn();
    }
    encoding.end();
    answers.push(new Uint8Array(new Uint32Array(encoding.out.flush()).buffer));
  }
  encoding.out.shrink();
  return answers;
}

function decodeItems({ tokens }: TokenizerParts, items: readonly Uint8Array[]): Uint8Array[] {
  return items.map((item) => {
    if (item.length % 4 !== 0) throw new UserError(`${item.length} bytes are no whole number of ids`);
    // A copy begins at a multiple of 4.
    const ids = new Uint32Array(item.slice().buffer);
    const { bytes, unknownIndex } = decodeIds(tokens, ids);
    if (unknownIndex >= 0) throw unknownId(ids[unknownIndex]!, unknownIndex, tokens.idLimit);
    return bytes;
  });
}

async function answer(out: StreamWriter, status: number, items: readonly Uint8Array[]): Promise<void> {
  const head = new Uint8Array(
    Uint32Array.of(status, items.length, ...(items.length === 1 ? [items[0]!.length] : [])).buffer,
  );
  if (items.length === 1 && out.writeNow(Buffer.concat([head, items[0]!]))) return;
  out.write(head);
  if (items.length !== 1) out.write(new Uint8Array(Uint32Array.from(items, ({ length }) => length).buffer));
  for (const item of items) {
    out.write(item);
    await out.drained();
  }
}

/** As much as a pipe holds. */
const windowBytes = 1 << 16;
const waitedHereMs = 20;
/** Signals are served between two turns of the event loop. */
const turnMs = 50;

type Request = { readonly kind: number; readonly items: readonly Uint8Array[] };

/** Takes requests off stdin. */
class RequestReader {
  private readonly stream = openByteStream(inspectInput("-"));
  /** What was read: window[start .. end) is not yet taken. Most requests come by one read. */
  private readonly window = new Uint8Array(windowBytes);
  private start = 0;
  private end = 0;
  private lastTurnMs = performance.now();

  /** The next request; null where stdin ends behind the last one. */
  async next(): Promise<Request | null> {
    const head = new Uint32Array(2);
    const headBytes = await this.fill(head);
    if (headBytes === 0) return null;
    if (headBytes < head.byteLength) throw cutOff("the head");
    const [kind, itemCount] = head as unknown as [number, number];
    if (itemCount > itemCountMax) {
      throw damaged(`a request of ${itemCount} items; ${itemCountMax} is the limit`);
    }
    const sizes = new Uint32Array(itemCount);
    if ((await this.fill(sizes)) < sizes.byteLength) throw cutOff("the sizes");
    const sizeBytes = sizes.reduce((sum, size) => sum + size, 0);
    if (sizeBytes > requestBytesMax) {
      throw damaged(`a request of ${sizeBytes} bytes; ${requestBytesMax} is the limit`);
    }
    const bytes = new Uint8Array(sizeBytes);
    if ((await this.fill(bytes)) < sizeBytes) throw cutOff("the items");
    let end = 0;
    return { kind, items: Array.from(sizes, (size) => bytes.subarray(end, (end += size))) };
  }

  /** Fills an array with what comes next; how many bytes there were, fewer only where stdin ends. */
  private async fill(array: Uint8Array | Uint32Array): Promise<number> {
    const bytes = new Uint8Array(array.buffer, 0, array.byteLength);
    let done = 0;
    while (done < bytes.length) {
      if (this.start === this.end) {
        this.start = 0;
        this.end = await this.read();
        if (this.end === 0) break;
      }
      const taken = this.window.subarray(this.start, Math.min(this.end, this.start + bytes.length - done));
      bytes.set(taken, done);
      this.start += taken.length;
      done += taken.length;
    }
    return done;
  }

  /**
   * Reads into the window. While one request follows the other, this thread waits for the next one itself: to wake another
   * one, and to be woken by it, takes longer than to encode a line.
   */
  private async read(): Promise<number> {
    if (performance.now() - this.lastTurnMs > turnMs) {
      await nextTurn();
      this.lastTurnMs = performance.now();
    }
    if (isReady(0, "reading", waitedHereMs)) {
      try {
        return readSync(0, this.window);
      } catch (error) {
        // Another program made the pipe non-blocking, and was faster; the stream knows all other errors.
        if (codeOf(error) === "") throw error;
      }
    }
    const readBytes = await (await this.stream).read(this.window, 0);
    this.lastTurnMs = performance.now();
    return readBytes;
  }
}

const damaged = (what: string) =>
  new UserError(`bpe serve: ${what}`, { hint: "docs/serve.md says what a request looks like" });

const cutOff = (part: string) => damaged(`stdin ends in ${part} of a request`);
