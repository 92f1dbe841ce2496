import { join } from "node:path";
import { isFile } from "../../runtime/named-files.ts";
import { recordFormat, recordName } from "../../vocabulary/formats/training-json.ts";
import { readJson } from "../load/read-file.ts";
import { allAddedTokens, type TokenizerParts } from "../tokenizer-parts.ts";
import type { TokenizerFile } from "./pruned-files.ts";
import type { Numbering } from "./token-numbering.ts";

type RecordFacts = {
  readonly version: string;
  readonly bunVersion: string;
  readonly commit: string;
  readonly command: string;
  readonly arguments: readonly string[];
  readonly workingDirectory: string;
  readonly startedAt: string;
  readonly generation: number;
  /** What it was made of. */
  readonly pruned: object;
  /** Every file of the result, the record too. */
  readonly files: readonly string[];
};

/**
 * `training.json` of a pruned tokenizer. `options` are those of its own training, if there is a record of it. In any case
 * they hold what GPT-2's files and files of ranks do not: pattern, special tokens with their ids, normal form.
 */
export function prunedRecord(
  { path }: TokenizerFile,
  parts: TokenizerParts,
  { size, newIds }: Numbering,
  facts: RecordFacts,
): object {
  const { patternName, patternSources } = parts.description;
  const specials = allAddedTokens(parts).toSorted((a, b) => a.id - b.id);
  return {
    format: recordFormat,
    ...facts,
    options: {
      ...trainedOptions(path),
      vocabSize: size,
      specialTokens: specials.map(({ content }) => content),
      specialIds: specials.map(({ id }) => newIds[id]!),
      padTo: 1,
      reservedTokens: [],
      normalization: parts.normalization,
      pattern: { name: patternName, regex: patternSources.length === 1 ? patternSources[0] : patternSources },
    },
  };
}

/** The options in the record of a training beside the file. */
function trainedOptions(path: string): object | undefined {
  const recordPath = join(path, "..", recordName);
  if (!isFile(recordPath)) return undefined;
  const { options } = readJson(recordPath) as { options?: unknown };
  return typeof options === "object" && options !== null ? options : undefined;
}
