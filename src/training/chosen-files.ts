import { argument } from "#bytes";
import { type FinishedTokenizer, formats, type outputFiles } from "#formats";
import { patternForms } from "#pattern";
import { asOption, type Message, messages, phrase, UserError, usageError } from "#runtime";
import type { Vocabulary } from "#tokenizer";
import { encodingPatternOf, type Training } from "./training.ts";

/** Options that select which files of a tokenizer are written. */
export type SaveOptions = {
  /**
   * Names of formats, as for `--format`. Default: all that can hold the tokenizer, except those written only on
   * request.
   */
  readonly formats?: readonly string[] | undefined;
};

/** @internal Checks the options of a library call, and returns the names of the formats. */
export function checkFormatNames(call: string, options: SaveOptions): readonly string[] | undefined {
  const { formats: names } = argument.checkOptions(call, options, { formats: argument.texts });
  const unknown = names?.find((name) => !formats.written.includes(name));
  if (unknown === undefined) return names;
  throw usageError(`${call}: unknown format "${unknown}"`, `known are ${formats.written.join(", ")}`);
}

/** @internal Formats that can be written, by name, with their code. */
export type LoadedFormats = ReadonlyMap<
  string,
  outputFiles.TokenizerFormat & Pick<formats.Entry, "isOnRequest" | "names">
>;

/** @internal */
export async function loadFormats(): Promise<LoadedFormats> {
  const written = formats.all.filter((format) => format.written !== undefined);
  return new Map(
    await Promise.all(
      written.map(
        async ({ name, load, names, isOnRequest = false }) =>
          [name, { ...(await load()), names, isOnRequest }] as const,
      ),
    ),
  );
}

/**
 * @internal Returns the tokenizer's files in the named formats. Without names, returns its files in all formats that
 * can hold it, except those written only on request. Throws a UserError if a named format, or every format, cannot hold
 * it.
 */
export function selectFiles(
  formats: LoadedFormats,
  names: readonly string[] | undefined,
  tokenizer: FinishedTokenizer,
): outputFiles.OutputFile[] {
  const refusals: Message[] = [];
  const files = [...formats].flatMap(([name, { writing, isOnRequest }]) => {
    if (names === undefined ? isOnRequest : !names.includes(name)) return [];
    const obstacle = writing!.obstacle(tokenizer);
    if (obstacle === null) return writing!.files(tokenizer);
    refusals.push(phrase`${asOption("format", name)}: ${obstacle}`);
    return [];
  });
  if (names === undefined ? files.length > 0 : refusals.length === 0) return files;
  throw new UserError(messages.joined(refusals, "; "));
}

/**
 * @internal Whether the tokenizer still finds special tokens in a text after it is saved in these formats and loaded
 * again. If there are several formats, the first one in `formats` that can be read is loaded. Without names, returns
 * true.
 */
export function findsSpecialTokens(
  formats: LoadedFormats,
  formatNames: readonly string[] | undefined,
): boolean {
  const loaded = [...formats].find(([name, { names }]) => names.length > 0 && formatNames?.includes(name));
  return loaded?.[1].writing?.hidesSpecialTokens !== true;
}

/** @internal Combines a vocabulary with the settings of its training that files also store. */
export const finishedTokenizer = (training: Training, vocabulary: Vocabulary): FinishedTokenizer => ({
  vocabulary,
  normalization: training.normalization,
  exportForm: patternForms.exported(encodingPatternOf(training)),
  model: training.model,
  like: training.like,
});

/** @internal Returns the bytes of files by name. */
export const fileBytes = (files: readonly outputFiles.OutputFile[]): Map<string, Uint8Array<ArrayBuffer>> =>
  new Map(files.map(({ name, chunks }) => [name, concatenate(chunks())]));

/** Joins chunks, each of which is valid only until the next one is requested. */
function concatenate(chunks: Iterable<Uint8Array>): Uint8Array<ArrayBuffer> {
  const parts = Array.from(chunks, (chunk) => chunk.slice());
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let pos = 0;
  for (const part of parts) {
    bytes.set(part, pos);
    pos += part.length;
  }
  return bytes;
}
