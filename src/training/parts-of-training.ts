import { postProcessingOfRecord } from "#formats";
import { type TokenizerParts, tokenizers, type Vocabulary } from "#tokenizer";
import { encodingPatternOf, type Training } from "./training.ts";

/**
 * Returns the tokenizer that loading the files of a newly trained vocabulary would give. With `like`, it lacks the
 * post-processing, which only the files have.
 *
 * @param findsSpecials whether that tokenizer finds special tokens in a text
 */
export function partsOfTraining(
  { model, normalization, like, ...training }: Training,
  vocabulary: Vocabulary,
  findsSpecials = true,
): TokenizerParts {
  const parts = tokenizers.trained(vocabulary, encodingPatternOf(training), normalization);
  if (!findsSpecials) return { ...parts, addedTokens: [] };
  const bosInFront = model.addsBos ? model.roles.bos : undefined;
  if (like === null) return { ...parts, ...postProcessingOfRecord({ bosInFront }, parts.addedTokens) };
  const known = new Map([...like.specialTokens, ...like.laterTokens].map((token) => [token.content, token]));
  return {
    ...parts,
    addsPrefixSpace: like.addsPrefixSpace,
    addedTokens: parts.addedTokens.map(({ id, ...token }) => ({ ...token, ...known.get(token.content), id })),
  };
}
