import { showValue } from "#bytes";
import { type Message, phrase, UserError } from "#runtime";
import type { AddedToken } from "#text";
import type { RankedMerges } from "./encoding-model.ts";
import type { TokenizerParts } from "./tokenizer-parts.ts";

/**
 * Extension: what was learned on top of an unchanged base.
 *
 *   FIELD            MEANING
 *   idLimit          size of the extended vocabulary: every id is less than this
 *   tokens           the new tokens, ascending by id; their ids follow those of the base and its added tokens
 *   merges           the new merges as ids, in the order learned; they follow the base's merges
 *   specialTokens    new special tokens, ascending by id; their ids follow those of the new tokens
 *   reservedTokens   special tokens that fill the vocabulary (`--pad-to`), ascending by id, after all others
 *
 * If the base has a token that none of its merges produces, a new merge may produce that token. `merged` then has the
 * token's old id, and the merge adds no id.
 */
export type Extension = {
  readonly idLimit: number;
  readonly tokens: readonly { readonly id: number; readonly bytes: Uint8Array }[];
  readonly merges: RankedMerges;
  readonly specialTokens: readonly AddedToken[];
  readonly reservedTokens: readonly AddedToken[];
};

export const newSpecials = ({ specialTokens, reservedTokens }: Extension): readonly AddedToken[] => [
  ...specialTokens,
  ...reservedTokens,
];

/**
 * Numbering: the new ids of kept tokens. They are numbered from 0 in the order of their old ids, without gaps. A merge
 * is kept if its tokens are kept and its old rank is less than `mergeCount`.
 *
 *   ARRAY   TYPE        LENGTH    MEANING
 *   newIds  Int32Array  idLimit   new id of each old id; -1 if its token was removed, or never existed
 */
export type Numbering = { readonly size: number; readonly newIds: Int32Array; readonly mergeCount: number };

export const removed = -1;

/** Returns the new id for an old id that a file states. Throws a UserError if no remaining token has the old id. */
export function newIdOf({ newIds }: Numbering, id: unknown, path: string, place: string): number {
  const newId = typeof id === "number" ? newIds[id] : undefined;
  if (newId !== undefined && newId !== removed) return newId;
  const [what, way] =
    newId === undefined
      ? ["which no token has", "correct the id"]
      : ["but no token with that id would be kept", "make its token an added token"];
  throw new UserError(`"${path}": ${place} has the id ${showValue(id)}, ${what}`, {
    hint: `${way}, or remove this part of the file`,
  });
}

/**
 * Throws a UserError for a tokenizer whose merges start from characters. The message says that it cannot be `work`, a
 * participle such as "extended".
 */
export function refuseCharacters({ model, description }: TokenizerParts, work: Message, hint: string): void {
  if (model.beginning === undefined) return;
  throw new UserError(
    phrase`"${description.path}" cannot be ${work}: it is not a byte-level tokenizer; its merges start from characters`,
    { hint },
  );
}
