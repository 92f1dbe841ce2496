import type { inputSearch } from "#corpus";
import type { trainingRecords } from "#formats";
import type { RequestedTraining } from "#options";
import { asOption, type Message, phrase, usageError } from "#runtime";

/** A path, a glob or a directory with text of a language, or with its dev text. */
export type LanguageFile = trainingRecords.LanguageOfInput & { readonly file: string };

/** Returns the files of all languages, then those of their dev texts; undefined without languages. */
export function languageFilesOf({
  languages,
  languagesDev = [],
}: RequestedTraining): LanguageFile[] | undefined {
  if (languages === undefined) return undefined;
  const train = languages.map((file) => ({ ...file, isDev: false }));
  const dev = languagesDev.map((file) => ({ ...file, isDev: true }));
  checkDev(train, dev);
  return [...train, ...dev];
}

/**
 * Throws a usage error for dev text of an unknown language, or if some languages have dev text and others have none.
 */
function checkDev(train: readonly LanguageFile[], dev: readonly LanguageFile[]): void {
  const [names, devNames] = [train, dev].map((files) => files.map(({ language }) => language));
  const unknown = devNames!.find((name) => !names!.includes(name));
  if (unknown !== undefined)
    throw usageError(
      phrase`${asOption("language-dev")} names the language "${unknown}", but ${asOption("language")} does not`,
      phrase`give its training text as well: ${asOption("language", `${unknown}=FILE`)}`,
    );
  const bare = dev.length === 0 ? undefined : names!.find((name) => !devNames!.includes(name));
  if (bare === undefined) return;
  throw usageError(
    phrase`${asOption("language-dev")} is missing for the language "${bare}"`,
    phrase`give ${asOption("language-dev")} for all languages, or for none`,
  );
}

/**
 * Returns the language of each input. Warns of an input that is listed for two languages, or both as training text and
 * as dev text.
 */
export function languagesOf(
  files: readonly LanguageFile[],
  { inputs, inputCounts = [] }: Pick<inputSearch.FoundInputs, "inputs" | "inputCounts">,
  warn: (message: Message) => void,
): trainingRecords.LanguageOfInput[] {
  const textOf = ({ language, isDev }: trainingRecords.LanguageOfInput) =>
    `${isDev ? "the dev text of " : ""}language "${language}"`;
  const languages = files.flatMap(({ language, isDev }, i) =>
    Array<trainingRecords.LanguageOfInput>(inputCounts[i]!).fill({ language, isDev }),
  );
  const seen = new Map<string, string>();
  for (const [i, { path, isStream, device, inode }] of inputs.entries()) {
    const text = textOf(languages[i]!);
    const before = seen.get(`${device} ${inode}`) ?? text;
    if (before !== text) warn(`"${path}" is listed for ${before} and again for ${text}`);
    if (!isStream && inode !== 0) seen.set(`${device} ${inode}`, before);
  }
  return languages;
}
