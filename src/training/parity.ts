import { countNoun, groupDigits } from "#bytes";
import type { trainingRecords } from "#formats";

import type { RequestedTraining } from "#options";
import { asOption, phrase, usageError } from "#runtime";

type AskedParity = Pick<RequestedTraining, "languageRatio" | "languageWindow" | "globalMerges">;

/**
 * Limits for the ratios of languages. With far more extreme ratios, quotients that HF's trainer computes become
 * infinite, and it never ends.
 */
const [ratioMin, ratioMax] = [0.001, 1000];
const countMax = 2 ** 31;

/** Checks the requested options, and returns them; undefined if none is given, or only `globalMerges` as 0. */
export function settleParity(asked: AskedParity): trainingRecords.Parity | undefined {
  const { languageRatio: ratio = null, languageWindow: window = null, globalMerges = 0 } = asked;
  const wrong = ratio?.find((number) => !(number >= ratioMin && number <= ratioMax));
  if (wrong !== undefined) {
    throw usageError(
      phrase`${asOption("language-ratio")} contains ${wrong}, but each ratio must be a number from ${ratioMin} to ${groupDigits(ratioMax)}`,
      "give one number for each language, e.g. 1,2,2.5",
    );
  }
  if (window !== null) {
    const { size, alpha } = window;
    const isSize = Number.isSafeInteger(size) && size >= 1 && size <= countMax;
    if (!isSize || !(alpha > 0 && alpha < Number.POSITIVE_INFINITY)) {
      throw usageError(
        phrase`${asOption("language-window", `${size}:${alpha}`)}: the number of merges must be a whole number from 1 to 2^31, and the factor must be above 0`,
        "give e.g. 100 and 2.0: in 100 merges, no language gets more than twice its share",
      );
    }
  }
  return ratio === null && window === null && globalMerges === 0
    ? undefined
    : { ratio, window, globalMerges };
}

/** Throws a usage error if there are ratios, but not one for each language. */
export function checkParity(
  { ratio }: trainingRecords.Parity,
  inputs: readonly trainingRecords.LanguageOfInput[],
): void {
  const languages = new Set(inputs.map(({ language }) => language));
  if (ratio === null || ratio.length === languages.size) return;
  throw usageError(
    phrase`${asOption("language-ratio")} has ${countNoun(ratio.length, "ratio")} for ${countNoun(languages.size, "language")}`,
    "give one ratio for each language, in the order in which they are named; a language of several files has one",
  );
}
