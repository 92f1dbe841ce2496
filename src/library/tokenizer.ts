import { fileURLToPath } from "node:url";
import { argument, schema } from "#bytes";
import { corpusInputs, type InputFormat, inputSearch } from "#corpus";
import { corpusEncoding } from "#encoding";
import { recordFiles, tokenizerFiles } from "#formats";
import { idWriters } from "#ids";
import type { stageProgress } from "#jobs";
import { compiledPatterns } from "#pattern";
import { machine, type messages, UserError, usageError } from "#runtime";
import { outputLock, stagedFile, writtenPlaces } from "#store";
import { fingerprints, tokenizers } from "#tokenizer";
import { BatchThreads } from "./batch-threads.ts";
import {
  callbackArgument,
  numberArgument,
  pathArgument,
  pathsArgument,
  signalArgument,
  textArgument,
  wordOf,
} from "./check-arguments.ts";
import { engineRefusal } from "./engine-errors.ts";
import { type FetchOptions, fetchTokenizer, isUrl } from "./fetch-tokenizer.ts";
import { explainOtherNames } from "./other-names.ts";
import { batchWithIdsAround, type EncodedBatch, idsAround } from "./special-ids.ts";
import {
  type EncodeModelOptions,
  type EncodeOptions,
  encodeModelOptionKinds,
  encodeOptionKinds,
  partsOfJson,
  readTexts,
  TextTokenizer,
} from "./text-tokenizer.ts";

/** Settings that files of some formats do not state, and a signal for fetching a file by its URL. */
export type TokenizerLoadOptions = {
  /** For files that do not state their pattern: a name (`cl100k`) or a regular expression. */
  readonly pattern?: string | undefined;
  /** For files that do not state their special tokens: ids by text. */
  readonly specialTokens?: Readonly<Record<string, number>> | undefined;
} & FetchOptions;

