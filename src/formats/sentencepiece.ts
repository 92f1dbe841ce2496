import { type json, showValue } from "#bytes";
import { UserError } from "#runtime";
import { type AddedToken, cuttings } from "#text";
import { modelSettings, type Roles, type TokenizerParts, tokenizers } from "#tokenizer";
import { refuseOptions, scanParsed } from "./assemble-model.ts";
import { assembleCharacterModel, assembleCharacterTokens, cuttingSource, mark } from "./character-json.ts";
import type { SourceFile, SourceFiles, SpelledTokens, TokenizerFormat } from "./output-file.ts";
import { compileSplits } from "./pre-tokenizer.ts";
import type { ScannedModel } from "./scan-tokenizer-json.ts";
import { type Piece, parseSentencePiece, type SentencePieceModel } from "./sentencepiece-proto.ts";

/**
 * Reads SentencePiece's `tokenizer.model`, and refuses it unless it is BPE. The file lists pieces with scores, and no
 * merges: two neighbours may merge if their joined text is a piece. The merge that makes the piece with the highest
 * score is applied first, the leftmost among equal scores.
 */
function read(
  [{ path, bytes }]: SourceFiles,
  options: Parameters<TokenizerFormat["read"]>[1],
): TokenizerParts {
  refuseOptions(path, options);
  const file = parseSentencePiece(bytes, path);
  const { pieces, trainer, normalizer } = file;
  checkSettings(file, path);
  checkPieces(file, path);
  const [unknown] = pieces.filter(({ kind }) => kind === "unknown");
  const runs = findRuns(pieces, path);
  const scanned = scanPieces(pieces, runs, path);
  const settings = {
    unknownToken: unknown!.text,
    byteFallback: trainer.byteFallback,
    fusesUnknown: true,
    hasMarks: true,
  };
  const model = assembleCharacterModel(scanned, settings, path);
  const source = cuttingSource(
    scanned,
    { ...settings, prefix: null, splitsAtMarks: false },
    false,
    runs.length + 1,
  );
  const addedTokens = tokensOf(pieces, "user-defined").filter(({ content }) => !isRun(content));
  const controlTokens = [...tokensOf(pieces, "unknown"), ...tokensOf(pieces, "control")];
  return {
    model,
    pattern: compileSplits([source], path),
    normalization: null,
    addsPrefixSpace: normalizer.addsPrefix,
    ...(normalizer.addsPrefix && { prefixRule: "start", leadingSpaces: "one" }),
    addedTokens,
    controlTokens,
    isNarrow: tokenizers.fitNarrowIds(pieces.length - 1, []),
    tokens: assembleCharacterTokens(scanned.vocab, [], settings, [
      [pieces.indexOf(unknown!), new TextEncoder().encode(trainer.unknownText)],
    ]),
    description: { path, kind: "tokenizer.model", patternName: null, patternSources: [source] },
    notes: [],
  };
}

/** Refuses models and settings with which ids or decoded text would differ from sentencepiece's. */
function checkSettings({ trainer, normalizer, hasDenormalizer }: SentencePieceModel, path: string): void {
  if (trainer.modelType !== "BPE")
    tokenizers.refuse(
      path,
      `it is a SentencePiece model of the type ${trainer.modelType}, not BPE`,
      "use the package sentencepiece for this model",
    );
  const wrong = [
    normalizer.hasRules &&
      `its normalizer ${showValue(normalizer.name)} replaces characters by rules of its own`,
    normalizer.removesSpaces && "remove_extra_whitespaces is true",
    !normalizer.escapesSpaces && "escape_whitespaces is false",
    trainer.marksEnds && "treat_whitespace_as_suffix is true",
    hasDenormalizer && "decoding replaces characters by rules of its own",
  ].find((what) => what !== false);
  if (wrong !== undefined)
    tokenizers.refuse(
      path,
      wrong,
      "bpe reads models that were trained with --normalization_rule_name=identity and --remove_extra_whitespaces=false; the package sentencepiece reads all models",
    );
}

/**
 * Refuses lists of pieces that sentencepiece does not load, and pieces that the kernel would not encode as
 * sentencepiece does, such as one with a space in it.
 */
function checkPieces({ pieces, trainer }: SentencePieceModel, path: string): void {
  const unknownCount = pieces.filter(({ kind }) => kind === "unknown").length;
  if (unknownCount !== 1) tokenizers.refuse(path, `it has ${unknownCount} unknown pieces instead of one`);
  const known = new Set<string>();
  for (const [id, { text, kind, score }] of pieces.entries()) {
    const isFound = kind === "normal" || kind === "unused" || kind === "user-defined";
    const isCharacter = isOneCharacter(text);
    const wrong = [
      text === "" && "which is empty",
      known.has(text) && "which is listed twice",
      !isFound && isCharacter && `a ${kind} piece of one character`,
      isFound && text.includes(" ") && "which contains a space",
      kind === "user-defined" &&
        text.includes(mark) &&
        !isRun(text) &&
        "a user-defined piece that contains a '\u2581'",
      kind === "unused" && !isCharacter && "an unused piece of several characters",
      kind === "byte" && !trainer.byteFallback && "a byte piece, but byte_fallback is false",
      Number.isNaN(score) && "whose score is not a number",
    ].find((what) => what !== false);
    if (wrong !== undefined) tokenizers.refuse(path, `piece ${id} is ${showValue(text)}, ${wrong}`);
    known.add(text);
  }
}

const isRun = (text: string) => /^\u2581{2,}$/.test(text);

/**
 * Returns the ids of the user-defined runs of U+2581: element i is the id of the run of i + 2 marks. SentencePiece
 * finds the longest run at each position, and never merges it with its neighbours. So the pattern cuts each run off
 * from its neighbours, and additional merges (`scanPieces`) make the run.
 */
