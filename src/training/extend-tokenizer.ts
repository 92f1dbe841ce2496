import { basename, join, normalize } from "node:path";
import {
  baseFiles,
  companionFiles,
  newMergeLines,
  outputFiles,
  recordFiles,
  type trainingRecords,
} from "#formats";
import { loadInWorker } from "#jobs";
import { extending, type learning } from "#merge";
import type { RequestedTraining } from "#options";
import { compiledPatterns } from "#pattern";
import {
  asOption,
  type Message,
  messages,
  phrase,
  runSliced,
  UserError,
  usageError,
  yieldToEventLoop,
} from "#runtime";
import type { AddedToken } from "#text";
import {
  changes,
  fingerprints,
  type TokenizerParts,
  tokenizers,
  tokenKeys,
  tokenTables,
  vocabularies,
} from "#tokenizer";
import type { Base } from "./training.ts";
import { corpusFacts, otherSettings, type Product, patternRecord, type Result } from "./write-result.ts";

type Warn = (message: Message) => void;

type AskedBase = Pick<RequestedTraining, "pattern" | "rename"> & {
  readonly extend: string;
};

/** Opens a tokenizer to extend, with its training record. `pattern` is for files that do not state one. */
export async function openBase(asked: AskedBase, warn: Warn) {
  const path = asked.extend;
  const renamed = asked.rename ?? {};
  const pattern = asked.pattern === undefined ? undefined : compiledPatterns.resolve(asked.pattern);
  const loaded = await loadInWorker({ path, options: { pattern, use: "base" }, isDecoded: true });
  for (const note of loaded.notes) warn(note);
  checkBase(loaded);
  await yieldToEventLoop();
  const files = await baseFiles.readBase(path);
  for (const { path } of files.sources.slice(1)) {
    tokenizers.checkSame(loaded, await loadInWorker({ path, options: { pattern }, isDecoded: false }));
  }
  await yieldToEventLoop();
  const recorded = recordFiles.find(files.sources.flatMap(({ paths }) => paths));
  return renameBase({ parts: extending.withKeyBytes(loaded), files, recorded }, renamed);
}

type OpenedBase = {
  readonly parts: TokenizerParts;
  readonly files: baseFiles.BaseFiles;
  readonly recorded: recordFiles.RecordedTraining | undefined;
};

/**
 * Renames special tokens of the base. Returns the base with a function that looks up tokens by their keys, and one that
 * finds the merges of seed tokens.
 */
function renameBase(opened: OpenedBase, renamed: Readonly<Record<string, string>>) {
  const names = new Map(Object.entries(renamed));
  const oldKeys = names.size === 0 ? undefined : tokenKeys.idsOf(opened.parts);
  for (const [before, after] of names) checkRename(opened.parts, { oldKeys: oldKeys!, names }, before, after);
  const parts = names.size === 0 ? opened.parts : extending.renameSpecialTokens(opened.parts, names);
  let keys: ReadonlyMap<string, number> | undefined;
  const lazyKeys = () => {
    keys ??= tokenKeys.idsOf(parts);
    return keys;
  };
  const { recorded } = opened;
  const nameOf = (text: string) => names.get(text) ?? text;
  return {
    parts,
    renamed,
    readFiles: opened.files,
    files: names.size === 0 ? opened.files : renameInFiles(opened.files, names),
    recorded: recorded && {
      ...recorded,
      specialTokens: recorded.specialTokens.map(nameOf),
      // A renamed token is no longer a reserved one.
      reservedTokens: recorded.reservedTokens.filter((text) => !names.has(text)),
    },
    idOfKey: (key: string) => lazyKeys().get(key),
    makeSeeds: (seeds: readonly string[]) =>
      extending.findSeedMerges(parts, seeds.length === 0 ? new Map() : lazyKeys(), seeds),
  };
}

/** Renames special tokens in the files, and changes nothing else. */
const renameInFiles = (
  { sources, companions }: baseFiles.BaseFiles,
  names: companionFiles.Names,
): baseFiles.BaseFiles => ({
  sources: sources.map((source) => ({
    ...source,
    files: source.code.rename!(source.files, names),
  })),
  companions: companions.map((file) => companionFiles.rename(file, names)),
});

