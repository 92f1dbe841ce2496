import { join } from "node:path";
import { bytesOf } from "#bytes";
import {
  type FinishedTokenizer,
  finishCharacters,
  formats,
  readLikeFrom,
  recordedFiles,
  tokenizerFiles,
  trainingRecords,
} from "#formats";
import { jobs } from "#jobs";
import { namedPatterns, patternForms } from "#pattern";
import { asOption, phrase, UserError } from "#runtime";
import { stagedFile } from "#store";
import {
  derivation,
  type encodingModels,
  modelSettings,
  TokenBytes,
  type TokenizerParts,
  tokenizers,
  tokenTables,
} from "#tokenizer";
import { chosenFiles, results } from "#training";
import { describeCounts } from "#words";
import { toSendable } from "./save-tokenizer.ts";
import { checkSameMerges } from "./truncate-vocabulary.ts";
import { vocabularyOf } from "./vocabulary-of.ts";

type Opened = { readonly path: string; readonly parts: TokenizerParts };

/**
 * The job that converts. It runs in a thread of its own, because converting a large tokenizer takes seconds without a
 * yield to the event loop.
 */
export function convertingJob() {
  let before: TokenizerParts;
  let derived: derivation.Derivations;
  let finished: FinishedTokenizer | undefined;
  return {
    /** Returns the tokenizer in the form from which formats are written. */
    async finish({ path, parts }: Opened): Promise<FinishedTokenizer> {
      before = parts;
      derived = derivation.derive(parts);
      if (parts.model.beginning !== undefined)
        return (finished = await finishCharacters(path, parts, derived));
      const like = await readLikeFrom(path, parts);
      const { patternName: name, patternSources: sources } = parts.description;
      const specials = like.specialTokens.map(({ content }) => content);
      return {
        vocabulary: vocabularyOf(parts, derived),
        normalization: parts.normalization,
        exportForm: patternForms.exported({ name: name ?? namedPatterns.nameOf(sources), sources }),
        model: modelSettings.settle(like, specials, {}),
        like,
      };
    },
    /** Loads each of the new formats that bpe can read, and compares the tokenizer with the original one. */
    async check({ directory, names }: { readonly directory: string; readonly names: readonly string[] }) {
      for (const { name, names: sets } of formats.all) {
        const file = sets[0]?.[0];
        if (file === undefined || !names.includes(file)) continue;
        const after = await tokenizerFiles.load(join(directory, file));
        checkIds(before, after, name);
        if (finished?.characters) checkSameCharacters(before, after, finished.characters.merges, name);
        else checkSameMerges(comparable(before), comparable(after), derived, refusalOf(before, name));
      }
    },
  };
}

const refusalOf =
  ({ description }: TokenizerParts, format: string) =>
  (what: string): never => {
    throw new UserError(
      `"${description.path}" cannot be converted to ${format}, because the new tokenizer would differ: ${what}`,
      { hint: phrase`choose formats other than ${format} with ${asOption("format")}` },
    );
  };

/** Throws a UserError if a token would get another id. */
function checkIds(before: TokenizerParts, after: TokenizerParts, format: string): void {
  const refuse = refusalOf(before, format);
  // SentencePiece's control pieces are compared only by their names, below. One of them, the unknown piece, decodes to
  // another text than its name, so the bytes of these pieces may differ.
  const hidden = before.model.beginning && before.controlTokens?.map(({ id }) => id);
  const limit = Math.max(before.tokens.idLimit, after.tokens.idLimit);
  for (let id = 0; id < limit; id++) {
    const isSame =
      Buffer.compare(tokenTables.bytesOf(before.tokens, id), tokenTables.bytesOf(after.tokens, id)) === 0;
    if (!isSame && !hidden?.includes(id)) refuse(`the token of id ${id} would change`);
  }
  const idsOf = (parts: TokenizerParts) =>
    JSON.stringify(
      tokenizers
        .allAddedTokens(parts)
        .map(({ id, content }) => [id, content])
        .sort(),
    );
  if (idsOf(before) !== idsOf(after)) refuse("the ids of special tokens would change");
}

/**
 * Throws a UserError if the tokenizer would change in one of these: its merges, the tokens that merging starts from,
 * the spaces that are added or removed at the start of a text, and, if it has no control tokens, its added tokens.
 * Replaces `checkSameMerges` for a tokenizer whose merging begins with characters.
 */
