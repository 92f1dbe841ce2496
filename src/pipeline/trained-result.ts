import { checkArgument, checkOptions, pathArgument, textsArgument } from "../bytes/schema.ts";
import { usageError } from "../errors.ts";
import { takeLockNow } from "../store/output-lock.ts";
import { placeOf } from "../store/output-place.ts";
import { checkOutputDirectory } from "../store/staged-directory.ts";
import type { TokenizerParts } from "../tokenizer/tokenizer-parts.ts";
import { formats } from "../vocabulary/formats/formats.ts";
import { recordName } from "../vocabulary/formats/training-json.ts";
import { copyTokenBytes } from "../vocabulary/token-bytes.ts";
import { Tokenizer } from "./tokenizer.ts";
import { type Result, resultFiles, writeResult } from "./write-result.ts";

/** Which files of a tokenizer are made. */
export type SaveOptions = {
  /** Names of formats: `huggingface`, `gpt2`, `tiktoken`. Default: all that can hold the tokenizer. */
  readonly formats?: readonly string[] | undefined;
};

/** What was counted and learned in a training. */
export type TrainingStatistics = {
  /** Pretokens of the corpus. */
  readonly wordCount: number;
  readonly distinctWordCount: number;
  readonly mergeCount: number;
  /** Bytes of all pretokens. */
  readonly byteCount: number;
  /** How many tokens they are, when all merges are made. */
  readonly tokenCount: number;
  readonly countMs: number;
  readonly mergeMs: number;
};

/** A tokenizer that was just trained. It is in memory, and written where and when it is wanted. */
export class TrainedTokenizer extends Tokenizer {
  /** @internal */
  constructor(
    parts: TokenizerParts,
    private readonly result: Result,
  ) {
    super(parts);
  }

  get statistics(): TrainingStatistics {
    const { vocabulary, ledger, pretokenCount, distinctWordCount, countMs, mergeMs } = this.result.trained;
    const { mergeCount } = vocabulary;
    const [byteCount, tokenCount] = [ledger.tokensAfter[0]!, ledger.tokensAfter[mergeCount]!];
    return {
      wordCount: pretokenCount,
      distinctWordCount,
      mergeCount,
      byteCount,
      tokenCount,
      countMs,
      mergeMs,
    };
  }

  /** The merges in the order in which they were learned: the bytes of the two tokens of each. */
  get merges(): [left: Uint8Array, right: Uint8Array][] {
    const { mergeCount, left, right, tokenBytes } = this.result.trained.vocabulary;
    return Array.from({ length: mergeCount }, (_, m) => [
      copyTokenBytes(tokenBytes, left[m]!),
      copyTokenBytes(tokenBytes, right[m]!),
    ]);
  }

  /** The files of the tokenizer, by name, as `save` would write them: `tokenizer.json`, `vocab.json`, … */
  files(options: SaveOptions = {}): Map<string, Uint8Array> {
    const made = resultFiles(this.asked("files", options), noRecord);
    const files = made.filter(({ name }) => name !== recordName);
    return new Map(files.map(({ name, chunks }) => [name, joined(chunks())]));
  }

  /**
   * Writes the tokenizer's files into a directory, as `bpe train -o` does: as a whole or not at all. The directory may be
   * absent, empty, or the result of an earlier training, which is replaced.
   */
  async save(directory: string, options: SaveOptions = {}): Promise<void> {
    checkArgument("save: directory", directory, pathArgument);
    const result = this.asked("save", options);
    checkOutputDirectory(directory);
    const lock = takeLockNow(placeOf(directory));
    try {
      await writeResult(directory, result);
    } finally {
      lock.release();
    }
  }

  private asked(call: string, options: SaveOptions): Result {
    checkOptions(call, options, { formats: textsArgument });
    const names = formats.map(({ name }) => name);
    for (const name of options.formats ?? []) {
      if (!names.includes(name))
        throw usageError(`${call}: unknown format "${name}"`, `known are ${names.join(", ")}`);
    }
    return { ...this.result, formatNames: options.formats };
  }
}

/** The record is of a result that is written. */
const noRecord = (): never => {
  throw new Error("bug: files in memory have no record");
};

/** A chunk is valid until the next one is asked for. */
function joined(chunks: Iterable<Uint8Array>): Uint8Array {
  const parts = Array.from(chunks, (chunk) => chunk.slice());
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let pos = 0;
  for (const part of parts) {
    bytes.set(part, pos);
    pos += part.length;
  }
  return bytes;
}
