import { byteCharacters } from "#bytes";
import { UserError } from "#runtime";
import {
  derivation,
  TokenBytes,
  type TokenizerParts,
  tokenizers,
  tokenTables,
  type Vocabulary,
} from "#tokenizer";

/**
 * Converts a loaded tokenizer to the form in which a training is written. For each token that merging reaches, the
 * result has one merge: the last one when the token's own bytes are encoded. The other merges are never applied, so
 * they are left out. `others` holds the tokens that are neither bytes, nor special, nor made by such a merge.
 */
export function vocabularyOf(parts: TokenizerParts, derivations = derivation.derive(parts)): Vocabulary {
  const { tokens, model, description } = parts;
  if (!tokenTables.haveAllBytes(model.byteIds, tokens))
    throw new UserError(
      `"${description.path}" cannot be converted: its vocabulary lacks tokens for some bytes`,
      {
        hint: "keep the tokenizer in its own format; bpe can encode with it",
      },
    );
  const { reaches, left, right, last } = derivations;
  const merged = Uint32Array.from(reaches.keys()).filter((id) => reaches[id] === derivation.Reach.merging);
  merged.sort((a, b) => last[a]! - last[b]!);
  const tokenIds = Int32Array.from([...model.byteIds, ...merged]);
  const entries = new Int32Array(tokens.idLimit).fill(noToken);
  const numbers = new Int32Array(tokens.idLimit);
  tokenIds.forEach((id, token) => {
    entries[id] = numbers[id] = token;
  });
  const specials = tokenizers.allAddedTokens(parts).toSorted((a, b) => a.id - b.id);
  specials.forEach(({ id }, s) => {
    entries[id] = -1 - s;
  });
  const numbered = (halves: Int32Array) => Int32Array.from(merged, (id) => numbers[halves[id]!]!);
  const others: { key: string; bytes: Uint8Array }[] = [];
  for (let id = 0; id < tokens.idLimit; id++) {
    const bytes = tokenTables.bytesOf(tokens, id);
    if (entries[id] !== noToken || bytes.length === 0) continue;
    entries[id] = -1 - specials.length - others.length;
    others.push({
      key: tokens.rawIds?.has(id) ? Buffer.from(bytes).toString() : byteCharacters.encode(bytes),
      bytes,
    });
  }
  const halves = { left: numbered(left), right: numbered(right) };
  return {
    size: tokens.idLimit,
    mergeCount: merged.length,
    ...halves,
    tokenBytes: TokenBytes.ofIds(tokens, tokenIds, halves),
    tokenIds,
    specialTokens: specials.map(({ content }) => content),
    specialIds: Int32Array.from(specials, ({ id }) => id),
    reservedCount: 0,
    entries,
    others: { tokens: others, areWhole: model.wholeTokens !== null },
  };
}

/** The value in `entries` for an id without a token. */
const noToken = -(2 ** 31);