function findRuns(pieces: readonly Piece[], path: string): number[] {
  const found: number[] = [];
  for (const [id, { text, kind }] of pieces.entries())
    if (kind === "user-defined" && isRun(text)) found[text.length - 2] = id;
  const missing = Array.from(found).findIndex((id) => id === undefined);
  if (missing >= 0)
    tokenizers.refuse(
      path,
      `its user-defined runs of '\u2581' have lengths from 2 to ${found.length + 1}, but none has the length ${missing + 2}`,
    );
  return found;
}

const isOneCharacter = (text: string) => text !== "" && sizeAt(text, 0) === text.length;

const tokensOf = (pieces: readonly Piece[], kind: Piece["kind"]): AddedToken[] =>
  pieces.flatMap(({ text, kind: own }, id) =>
    own === kind ? [{ id, content: text, ...cuttings.plainSpecial, special: kind !== "user-defined" }] : [],
  );

/**
 * Derives the merges: first those that make `runs`, then one for each way to split a normal piece into two normal or
 * unused ones. Refuses a normal piece with a character that is not itself a normal or an unused piece.
 */
function scanPieces(pieces: readonly Piece[], runs: readonly number[], path: string): ScannedModel {
  const ids: Record<string, number> = Object.create(null);
  const halves = new Map<string, number>();
  for (const [id, { text, kind }] of pieces.entries()) {
    ids[text] = id;
    if (kind === "normal" || kind === "unused") halves.set(text, id);
  }
  const merges: { left: number[]; right: number[]; merged: number[] } = { left: [], right: [], merged: [] };
  const firstTied: number[] = [];
  for (const [i, id] of [...runs.entries()].reverse()) {
    merges.left.push(runs[i - 1] ?? halves.get(mark) ?? -1);
    merges.right.push(halves.get(mark) ?? -1);
    merges.merged.push(id);
    firstTied.push(firstTied.length);
  }
  let first = 0;
  let score = Number.NaN;
  for (const piece of pieces.filter(({ kind }) => kind === "normal").sort((a, b) => b.score - a.score)) {
    const { text } = piece;
    if (piece.score !== score) first = firstTied.length;
    score = piece.score;
    for (let at = sizeAt(text, 0); at < text.length; at += sizeAt(text, at)) {
      const [left, right] = [halves.get(text.slice(0, at)), halves.get(text.slice(at))];
      if (left === undefined || right === undefined) continue;
      merges.left.push(left);
      merges.right.push(right);
      merges.merged.push(halves.get(text)!);
      firstTied.push(first);
    }
    for (const character of text)
      if (!halves.has(character))
        tokenizers.refuse(
          path,
          `its piece ${showValue(text)} contains ${showValue(character)}, which is not a normal piece`,
        );
  }
  const { vocab } = scanParsed(ids, [], path);
  const [left, right, merged] = [merges.left, merges.right, merges.merged].map((list) =>
    Int32Array.from(list),
  );
  const areTied = firstTied.some((first, rank) => first !== rank);
  return {
    vocab,
    merges: {
      ...{ left: left!, right: right!, merged: merged! },
      ...(areTied && { firstTied: Int32Array.from(firstTied) }),
    },
  };
}

/** Returns the size of the character at a position in a string, in UTF-16 code units. */
const sizeAt = (text: string, pos: number) => (text.codePointAt(pos)! > 0xffff ? 2 : 1);

/** Returns everything but the vocabulary, merges and added tokens of a `tokenizer.json` that gives the same ids. */
function frame({ path, bytes }: SourceFile): json.JsonObject {
  const { pieces, trainer, normalizer } = parseSentencePiece(bytes, path);
  const replace = (from: string, content: string) => ({
    type: "Replace",
    pattern: { String: from },
    content,
  });
  const prefix = normalizer.addsPrefix ? [{ type: "Prepend", prepend: mark }] : [];
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    normalizer: { type: "Sequence", normalizers: [...prefix, replace(" ", mark)] },
    pre_tokenizer: null,
    post_processor: null,
    decoder: {
      type: "Sequence",
      decoders: [
        replace(mark, " "),
        ...(trainer.byteFallback ? [{ type: "ByteFallback" }] : []),
        { type: "Fuse" },
        ...(normalizer.addsPrefix ? [{ type: "Strip", content: " ", start: 1, stop: 0 }] : []),
      ],
    },
    model: {
      unk_token: pieces.find(({ kind }) => kind === "unknown")!.text,
      fuse_unk: true,
      byte_fallback: trainer.byteFallback,
    },
  };
}

function roles({ path, bytes }: SourceFile): Roles {
  const { pieces, trainer } = parseSentencePiece(bytes, path);
  const found = modelSettings.roleNames.map((role) => {
    const piece = pieces[trainer.roles[role]];
    const isOf = role === "unk" ? piece?.kind === "unknown" : piece?.kind === "control";
    return [role, isOf ? piece!.text : ""] as const;
  });
  return Object.fromEntries(found);
}

function spell([{ path, bytes }]: SourceFiles): SpelledTokens {
  const { pieces } = parseSentencePiece(bytes, path);
  return {
    texts: pieces.map(({ text }) => text),
    kinds: pieces.map(({ kind }) => kind),
    scores: Float32Array.from(pieces, ({ score }) => score),
    splitsAtMarks: false,
  };
}

/** Files of this format are never written. */
export const sentencepiece: TokenizerFormat = {
  read,
  frame,
  roles,
  spell,
  prune: ([{ path }]) => {
    throw new UserError(`"${path}" cannot be pruned: SentencePiece models can only be read`, {
      hint: "convert the model to a tokenizer.json with bpe convert, and prune that file",
    });
  },
};
