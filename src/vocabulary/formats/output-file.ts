import type { Vocabulary } from "../vocabulary.ts";

/**
 * One file of a tokenizer directory: its name and its bytes, chunk by chunk, so that no file is ever whole in memory.
 * A chunk is valid until the next one is asked for.
 */
export type OutputFile = {
  readonly name: string;
  readonly chunks: () => Iterable<Uint8Array>;
};

/** How HF's files say where text is cut: by its ByteLevel step, or by regular expressions, each cutting the last one's pieces. */
export type ExportForm =
  | { readonly kind: "byte-level" }
  | {
      readonly kind: "splits";
      readonly regexes: readonly string[];
      /** Text may be left between matches, which HF keeps and tiktoken drops. */
      readonly mayLeaveGaps: boolean;
    };

/** What the formats write. */
export type FinishedTokenizer = {
  readonly vocabulary: Vocabulary;
  readonly exportForm: ExportForm;
};
