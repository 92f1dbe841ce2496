import { escapeBytes } from "../../bytes/escape.ts";
import { UserError } from "../../errors.ts";
import { tokenBytesOf } from "../token-table.ts";
import { allAddedTokens, type TokenizerParts } from "../tokenizer-parts.ts";
import { deriveTokens, Reach } from "./derivations.ts";
import { gone, type Numbering } from "./token-numbering.ts";

/**
 * Compares what was written with what was meant, as it is loaded again: the tokens that stay and no others, with their
 * new ids, each of them reached, and text cut as before. A UserError says what this kind of file cannot hold.
 */
export function checkPruned(
  before: TokenizerParts,
  after: TokenizerParts,
  { size, newIds }: Numbering,
): void {
  const refuse = (what: string): never => {
    throw new UserError(`"${before.description.path}" cannot be pruned: written anew, ${what}`, {
      hint: "name another of the tokenizer's files, or convert it to a tokenizer.json first",
    });
  };
  const cutting = ({ description, normalization, addsPrefixSpace }: TokenizerParts) =>
    JSON.stringify([description.patternSources, normalization, addsPrefixSpace]);
  if (cutting(before) !== cutting(after)) refuse("its pattern or its normal form would not be in the file");
  if (after.tokens.tokenCount !== size)
    refuse(`it would have ${after.tokens.tokenCount} tokens, not ${size}`);
  for (let id = 0; id < newIds.length; id++) {
    const newId = newIds[id]!;
    if (newId === gone) continue;
    const bytes = tokenBytesOf(before.tokens, id);
    if (Buffer.compare(bytes, tokenBytesOf(after.tokens, newId)) === 0) continue;
    refuse(`the token "${escapeBytes(bytes)}" would not get the id ${newId}`);
  }
  const added = (parts: TokenizerParts, idOf: (id: number) => number) =>
    JSON.stringify(
      allAddedTokens(parts)
        .map(({ id, ...token }) => ({ ...token, id: idOf(id) }))
        .sort((a, b) => a.id - b.id),
    );
  if (added(before, (id) => newIds[id]!) !== added(after, (id) => id)) {
    refuse("its special tokens would be others");
  }
  const { reaches } = deriveTokens(after);
  const unreachable = reaches.indexOf(Reach.unreachable);
  if (unreachable < 0) return;
  refuse(`nothing would give the token "${escapeBytes(tokenBytesOf(after.tokens, unreachable))}"`);
}
