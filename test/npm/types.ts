// suite.ts compiles this file as strictly as the compiler can, in a project where `bpe` is installed, to check the
// package's declarations.
import {
  type EncodedBatch,
  type Session,
  type StageProgress,
  type StreamDecoder,
  Tokenizer,
  type TrainedTokenizer,
  trainTokenizer,
  UserError,
} from "bpe";
import { Tokenizer as BrowserTokenizer, trainTokenizer as trainInPage } from "bpe/browser";

async function* texts(): AsyncGenerator<string> {
  yield "a text";
}

/** Uses types that browsers have, and passes results to calls that accept only unshared memory. */
export async function usePage(input: HTMLInputElement, text: string | Uint8Array): Promise<Blob> {
  await trainInPage({ files: input.files, vocabSize: 8_000, onProgress: console.log });
  await trainInPage({ files: [new File(["a"], "a.txt")], vocabSize: 8_000 });
  await trainInPage({ files: new Blob(["a"]), texts: undefined, vocabSize: 8_000 });
  const trained = await trainInPage({ texts: ["a"], vocabSize: 8_000 });
  const ids: Uint32Array<ArrayBuffer> = trained.encode(text);
  const part: string | Uint8Array<ArrayBuffer> = trained.truncate(text, 5);
  const parts: string[] | Uint8Array<ArrayBuffer>[] = trained.chunks(text, 5);
  const files: Map<string, Uint8Array<ArrayBuffer>> = trained.files();
  await crypto.subtle.digest("SHA-256", trained.decodeBytes(ids));
  const { ids: all, offsets } = trained.encodeBatch([text]);
  postMessage(ids, "*", [ids.buffer, all.buffer, offsets.buffer, trained.tokenBytes(5).buffer]);
  return new Blob([part, ...parts, ...files.values(), ids, ...trained.merges.flat()]);
}

export async function use(workers: number | undefined): Promise<number> {
  const stop = new AbortController();
  const trained: TrainedTokenizer = await trainTokenizer({
    texts: texts(),
    wordCounts: new Map([["word", 2]]),
    vocabSize: 300,
    specialTokens: ["<|endoftext|>"],
    compat: "huggingface",
    model: { roles: { eos: "<|endoftext|>" } },
    workers,
    signal: stop.signal,
    onProgress: ({ done, total }: StageProgress) => console.log(done, total ?? "?"),
  });
  await trained.save("tokenizer", { formats: ["huggingface"] });
  const left: Uint8Array | undefined = trained.merges[0]?.[0];
  const tokenizer: Tokenizer = await Tokenizer.load("tokenizer");
  const ids: Uint32Array = tokenizer.encode("text", { specialTokensAsText: true });
  const bytes: Uint8Array = BrowserTokenizer.from(trained.files().get("tokenizer.json") ?? "").decodeBytes([
    ...ids,
  ]);
  const isShort: boolean = tokenizer.count("text", { limit: 5 }) <= 5;
  const beginning: string = tokenizer.truncate("text", 5, { keep: "start" });
  const chunks: readonly Uint8Array[] = tokenizer.chunks(new Uint8Array(0), 5, { overlap: 1 });
  const stream: StreamDecoder = tokenizer.stream();
  const session: Session = tokenizer.session("text");
  const kept: number =
    session.append("text", { trusted: false }) + session.replace(0, 1, "") + session.truncate(1);
  // @ts-expect-error: only a tokenizer opens sessions.
  console.log(new Session(), kept, session.fork().ids.buffer);
  const { offsets }: EncodedBatch = tokenizer.encodeBatch([beginning, ...chunks]);
  console.log(isShort, stream.push(5) + stream.push([5]) + stream.end(), offsets.at(-1));
  try {
    // @ts-expect-error: there is no such option.
    await trainTokenizer({ file: "a", vocabSize: 300 });
    // @ts-expect-error: a size is a number, or counts tokens beyond the base.
    await trainTokenizer({ files: "a", vocabSize: "32k" });
    // @ts-expect-error: a tokenizer has no parts for callers.
    console.log(tokenizer.parts);
  } catch (error) {
    if (error instanceof UserError) console.log(error.hint?.length, error.exitCode);
  }
  return bytes.length + (left?.length ?? 0) + tokenizer.size;
}
