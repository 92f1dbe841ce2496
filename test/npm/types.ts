// Checked by suite.ts in a project where `bpe` is installed, as strictly as the compiler can.
import {
  type EncodedBatch,
  type StageProgress,
  type StreamDecoder,
  Tokenizer,
  type TrainedTokenizer,
  trainTokenizer,
  UserError,
} from "bpe";
import { Tokenizer as BrowserTokenizer } from "bpe/browser";

async function* texts(): AsyncGenerator<string> {
  yield "a text";
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
  const bytes: Uint8Array = BrowserTokenizer.from(trained.files().get("tokenizer.json") ?? "").decode([
    ...ids,
  ]);
  const isShort: boolean = tokenizer.count("text", { limit: 5 }) <= 5;
  const beginning: string = tokenizer.truncate("text", 5, { keep: "start" });
  const chunks: readonly Uint8Array[] = tokenizer.chunks(new Uint8Array(0), 5, { overlap: 1 });
  const stream: StreamDecoder = tokenizer.stream();
  const { offsets }: EncodedBatch = tokenizer.encodeBatch([beginning, ...chunks]);
  console.log(isShort, stream.push(5) + stream.push([5]) + stream.end(), offsets.at(-1));
  try {
    // @ts-expect-error: there is no such option.
    await trainTokenizer({ file: "a", vocabSize: 300 });
    // @ts-expect-error: a size is a number, or counts beyond what is extended.
    await trainTokenizer({ files: "a", vocabSize: "32k" });
    // @ts-expect-error: a tokenizer has no parts for callers.
    console.log(tokenizer.parts);
  } catch (error) {
    if (error instanceof UserError) console.log(error.hint?.length, error.exitCode);
  }
  return bytes.length + (left?.length ?? 0) + tokenizer.size;
}
