import type { Input, RangeStatistics } from "#corpus";
import type { trainingRecords } from "#formats";
import type { warnings } from "#jobs";
import type { modelSettings } from "#tokenizer";

/** Warns of the first plain text with several documents. Only special tokens divide plain text, so it contains some. */
export function foundSpecialTokens(
  inputs: readonly Input[],
  statistics: readonly RangeStatistics[],
): warnings.Warning[] {
  const path = inputs.find(({ format }, i) => format === "text" && statistics[i]!.documentCount > 1)?.path;
  return path === undefined ? [] : [{ kind: "special tokens in the text", path }];
}

export const classOfModel = ({ tokenizerClass: name }: modelSettings.ModelSettings): warnings.Warning[] =>
  usesFiles.has(name) ? [] : [{ kind: "class of a model", name }];

/** The classes of transformers 4 and 5 that do what tokenizer.json says. */
const usesFiles = new Set(["PreTrainedTokenizerFast", "TokenizersBackend"]);

export function equalCounts(counts: readonly trainingRecords.Counts[]): warnings.Warning[] {
  const paths = new Map<string, string>();
  return counts.flatMap(({ path, sha256 }): warnings.Warning[] => {
    if (sha256 === null) return [];
    const before = paths.get(sha256) ?? path;
    paths.set(sha256, before);
    return before === path ? [] : [{ kind: "equal counts", paths: [before, path] }];
  });
}

/** Texts whose sizes differ by more than this factor are probably no translations of each other. */
const unevenFactor = 2;

export function unevenLanguages(languages: readonly trainingRecords.Language[] = []): warnings.Warning[] {
  const isDev = languages.some((language) => language.isDev);
  const measured = languages.filter((language) => language.isDev === isDev);
  const [least, ...more] = measured.toSorted((a, b) => a.textBytes - b.textBytes);
  const most = more.at(-1);
  if (least === undefined || most === undefined || most.textBytes <= unevenFactor * least.textBytes)
    return [];
  return [{ kind: "uneven languages", most, least }];
}
