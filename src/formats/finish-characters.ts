import { showValue } from "#bytes";
import { UserError } from "#runtime";
import {
  type derivation,
  modelSettings,
  TokenBytes,
  type TokenizerParts,
  tokenizers,
  tokenTables,
  type Vocabulary,
} from "#tokenizer";
import { appliedMerges, orderTies } from "./applied-merges.ts";
import type { CharacterMerges, FinishedTokenizer } from "./finished-tokenizer.ts";
import { readLikeFrom } from "./like.ts";
import { findLlamaObstacle, namedControls } from "./llama-pieces.ts";
import * as tokenizerFiles from "./load-tokenizer.ts";
import type { SpelledTokens } from "./output-file.ts";

/**
 * Prepares the writing of a tokenizer whose merging begins with characters. Returns the value from which the files of
 * every format are written.
 */
export async function finishCharacters(
  path: string,
  parts: TokenizerParts,
  derivations: derivation.Derivations,
): Promise<FinishedTokenizer> {
  const source = await tokenizerFiles.readSource(tokenizerFiles.fileOf(path));
  const spelled = source.code.spell?.(source.files, parts);
  if (spelled === undefined)
    throw new UserError(
      `"${parts.description.path}" cannot be converted: its merges start from characters, and it does not store how its tokens are spelled`,
      { hint: "convert the tokenizer.json or tokenizer.model that it was made from" },
    );
  const found = await readLikeFrom(path, parts, source);
  const added = tokenizers.allAddedTokens(parts);
  const like = {
    ...found,
    specialTokens: added.filter(({ special }) => special),
    laterTokens: added.filter(({ special }) => !special),
  };
  const named = [...found.specialTokens, ...found.laterTokens].map(({ content }) => content);
  const settled = modelSettings.settle(like, named, {});
  const first = parts.postProcessing?.before[0];
  const bos = added.find(({ content }) => content === settled.roles.bos);
  return {
    vocabulary: vocabularyOf(parts, spelled),
    normalization: null,
    exportForm: { kind: "splits", regexes: [], sources: [], mayLeaveGaps: false },
    model: { ...settled, addsBos: settled.addsBos || (bos !== undefined && bos.id === first) },
    like,
    characters: mergesFor(parts, spelled, derivations),
  };
}

function mergesFor(
  parts: TokenizerParts,
  spelled: SpelledTokens,
  derivations: derivation.Derivations,
): CharacterMerges {
  const { kinds, scores } = spelled;
  const applied = appliedMerges(parts, derivations);
  const ordered = orderTies(parts, applied);
  const count = applied.merged.length;
  const ownScores = scores ?? new Float32Array(kinds.length).fill(-count);
  if (scores === null)
    applied.merged.forEach((id, rank) => {
      ownScores[id] = -rank;
    });
  return {
    // A tokenizer.json keeps all its merges, also those that are never applied.
    merges: scores === null ? parts.model.merges : ordered.merges,
    jsonObstacle: scores === null ? null : (jsonObstacle(parts, spelled) ?? ordered.obstacle),
    llamaObstacle: findLlamaObstacle(parts, { ...spelled, scores: ownScores }, derivations),
    llamaControls: namedControls(spelled),
    kinds,
    scores: ownScores,
    addsPrefix: parts.addsPrefixSpace,
  };
}

/** Returns why SentencePiece's user-defined pieces would make a `tokenizer.json` give other ids, or null. */
function jsonObstacle({ addsPrefixSpace, addedTokens }: TokenizerParts, { texts, kinds }: SpelledTokens) {
  const given = texts.flatMap((text, id) => (kinds[id] === "user-defined" ? [text!] : []));
  if (addsPrefixSpace && given.length > 0)
    return `HF puts a space after each added token, such as ${showValue(given[0])}, but SentencePiece puts one only before the text`;
  const run = given.find((text) => addedTokens.every(({ content }) => content !== text));
  return run === undefined
    ? null
    : `HF does not match the added token ${showValue(run)} in spaces, but SentencePiece does`;
}

/** Returns the vocabulary with all tokens as the files spell them. */
function vocabularyOf(parts: TokenizerParts, { texts }: SpelledTokens): Vocabulary {
  const specials = tokenizers.allAddedTokens(parts).toSorted((a, b) => a.id - b.id);
  const entries = new Int32Array(parts.tokens.idLimit).fill(noToken);
  specials.forEach(({ id }, s) => {
    entries[id] = -1 - s;
  });
  const others: { key: string; bytes: Uint8Array }[] = [];
  for (let id = 0; id < entries.length; id++) {
    const key = texts[id];
    if (entries[id] !== noToken || key === undefined) continue;
    entries[id] = -1 - specials.length - others.length;
    others.push({ key, bytes: tokenTables.bytesOf(parts.tokens, id) });
  }
  const none = new Int32Array(0);
  return {
    size: entries.length,
    mergeCount: 0,
    ...{ left: none, right: none, tokenIds: none, reservedCount: 0, entries },
    tokenBytes: new TokenBytes(new Uint32Array(0), none, new Uint8Array(0), none, none),
    specialTokens: specials.map(({ content }) => content),
    specialIds: Int32Array.from(specials, ({ id }) => id),
    others: { tokens: others, areWhole: false },
  };
}

/** The value in `entries` for an id without a token. */
const noToken = -(2 ** 31);