/** Options for encoding texts on threads. */
export type EncodeBatchAsyncOptions = EncodeModelOptions & {
  /** Maximum number of threads. Default: one for each processor that the process may use. */
  readonly workers?: number | undefined;
  /** Ends the encoding, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
};

/** Options for encoding files into a file of ids. */
export type EncodeFileOptions = EncodeOptions & {
  /** Number of threads, including this one. Default: 1. */
  readonly workers?: number | undefined;
  /** The type of the ids. Default: uint16 if every id of the tokenizer fits. */
  readonly dtype?: "uint16" | "uint32" | undefined;
  /** The format of the files. Default: by name and content, or as in the training. */
  readonly inputFormat?: InputFormat | undefined;
  /**
   * The field, or column, that has the text of a record. Default: `text`. Without `inputFormat`, the field of the
   * training is tried, too, in files that are not named as JSON lines or Parquet.
   */
  readonly textField?: string | undefined;
  /**
   * `text`: read files that are not text (images, archives) as text. Default: throw an error; in a directory,
   * skip them.
   */
  readonly binary?: "text" | undefined;
  /** A special token to append to each file, or to each of its records. */
  readonly appendToken?: string | undefined;
  /** Aborts the encoding. The call then rejects with the signal's reason, some 0.1 s later, and leaves no files. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called with the progress. `bytesTotal` is null if it is unknown because of a stream. If the function
   * throws, encoding ends with that error.
   */
  readonly onProgress?: ((bytesDone: number, bytesTotal: number | null) => void) | undefined;
};

/**
 * A byte-level BPE tokenizer. It gives exactly the ids of the program that wrote its files.
 *
 * ```ts
 * const tokenizer = await Tokenizer.load("tokenizer");
 * const ids = tokenizer.encode("some text<|endoftext|>");
 * const text = tokenizer.decode(ids);
 * ```
 */
export class Tokenizer extends TextTokenizer {
  private batchThreads: BatchThreads | undefined;

  /**
   * Loads a directory that `bpe train` wrote, HF's `tokenizer.json`, GPT-2's `vocab.json` with `merges.txt`, tiktoken's
   * rank file, Mistral's `tekken.json` or SentencePiece's `tokenizer.model`. A string is a path, and a `file:` URL is
   * read like one. Any other URL is fetched, and must be that of a `tokenizer.json`. Anything that cannot be reproduced
   * exactly is refused with an error that names it.
   */
  static override async load(path: string | URL, options: TokenizerLoadOptions = {}): Promise<Tokenizer> {
    if (!isUrl(path)) return Tokenizer.loadPath(path, options);
    if (path.protocol === "file:") return Tokenizer.loadPath(fileURLToPath(path.href), options);
    return new Tokenizer(await fetchTokenizer("Tokenizer.load", path, options as FetchOptions));
  }

  private static async loadPath(path: string, options: TokenizerLoadOptions): Promise<Tokenizer> {
    argument.check("Tokenizer.load: path", path, pathArgument);
    checkNoAddress(path);
    const asked = argument.checkOptions("Tokenizer.load", options, loadOptionKinds);
    asked.signal?.throwIfAborted();
    const specialTokens: tokenizers.SpecialTokenOption[] = Object.entries(asked.specialTokens ?? {}).map(
      ([text, id]) => {
        if (Number.isSafeInteger(id) && id >= 0) return { text, id };
        throw usageError(
          `Tokenizer.load: the id of the special token "${text}" ${schema.describeMismatch(id, "a whole number of 0 or more")}`,
        );
      },
    );
    try {
      const pattern = asked.pattern === undefined ? undefined : compiledPatterns.resolve(asked.pattern);
      return new Tokenizer(await tokenizerFiles.load(path, { pattern, specialTokens }));
    } catch (error) {
      throw UserError.respell(engineRefusal(error) ?? error, spellOption);
    }
  }

  /** The same as `load`, by its name in HF's packages. */
  static fromFile(path: string | URL, options: TokenizerLoadOptions = {}): Promise<Tokenizer> {
    return Tokenizer.load(path, options);
  }

  /**
   * Always throws an error that says how to get the files: this library does not find models by their names on a hub.
   */
  static from_pretrained(name: string): never {
    throw usageError(
      `Tokenizer.from_pretrained: this library cannot load a model by name`,
      `run hf download ${name} --include '*token*' --local-dir DIR, then call Tokenizer.load("DIR")`,
    );
  }

  /**
   * Makes a tokenizer from the content of a `tokenizer.json` (HF's format, which training also writes): text,
   * bytes, or the result of `JSON.parse`. Anything that cannot be reproduced exactly is refused with a
   * {@link UserError} that names it.
   */
  static override from(json: string | Uint8Array | object): Tokenizer {
    return new Tokenizer(partsOfJson(json));
  }

  /**
   * Like `encodeBatch`, but on other threads, so that the event loop is not blocked. Threads start when
   * a call needs them. They end after ten idle seconds, after an error, or with `dispose`.
   */
  async encodeBatchAsync(
    texts: readonly (string | Uint8Array)[],
    options: EncodeBatchAsyncOptions = {},
  ): Promise<EncodedBatch> {
    const call = "encodeBatchAsync";
    const asked = argument.checkOptions(call, options, encodeBatchAsyncOptionKinds);
    const given = readTexts(call, texts);
    const { workers = machine.allowedCores(), signal } = asked;
    checkWorkers(call, workers);
    signal?.throwIfAborted();
    const around = asked.addSpecialTokens ? idsAround(this.parts) : undefined;
    this.memory.refuseDisposed();
    this.batchThreads ??= new BatchThreads(this.parts);
    const batch = await this.batchThreads.encode(
      given,
      this.readsSpecialTokensAsText(asked),
      workers,
      signal,
    );
    return around === undefined ? batch : batchWithIdsAround(batch, around);
  }

  override dispose(): void {
    super.dispose();
    this.batchThreads?.end();
  }

  /**
   * A digest of the ids of a fixed text. Two tokenizers with the same fingerprint encode that text alike,
   * whatever program runs them. `bpe help docs/doctor.md` says how other programs compute it.
   */
  get fingerprint(): string {
    return fingerprints.ofBehavior(this.parts);
  }

  /**
   * Encodes files, in order, into one `.npy` or `.bin` file of ids, like `bpe encode`. Memory is bounded, the
   * file appears only when it is complete, and only one run at a time may write it. Returns the number of
   * ids.
   */
  async encodeFile(
    files: string | readonly string[],
    output: string,
    options: EncodeFileOptions = {},
  ): Promise<number> {
    argument.check("encodeFile: files", files, pathsArgument);
    argument.check("encodeFile: output", output, pathArgument);
    const asked = argument.checkOptions("encodeFile", options, encodeFileOptionKinds);
    const { workers = 1, signal, onProgress } = asked;
    signal?.throwIfAborted();
    checkWorkers("encodeFile", workers);
    idWriters.checkFileName(output, `encodeFile: output "${output}"`, "end the name in .npy or .bin");
    const { path } = this.parts.description;
    stagedFile.checkOutputFile(output);
    const place = stagedFile.placeOfFile(output);
    const lock = place === null ? null : outputLock.takeNow(place);
    try {
      const inputs = inputSearch.findInputs([files].flat(), {
        inputFormat: asked.inputFormat,
        textField: asked.textField,
        // A tokenizer made in memory has no record next to it.
        trained: path === "" ? undefined : recordFiles.readReading([path]),
        binary: asked.binary,
      });
      new writtenPlaces.WrittenPlaces([
        { name: `output "${output}"`, path: output, kind: "file" },
      ]).refuseOverlap(inputs);
      const encoding = {
        inputs,
        parts: { ...this.parts, specialTokensAsText: asked.specialTokensAsText ?? false },
        workerCount: workers,
        type: idWriters.typeFor(this.parts, asked.dtype),
        appendId:
          asked.appendToken === undefined
            ? undefined
            : tokenizers.specialTokenId(this.parts, asked.appendToken),
        report: ({ bytesDone, bytesTotal }: stageProgress.EncodeProgress) => {
          signal?.throwIfAborted();
          onProgress?.(bytesDone, bytesTotal);
        },
      };
      return (
        await stagedFile.write(output, stagedFile.noGuard, (file) =>
          corpusEncoding.encodeInto(output, file, encoding),
        )
      ).idCount;
    } catch (error) {
      throw UserError.respell(error, spellOption);
    } finally {
      lock?.release();
    }
  }
}

explainOtherNames(TextTokenizer.prototype);

const keyOfOption = (option: string) =>
  option === "special-token"
    ? "specialTokens"
    : option.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());