function checkRename(
  parts: TokenizerParts,
  { oldKeys, names }: { readonly oldKeys: ReadonlyMap<string, number>; readonly names: companionFiles.Names },
  before: string,
  after: string,
): void {
  const refuse = (what: string, hint: Message) => {
    throw usageError(`"${before}" cannot be renamed: ${what}`, hint);
  };
  const token = tokenizers.allAddedTokens(parts).find(({ content }) => content === before);
  const some = tokenizers
    .allAddedTokens(parts)
    .filter(({ special }) => special)
    .slice(0, 5);
  if (token === undefined || !token.special) {
    const listed = some.map(({ content }) => content).join(" ");
    refuse(
      "the base has no such special token",
      some.length === 0
        ? phrase`leave out ${asOption("rename")}: the base has no special tokens`
        : `rename a special token that the base has, e.g. ${listed}`,
    );
  }
  const bytes = tokenTables.bytesOf(parts.tokens, token!.id);
  if (Buffer.from(bytes).toString() !== before || parts.model.merges.merged.includes(token!.id))
    refuse("it is also a learned token", phrase`leave it out of ${asOption("rename")}`);
  vocabularies.checkSpecialTokens([after], "cs336");
  const id = oldKeys.get(after);
  if (id !== undefined)
    refuse(`"${after}" is already token ${id} of the base`, `choose another new name for "${before}"`);
  if ([...names.values()].filter((text) => text === after).length > 1)
    refuse(`another token is renamed to "${after}", too`, "give each token a new name of its own");
}

function checkBase(parts: TokenizerParts): void {
  const { model, tokens, description } = parts;
  changes.refuseCharacters(parts, "extended", "train a tokenizer of your own, or extend a byte-level one");
  if (tokenTables.haveAllBytes(model.byteIds, tokens)) return;
  throw new UserError(
    `"${description.path}" cannot be extended: its vocabulary lacks tokens for some bytes`,
    {
      hint: "extend a tokenizer that has a token for each byte",
    },
  );
}

export async function extensionProduct(
  result: Result<learning.Extended>,
  base: Base,
  warn: Warn,
): Promise<Product<trainingRecords.FieldsOf<trainingRecords.Extension>>> {
  const { training, trained } = result;
  const { parts } = base;
  const { extensions } = trained;
  const allSizes = [...training.smallerSizes, training.vocabSize];
  const bytesPerToken = (tokenCount: number) =>
    tokenCount === 0 ? null : trained.pretokenBytes / tokenCount;
  const baseFiles: baseFiles.BaseFiles[] = [];
  for (const extension of extensions) {
    const files = await filesThatCanHold(base, extension, warn);
    checkSpecials(base, files, extension);
    baseFiles.push(files);
  }
  const facts = new Map(
    filesIn(base.readFiles).map(({ path, bytes }) => [
      path,
      { path: normalize(path), sizeBytes: bytes.length, sha256: outputFiles.sha256Of([bytes]) },
    ]),
  );
  return {
    sizes: allSizes,
    filesOf(index) {
      const { sources, companions } = baseFiles[index]!;
      return [
        ...sources.flatMap(({ code, files }) => code.extend!(files, parts, extensions[index]!)),
        ...companionFiles.extend(companions, changes.newSpecials(extensions[index]!)),
      ];
    },
    fieldsOf(index, sizes) {
      const { idLimit, merges, reservedTokens } = extensions[index]!;
      const special = [...tokenizers.allAddedTokens(parts), ...changes.newSpecials(extensions[index]!)];
      return {
        base: {
          path: base.path,
          kind: parts.description.kind,
          files: filesIn(baseFiles[index]!).map(({ path }) => facts.get(path)!),
          vocabSize: parts.tokens.idLimit,
          bytesPerToken: bytesPerToken(trained.tokenCountBefore),
        },
        options: {
          vocabSize: idLimit,
          newTokens: allSizes[index]! - parts.tokens.idLimit,
          ...(sizes && { sizes }),
          specialTokens: special.map(({ content }) => content),
          specialIds: special.map(({ id }) => id),
          normalization: parts.normalization,
          padTo: training.padTo,
          reservedTokens: [...base.reservedTokens, ...reservedTokens.map(({ content }) => content)],
          documentsEndAt: training.specialTokens,
          pattern: patternRecord(training.pattern),
          compat: base.rule,
          ...otherSettings(training),
          ...(Object.keys(base.renamed).length > 0 && { rename: base.renamed }),
          workers: result.corpus.workerCount,
        },
        ...corpusFacts(result),
        mergeCount: merges.left.length,
        fingerprint: fingerprints.ofBehavior(extendedParts(base, baseFiles[index]!, extensions[index]!)),
        bytesPerToken: bytesPerToken(trained.tokenCounts[index]!),
      };
    },
    mergesSha256Of: (index) => outputFiles.sha256Of([newMergeLines(parts, extensions[index]!)]),
  };
}

