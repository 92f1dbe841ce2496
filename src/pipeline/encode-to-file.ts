import { stageFile } from "../store/staged-file.ts";
import {
  appending,
  BinaryWriter,
  type ByteSink,
  type IdWriter,
  NpyWriter,
} from "../tokenizer/id-files/id-writers.ts";
import type { IdType } from "../tokenizer/id-files/npy.ts";
import { type EncodeCorpusOptions, type EncodeProgress, encodeCorpus } from "./encode-corpus.ts";
import type { EncodedText } from "./task-encoder.ts";

export type EncodeToFileOptions = EncodeCorpusOptions & {
  /** Its ending, `.npy` or `.bin`, is its format. */
  readonly output: string;
  readonly type: IdType;
  /** Goes behind each input. */
  readonly appendId?: number | undefined;
  readonly report: (progress: EncodeProgress) => void;
  /** Given how to take everything back if the run is stopped; returns how to call that off. */
  readonly onStop?: (discard: () => void) => () => void;
};

export type EncodedFile = EncodedText & { readonly idCount: number };

export const isIdFileName = (path: string) => /\.(npy|bin)$/.test(path);

/** Encodes the inputs into one file, which appears under its name when it is whole. */
export async function encodeToFile(options: EncodeToFileOptions): Promise<EncodedFile> {
  const { output, type, report, onStop } = options;
  const staged = stageFile(output);
  const forget = onStop?.(() => staged.discard());
  try {
    const writer = writerFor(output, type, staged);
    const encoded = await encodeCorpus(options, withAppended(writer, options.appendId), report);
    writer.finish();
    await staged.settle();
    staged.publish();
    return { ...encoded, idCount: writer.idCount };
  } catch (error) {
    staged.discard();
    throw error;
  } finally {
    forget?.();
  }
}

export const withAppended = (writer: IdWriter, appendId: number | undefined) =>
  appendId === undefined ? writer : appending(writer, appendId);

const writerFor = (path: string, type: IdType, out: ByteSink): IdWriter =>
  path.endsWith(".npy") ? new NpyWriter(out, type) : new BinaryWriter(out, type);
