import { dirname, join } from "node:path";
import { recordName } from "../../vocabulary/formats/training.ts";
import { isFile, readJson } from "./files.ts";

/** What the record of a training says that the files beside it do not. */
export type RecordedTraining = {
  readonly patternName: string | null;
  readonly patternSources: readonly string[];
  readonly specialTokens: readonly string[];
  readonly compat: string;
};

/** The record beside the file, if there is one and it lists the file. */
export function recordedTraining(path: string, name: string): RecordedTraining | null {
  const recordPath = join(dirname(path), recordName);
  if (!isFile(recordPath)) return null;
  const record = readJson(recordPath) as {
    files?: unknown;
    options?: {
      specialTokens?: string[];
      compat?: string;
      pattern?: { name: string | null; regex: string | string[] };
    };
  };
  const { options } = record;
  if (!Array.isArray(record.files) || !record.files.includes(name) || options?.pattern === undefined)
    return null;
  return {
    patternName: options.pattern.name,
    patternSources: [options.pattern.regex].flat(),
    specialTokens: options.specialTokens ?? [],
    compat: options.compat ?? "cs336",
  };
}
