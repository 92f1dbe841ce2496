import { resolve } from "node:path";
import { groupDigits } from "#bytes";
import type { Input } from "#corpus";
import { namedTokenizers, outputFiles } from "#formats";
import { files, UserError } from "#runtime";
import { describeCounts } from "#words";
import { type Difference, difference } from "./compare-files.ts";
import { type FindPath, pathFinder } from "./recorded-paths.ts";
import type { VerifiedRecord } from "./training-record.ts";
import { type FoundSources, inputAt } from "./training-request.ts";

/** The files that a training read, as they are now. */
export type LookedUp = {
  readonly sources: FoundSources;
  /** Empty if any file is missing. */
  readonly inputs: readonly Input[];
  readonly missing: readonly Difference[];
  /** Files that differ from the record, or cannot be read. */
  readonly changed: readonly Difference[];
};

/** Finds the files that a training read, and compares them with the record. */
export async function findSources(
  record: VerifiedRecord,
  moved: Readonly<Record<string, string>>,
): Promise<LookedUp> {
  const { workingDirectory, base, options, counts } = record;
  const { find, checkMoved } = pathFinder(workingDirectory, moved);
  const missing: Difference[] = [];
  const place = (recorded: string, finds: FindPath = find): string => {
    const found = finds(recorded);
    if (found === undefined) missing.push(difference(recorded, absence(recorded, workingDirectory)));
    return found ?? "";
  };
  // For the name of a published tokenizer, no file has to be found.
  const findLike = (recorded: string) =>
    find(recorded) ?? (namedTokenizers.isPublished(recorded) ? recorded : undefined);
  const places = {
    inputs: record.inputs.map(({ path }) => place(path)),
    counts: counts.map(({ path }) => place(path)),
    base: base && place(base.path),
    like: options.like === undefined ? undefined : place(options.like, findLike),
  };
  const baseFiles = (base?.files ?? []).map((file) => ({ ...file, place: find(file.path) }));
  checkMoved();
  if (record.inputs.length + counts.length === 0 && (base === undefined || record.wordCount > 0))
    missing.push({
      what: "word counts",
      message: "the word counts of this training were in memory, so they cannot be read again",
    });
  const changed: Difference[] = [];
  const read = (name: string, look: () => string | null) => {
    const message = messageOf(look);
    if (message !== null) changed.push(difference(name, message));
  };
  for (const { path, sha256, place } of baseFiles)
    if (place === undefined) missing.push(difference(path, absence(path, workingDirectory)));
    else
      read(path, () =>
        outputFiles.sha256Of([files.readBytes(place)]) === sha256 ? null : "has changed: its SHA-256 differs",
      );
  const inputs: Input[] = [];
  if (missing.length === 0) {
    for (const [i, input] of record.inputs.entries())
      read(input.path, () => {
        inputs.push(inputAt(places.inputs[i]!, input));
        return sizeDifference(inputs.at(-1)!, input);
      });
    changed.push(...(await changedCounts(counts, places.counts)));
  }
  return { sources: places, inputs, missing, changed };
}

function absence(recorded: string, workingDirectory: string): string {
  if (recorded === "-") return "was standard input, which cannot be read again";
  if (recorded === "texts") return "were texts in memory: write them as lines of JSON, and name that file";
  return `is missing: there is no "${resolve(workingDirectory, recorded)}"`;
}

function messageOf(look: () => string | null): string | null {
  try {
    return look();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return `cannot be read as it was: ${error.message}`;
  }
}

/** Compares the size of an uncompressed text with the number of bytes that the training read from it. */
function sizeDifference(
  { format, isStream, compression, sizeBytes }: Input,
  { textBytes = sizeBytes }: VerifiedRecord["inputs"][number],
): string | null {
  if (format !== "text" || isStream || compression !== "none" || sizeBytes === textBytes) return null;
  return `has changed: ${groupDigits(sizeBytes)} bytes, not ${groupDigits(textBytes)}`;
}

async function changedCounts(
  counts: VerifiedRecord["counts"],
  places: readonly string[],
): Promise<Difference[]> {
  const found = await describeCounts(places);
  return counts.flatMap(({ path, sha256 }, i) =>
    sha256 === null || found[i]!.sha256 === sha256
      ? []
      : [difference(path, "has changed: its SHA-256 differs")],
  );
}
