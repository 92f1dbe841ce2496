import { postProcessingOfRecord } from "#formats";
import { type TokenizerParts, trainedParts, type Vocabulary } from "#tokenizer";
import { encodingPatternOf, type Training } from "#training";

/** Returns the tokenizer of a newly trained vocabulary. Loading its files would give the same. */
export function partsOfTraining(training: Training, vocabulary: Vocabulary): TokenizerParts {
  const { model, normalization } = training;
  const parts = trainedParts(vocabulary, encodingPatternOf(training), normalization);
  const bosInFront = model.addsBos ? model.roles.bos : undefined;
  return { ...parts, ...postProcessingOfRecord({ bosInFront }, parts.addedTokens) };
}
