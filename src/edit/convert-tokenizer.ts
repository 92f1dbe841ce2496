import { join } from "node:path";
import {
  formats,
  loadTokenizerParts,
  nameOf,
  readLikeFrom,
  recordName,
  tokenizerFileOf,
  trainingFile,
} from "#formats";
import { startJob } from "#jobs";
import { exportForm } from "#pattern";
import { asOption, phrase, UserError } from "#runtime";
import { describeCounts, type Guard, noGuard } from "#store";
import {
  allAddedTokens,
  type Derivations,
  deriveTokens,
  type FinishedTokenizer,
  packTokenList,
  refuseCharacters,
  settleModelLike,
  type TokenizerParts,
  tokenBytesOf,
} from "#tokenizer";
import { loadFormats, makeDerivedRecord, publishFiles, selectFiles } from "#training";
import { toSendable } from "./save-tokenizer.ts";
import { checkSameMerges } from "./truncate-vocabulary.ts";
import { vocabularyOf } from "./vocabulary-of.ts";

type Opened = { readonly path: string; readonly parts: TokenizerParts };

/** The job of the thread that converts: a large tokenizer takes seconds without a yield. */
export function convertingJob() {
  let before: TokenizerParts;
  let derived: Derivations;
  return {
    /** Returns the tokenizer in the form for writing. */
    async finish({ path, parts }: Opened): Promise<FinishedTokenizer> {
      refuseCharacters(
        parts,
        "converted",
        "bpe convert --copy copies its files, and bpe image makes an image for programs",
      );
      before = parts;
      const like = await readLikeFrom(path, parts);
      const { patternName: name, patternSources: sources } = parts.description;
      derived = deriveTokens(parts);
      const specials = like.specialTokens.map(({ content }) => content);
      return {
        vocabulary: vocabularyOf(parts, derived),
        normalization: parts.normalization,
        exportForm: exportForm({ name: name ?? nameOf(sources), sources }),
        model: settleModelLike(like, specials, {}),
        like,
      };
    },
    /** Loads what was written, and compares it with the original tokenizer. */
    async check({ directory, names }: { readonly directory: string; readonly names: readonly string[] }) {
      for (const { name, names: sets } of formats) {
        const file = sets[0]?.[0];
        if (file === undefined || !names.includes(file)) continue;
        checkSame(before, await loadTokenizerParts(join(directory, file)), derived, name);
      }
    },
  };
}

/** Throws a UserError if the files of a format would give other ids than the original ones. */
function checkSame(
  before: TokenizerParts,
  after: TokenizerParts,
  derived: Derivations,
  format: string,
): void {
  const refuse = (what: string): never => {
    throw new UserError(`"${before.description.path}" cannot be converted to ${format}: ${what}`, {
      hint: phrase`choose other formats with ${asOption("format")}`,
    });
  };
  const limit = Math.max(before.tokens.idLimit, after.tokens.idLimit);
  for (let id = 0; id < limit; id++) {
    const isSame = Buffer.compare(tokenBytesOf(before.tokens, id), tokenBytesOf(after.tokens, id)) === 0;
    if (!isSame) refuse(`id ${id} would become a different token`);
  }
  const idsOf = (parts: TokenizerParts) =>
    JSON.stringify(
      allAddedTokens(parts)
        .map(({ id, content }) => [id, content])
        .sort(),
    );
  if (idsOf(before) !== idsOf(after)) refuse("its special tokens would have other ids");
  checkSameMerges(comparable(before), comparable(after), derived, refuse);
}

/** Returns the parts to compare: special tokens are treated alike, whether or not they are found in a text. */
function comparable(parts: TokenizerParts): TokenizerParts {
  const { wholeTokens } = parts.model;
  const added = new Set(allAddedTokens(parts).map(({ content }) => content));
  // Added tokens are cut out of a text before it is split into pretokens, so no pretoken equals one.
  const wholes = Array.from(wholeTokens?.ids ?? [], (id, t): [number, Uint8Array] => [
    id,
    wholeTokens!.bytes.subarray(wholeTokens!.starts[t]!, wholeTokens!.starts[t + 1]!),
  ]).filter(([, bytes]) => !added.has(Buffer.from(bytes).toString()));
  return {
    ...parts,
    model: { ...parts.model, wholeTokens: packTokenList(wholes) },
    addedTokens: allAddedTokens(parts),
    controlTokens: [],
  };
}

export type Conversion = Opened & {
  /** The requested formats; undefined: all that can hold the tokenizer. */
  readonly formatNames: readonly string[] | undefined;
  readonly output: string;
  readonly command: string;
  readonly arguments: readonly string[];
  readonly startMs: number;
  readonly guard?: Guard;
};

/** Writes a tokenizer in other formats. Before the files are published, they are loaded and compared. */
export async function convertTokenizer(options: Conversion) {
  const { path, parts, formatNames, output, guard = noGuard } = options;
  const thread = startJob<ReturnType<typeof convertingJob>>("converting");
  try {
    const tokenizer = await thread.ask("finish", { path, parts: toSendable(parts) });
    const files = selectFiles(await loadFormats(), formatNames, tokenizer);
    const names = [...files.map(({ name }) => name), recordName];
    const { paths } = tokenizerFileOf(path);
    const source = await describeCounts(paths);
    const { specialTokens, specialIds } = tokenizer.vocabulary;
    const record = () =>
      makeDerivedRecord({ ...options, basePath: paths[0]! }, { converted: { tokenizer: source } }, names, {
        vocabSize: parts.tokens.tokenCount,
        specialTokens,
        specialIds: [...specialIds],
      });
    const check = (directory: string) => thread.ask("check", { directory, names });
    await publishFiles(output, [...files, trainingFile(record)], { guard, check });
    return { size: parts.tokens.tokenCount, files: names };
  } finally {
    thread.end();
  }
}