function checkSameCharacters(
  before: TokenizerParts,
  after: TokenizerParts,
  merges: Pick<encodingModels.RankedMerges, "left" | "right">,
  format: string,
): void {
  const refuse = refusalOf(before, format);
  const { left, right } = after.model.merges;
  if (
    Buffer.compare(bytesOf(left), bytesOf(merges.left)) ||
    Buffer.compare(bytesOf(right), bytesOf(merges.right))
  )
    refuse("its merges would change");
  const beginningOf = ({ model, leadingSpaces, addsPrefixSpace }: TokenizerParts) => {
    const { characters, ...others } = model.beginning!;
    const ids = [...characters.ids].sort((a, b) => a - b);
    return JSON.stringify([[...model.byteIds], ids, others, leadingSpaces ?? null, addsPrefixSpace]);
  };
  if (beginningOf(before) !== beginningOf(after)) refuse("the tokens that merging starts from would change");
  const found = ({ addedTokens }: TokenizerParts) =>
    JSON.stringify(addedTokens.toSorted((a, b) => a.id - b.id));
  if (before.controlTokens === undefined && found(before) !== found(after))
    refuse("the text that its added tokens match would change");
}

/**
 * Returns the parts to compare. In them, control tokens count as added tokens, although they are never found in a text.
 */
function comparable(parts: TokenizerParts): TokenizerParts {
  const { wholeTokens } = parts.model;
  const added = new Set(tokenizers.allAddedTokens(parts).map(({ content }) => content));
  // A whole token is what a pretoken of the same bytes becomes without merging. One with the text of an added token is
  // left out: where that text occurs, the added token is found, so the text is never a pretoken.
  const wholes = Array.from(wholeTokens?.ids ?? [], (id, t): [number, Uint8Array] => [
    id,
    wholeTokens!.bytes.subarray(wholeTokens!.starts[t]!, wholeTokens!.starts[t + 1]!),
  ]).filter(([, bytes]) => !added.has(Buffer.from(bytes).toString()));
  return {
    ...parts,
    model: { ...parts.model, wholeTokens: tokenTables.pack(wholes) },
    addedTokens: tokenizers.allAddedTokens(parts),
    controlTokens: [],
  };
}

export type Conversion = Opened & {
  /** The requested formats. If undefined, all that can hold the tokenizer, except those written only on request. */
  readonly formatNames: readonly string[] | undefined;
  readonly output: string;
  readonly command: string;
  readonly arguments: readonly string[];
  readonly startMs: number;
  readonly guard?: stagedFile.Guard;
};

/**
 * Writes a tokenizer in other formats. Before the files are published, those that bpe can load are compared with the
 * original.
 */
export async function convertTokenizer(options: Conversion) {
  const { path, parts, formatNames, output, guard = stagedFile.noGuard } = options;
  const thread = jobs.start<ReturnType<typeof convertingJob>>("converting");
  try {
    const { vocabulary, ...rest } = await thread.ask("finish", { path, parts: toSendable(parts) });
    const tokenBytes = TokenBytes.received(vocabulary.tokenBytes);
    const tokenizer = { ...rest, vocabulary: { ...vocabulary, tokenBytes } };
    const files = chosenFiles.selectFiles(await chosenFiles.loadFormats(), formatNames, tokenizer);
    const names = [...files.map(({ name }) => name), recordedFiles.recordName];
    const { paths } = tokenizerFiles.fileOf(path);
    const source = await describeCounts(paths);
    const { specialTokens, specialIds } = tokenizer.vocabulary;
    const record = () =>
      results.makeDerivedRecord(
        { ...options, basePath: paths[0]! },
        { converted: { tokenizer: source } },
        names,
        {
          vocabSize: parts.tokens.tokenCount,
          specialTokens,
          specialIds: [...specialIds],
        },
      );
    const check = (directory: string) => thread.ask("check", { directory, names });
    await results.publishFiles(output, [...files, trainingRecords.file(record)], { guard, check });
    const llamaControls = tokenizer.characters?.llamaControls ?? [];
    return { size: parts.tokens.tokenCount, files: names, llamaControls };
  } finally {
    thread.end();
  }
}
