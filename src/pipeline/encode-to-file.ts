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
  /** The path. Its ending, `.npy` or `.bin`, is the format. */
  readonly output: string;
  readonly type: IdType;
  /** An id to be written after each text. */
  readonly appendId?: number | undefined;
  readonly report: (progress: EncodeProgress) => void;
  /** Registers `discard` to run if the process stops, and returns a function that unregisters it. */
  readonly onStop?: (discard: () => void) => () => void;
};

export type EncodedFile = EncodedText & { readonly idCount: number };

export const isIdFileName = (path: string) => /\.(npy|bin)$/.test(path);

/** Encodes the inputs into one file. It appears under its name when it is complete. */
export async function encodeToFile(options: EncodeToFileOptions): Promise<EncodedFile> {
  const { output, type, report, onStop } = options;
  const staged = stageFile(output);
  const unregister = onStop?.(() => staged.discard());
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
    unregister?.();
  }
}

export const withAppended = (writer: IdWriter, appendId: number | undefined) =>
  appendId === undefined ? writer : appending(writer, appendId);

const writerFor = (path: string, type: IdType, out: ByteSink): IdWriter =>
  path.endsWith(".npy") ? new NpyWriter(out, type) : new BinaryWriter(out, type);
