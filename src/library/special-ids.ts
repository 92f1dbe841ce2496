import { UserError } from "#runtime";
import { type TokenizerParts, tokenizers } from "#tokenizer";

/** The ids of a batch: those of text i are ids[offsets[i] .. offsets[i + 1]). */
export type EncodedBatch = {
  readonly ids: Uint32Array<ArrayBuffer>;
  readonly offsets: Int32Array<ArrayBuffer>;
};

/** @internal The largest offset. As in Arrow, offsets are signed. */
export const offsetMax = 2 ** 31 - 1;

/** @internal The ids that a post-processor adds before and after a text. */
export type IdsAround = { readonly before: readonly number[]; readonly after: readonly number[] };

/**
 * @internal Returns the ids that the post-processor adds before and after a text. Throws a UserError if it changes the
 * ids in another way.
 */
export function idsAround({ postProcessing }: TokenizerParts): IdsAround {
  const { before = [], after = [], obstacle } = postProcessing ?? {};
  if (obstacle !== undefined)
    throw new UserError(`special tokens cannot be added: ${obstacle}`, {
      hint: "leave out addSpecialTokens, and add the ids of the special tokens yourself",
    });
  return { before, after };
}

/** @internal */
export function withIdsAround(ids: Uint32Array, { before, after }: IdsAround): Uint32Array<ArrayBuffer> {
  const all = new Uint32Array(before.length + ids.length + after.length);
  all.set(before);
  all.set(ids, before.length);
  all.set(after, before.length + ids.length);
  return all;
}

/** @internal Returns the batch with these ids before and after each text. */
export function batchWithIdsAround({ ids, offsets }: EncodedBatch, around: IdsAround): EncodedBatch {
  const added = around.before.length + around.after.length;
  if (added === 0) return { ids, offsets };
  const all = new Uint32Array(ids.length + added * (offsets.length - 1));
  const moved = offsets.map((offset, i) => offset + i * added);
  for (let i = 0; i + 1 < offsets.length; i++)
    all.set(withIdsAround(ids.subarray(offsets[i], offsets[i + 1]), around), moved[i]);
  return { ids: all, offsets: moved };
}

/**
 * @internal Returns the ids that `skipSpecialTokens` drops in decoding: those of special tokens. Other added tokens
 * stay.
 */
export const specialIdsOf = (parts: TokenizerParts): ReadonlySet<number> =>
  new Set(
    tokenizers
      .allAddedTokens(parts)
      .filter(({ special }) => special)
      .map(({ id }) => id),
  );