/**
 * Extends the base's files in the first of its formats, and returns the tokenizer that reading them gives. Its pattern
 * and its normalization are the base's. Its added tokens are those of the base and the new ones.
 */
function extendedParts(
  { parts }: Base,
  { sources }: baseFiles.BaseFiles,
  extension: changes.Extension,
): TokenizerParts {
  const { code, files, format } = sources[0]!;
  const made = code.extend!(files, parts, extension).map(({ chunks }, i) => ({
    // There is no training record next to this path. The base's record must not be read: it may have the old texts of
    // special tokens that were renamed.
    path: join(files[i]!.path, basename(files[i]!.path)),
    bytes: Buffer.concat(Array.from(chunks(), (chunk) => chunk.slice())),
  }));
  const addedTokens = [...parts.addedTokens, ...changes.newSpecials(extension)];
  const { pattern, normalization, addsPrefixSpace, description } = parts;
  const resolved = { name: description.patternName, sources: description.patternSources, compiled: pattern };
  // Files of these formats state neither a pattern nor which tokens are special.
  const isBare = format.name === "gpt2" || format.name === "tiktoken";
  const options = isBare
    ? { pattern: resolved, specialTokens: addedTokens.map(({ content, id }) => ({ text: content, id })) }
    : {};
  const read = code.read(made as unknown as typeof files, options);
  return { ...read, pattern, normalization, addsPrefixSpace, addedTokens };
}

/**
 * If special tokens were added or renamed, reads the new `tokenizer.json`, if there is one, as HF would. Throws a
 * UserError if its added tokens, their ids or its post-processor are not the intended ones.
 */
function checkSpecials(
  { parts, renamed }: Base,
  { sources }: baseFiles.BaseFiles,
  extension: changes.Extension,
): void {
  const added = changes.newSpecials(extension);
  if (added.length === 0 && Object.keys(renamed).length === 0) return;
  for (const { code, files, format } of sources) {
    if (format.name !== "huggingface") continue;
    const [made] = code.extend!(files, parts, extension);
    const bytes = Buffer.concat(Array.from(made!.chunks(), (chunk) => chunk.slice()));
    const read = code.read([{ ...files[0], bytes }], {});
    const idsOf = (tokens: readonly AddedToken[]) =>
      JSON.stringify(tokens.map(({ content, id }) => [content, id]));
    const hasIds =
      idsOf(tokenizers.allAddedTokens(read)) === idsOf([...tokenizers.allAddedTokens(parts), ...added]);
    if (hasIds && JSON.stringify(read.postProcessing) === JSON.stringify(parts.postProcessing)) continue;
    const wrong = hasIds ? "another post-processor than the base has" : "other ids for them than bpe gives";
    const given = [
      ...(added.length > 0 ? [asOption("special-token")] : []),
      ...(Object.keys(renamed).length > 0 ? [asOption("rename")] : []),
    ];
    throw new UserError(
      `"${files[0].path}" cannot be extended with these special tokens: HF tokenizers would read ${wrong}`,
      {
        hint: phrase`give the values of ${messages.joined(given, " and ")} one at a time to find the one that causes this, and change it`,
      },
    );
  }
}

const filesIn = ({ sources, companions }: baseFiles.BaseFiles) => [
  ...sources.flatMap(({ files }) => files),
  ...companions,
];

/**
 * Returns the base's files that can hold the result. If a rank file (.tiktoken) cannot, leaves it out with a warning,
 * or throws a UserError if there is no other file.
 */
async function filesThatCanHold(
  { parts, files }: Base,
  extension: changes.Extension,
  warn: Warn,
): Promise<baseFiles.BaseFiles> {
  const ranks = files.sources.find(({ format }) => format.name === "tiktoken");
  const obstacle = ranks === undefined ? null : await runSliced(extending.ranksObstacle(parts, extension));
  if (obstacle === null) return files;
  if (files.sources.length === 1) {
    throw new UserError(`a rank file cannot store the extended tokenizer: ${obstacle}`, {
      hint: "train with fewer new tokens, or make a tokenizer.json with bpe convert, and extend that",
    });
  }
  warn(`${ranks!.files[0].name} is left out: ${obstacle}`);
  return { ...files, sources: files.sources.filter((source) => source !== ranks) };
}
