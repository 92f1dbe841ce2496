import { findInputs } from "../corpus/inputs.ts";
import { encodeCorpus } from "../encode/encode-corpus.ts";
import {
  appending,
  BinaryWriter,
  type ByteSink,
  type IdWriter,
  NpyWriter,
  TextWriter,
} from "../encode/files/id-writers.ts";
import type { IdType } from "../encode/files/npy.ts";
import type { TokenizerParts } from "../encode/tokenizer-parts.ts";
import { UserError } from "../errors.ts";
import { checkOutputFile, stageFile } from "../publish/file.ts";
import { usageError, wholeNumber } from "./arguments.ts";
import type { Output } from "./output.ts";
import { peakMemoryBytes } from "./peak-memory.ts";
import type { Invocation } from "./run.ts";
import { writeStdout } from "./stdout.ts";
import { onStop } from "./stop.ts";
import { idTypeOf, openTokenizer, readTokenizerOptions } from "./tokenizer-options.ts";
import { bytes, counted, grouped, seconds } from "./units.ts";
import { defaultWorkerCount } from "./worker-count.ts";

/** `bpe encode`: the ids of each input, in order, into one file or onto stdout. */
export async function runEncode(invocation: Invocation, output: Output): Promise<void> {
  const startMs = performance.now();
  const options = readOptions(invocation);
  const inputs = findInputs(invocation.files);
  if (options.output !== undefined) checkOutputFile(options.output);
  const parts = openTokenizer(options, output);
  const appendId = options.appendToken === undefined ? undefined : specialId(parts, options.appendToken);
  const sizeBytes = inputs.reduce((sum, input) => sum + input.sizeBytes, 0);
  const workerCount = options.workers ?? defaultWorkerCount(sizeBytes);
  const type = idTypeOf(parts, options.dtype);

  const { specialTokensAsText } = options;
  const { idCount, invalidByteCount } = await writing(options, type, async (writer) => {
    const sink = appendId === undefined ? writer : appending(writer, appendId);
    const corpus = { inputs, parts, specialTokensAsText, workerCount };
    return encodeCorpus(corpus, sink, ({ bytesDone, bytesTotal }) =>
      output.progress({ stage: "encoding", done: bytesDone, total: bytesTotal, unit: "bytes" }),
    );
  });
  if (invalidByteCount > 0) {
    const subject = invalidByteCount === 1 ? "1 byte is" : `${grouped(invalidByteCount)} bytes are`;
    output.warn(`${subject} not valid UTF-8; each was encoded as a pretoken of its own`);
  }
  const elapsedMs = performance.now() - startMs;
  const perToken = idCount === 0 ? "-" : (sizeBytes / idCount).toFixed(3);
  output.succeed(
    `encoded ${bytes(sizeBytes)} to ${counted(idCount, "id")} (${perToken} bytes each) in ${seconds(elapsedMs / 1000)}, ${(sizeBytes / 1e3 / elapsedMs).toFixed(0)} MB/s, ${bytes(peakMemoryBytes())} memory`,
    {
      sizeBytes,
      idCount,
      invalidByteCount,
      dtype: options.output === undefined ? null : type,
      elapsedMs: Math.round(elapsedMs),
      peakMemoryBytes: peakMemoryBytes(),
      output: options.output ?? "-",
    },
  );
}

function readOptions(invocation: Invocation) {
  const { options } = invocation;
  const text = (name: string) => options.get(name)?.[0];
  const path = text("output");
  const workers = text("workers");
  const output = path === undefined || path === "-" ? undefined : path;
  if (output !== undefined && !/\.(npy|bin)$/.test(output)) {
    throw usageError(
      `--output "${output}" ends in neither .npy nor .bin`,
      "name the format by the ending, or leave -o out for decimal ids on stdout",
    );
  }
  const tokenizer = readTokenizerOptions(invocation);
  if (tokenizer.dtype !== undefined && output === undefined) {
    throw usageError("--dtype is for .npy and .bin files", "name one: -o ids.npy");
  }
  return {
    ...tokenizer,
    output,
    workers: workers === undefined ? undefined : wholeNumber("--workers", workers, 1),
    appendToken: text("append-token"),
    specialTokensAsText: options.has("special-tokens-as-text"),
  };
}

function specialId(parts: TokenizerParts, text: string): number {
  const token = parts.addedTokens.find(({ content }) => content === text);
  if (token !== undefined) return token.id;
  const known = parts.addedTokens.map(({ content }) => content);
  const some = known.slice(0, 5).join(" ");
  throw new UserError(`--append-token: the tokenizer has no special token "${text}"`, {
    hint:
      known.length === 0
        ? "it has no special tokens at all"
        : `it has ${some}${known.length > 5 ? ` and ${known.length - 5} more` : ""}`,
  });
}

/** Has ids written to stdout, or to a file that appears under its name when it is whole. */
async function writing(
  { output }: { readonly output: string | undefined },
  type: IdType,
  encode: (writer: IdWriter) => Promise<number>,
) {
  if (output === undefined) {
    const writer = new TextWriter({ write: (chunk) => writeStdout([chunk]) });
    return { invalidByteCount: await encode(writer), idCount: writer.idCount };
  }
  const staged = stageFile(output);
  const forget = onStop(() => staged.discard());
  try {
    const writer = writerFor(output, type, staged);
    const invalidByteCount = await encode(writer);
    writer.finish();
    staged.publish();
    return { invalidByteCount, idCount: writer.idCount };
  } catch (error) {
    staged.discard();
    throw error;
  } finally {
    forget();
  }
}

const writerFor = (path: string, type: IdType, out: ByteSink): IdWriter =>
  path.endsWith(".npy") ? new NpyWriter(out, type) : new BinaryWriter(out, type);