/** Names options as `load` and `encodeFile` do: `inputFormat text` for `--input-format text`. */
const spellOption: messages.Spelling = Object.assign(
  ({ option, value }: messages.NamedOption) => {
    const name = keyOfOption(option);
    const [, text, id] = /^'(.*)=(\d+)'$/.exec(value ?? "") ?? [];
    if (id !== undefined) return `${name} { "${text}": ${id} }`;
    return value === undefined ? name : `${name} ${value}`;
  },
  {
    has: (option: string) =>
      [loadOptionKinds, encodeFileOptionKinds].some((kinds) => Object.hasOwn(kinds, keyOfOption(option))),
  },
);

/** Throws an error for a string that begins like an HTTP URL, because a string is read as a path. */
function checkNoAddress(path: string): void {
  if (!/^https?:\/\//.test(path)) return;
  throw usageError(
    `Tokenizer.load: "${path}" is a URL, but a string is read as a path`,
    `to fetch it, call Tokenizer.load(new URL("${path}"))`,
  );
}

const loadOptionKinds = {
  pattern: textArgument,
  specialTokens: argument.plainObject,
  signal: signalArgument,
};

function checkWorkers(call: string, workers: number): void {
  if (Number.isSafeInteger(workers) && workers >= 1) return;
  throw usageError(`${call}: workers is ${workers}, but must be a whole number of 1 or more`);
}

const encodeBatchAsyncOptionKinds = {
  ...encodeModelOptionKinds,
  workers: numberArgument,
  signal: signalArgument,
};

const encodeFileOptionKinds = {
  ...encodeOptionKinds,
  workers: numberArgument,
  dtype: wordOf(["uint16", "uint32"]),
  inputFormat: wordOf(corpusInputs.inputFormats),
  textField: textArgument,
  binary: wordOf(["text"]),
  appendToken: textArgument,
  signal: signalArgument,
  onProgress: callbackArgument,
};
