import { basename, join } from "node:path";
import { groupDigits, type json } from "#bytes";
import { outputFiles, recordedFiles, tokenizerFiles } from "#formats";
import { files, UserError } from "#runtime";
import { fingerprints, probe } from "#tokenizer";
import { absence, type Difference, difference } from "./compare-files.ts";
import { compareChecksums } from "./compare-training.ts";
import { checkFiles } from "./file-checks.ts";
import { objectOf } from "./subject.ts";
import { readTrainingRecord } from "./training-record.ts";

/**
 * The result of checking files without training. `fileNames` are the files that were checked; `notes` says what could
 * not be checked.
 */
export type CheckedFiles = {
  readonly differences: readonly Difference[];
  readonly fileNames: readonly string[];
  readonly notes: readonly string[];
};

/** Checks whether the files that a training wrote agree with its record and with each other. */
export async function checkRecorded(directory: string): Promise<CheckedFiles> {
  const { record, json } = readTrainingRecord(directory);
  const sizes = record.options.sizes ?? [];
  const own = sizes.length === 0 ? [await checkDirectory(directory, json)] : [];
  for (const size of sizes) {
    const inside = join(directory, String(size));
    const named = (name: string) => `${size}/${name}`;
    try {
      const found = await checkDirectory(inside, readTrainingRecord(inside).json);
      own.push({
        differences: found.differences.map((each) => ({ ...each, what: named(each.what) })),
        fileNames: found.fileNames.map(named),
        notes: found.notes,
      });
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      const unread = difference(named(recordedFiles.recordName), `cannot be read: ${error.message}`);
      own.push({ differences: [unread], fileNames: [], notes: [] });
    }
  }
  return {
    differences: own.flatMap(({ differences }) => differences),
    fileNames: own.flatMap(({ fileNames }) => fileNames),
    notes: [...new Set(own.flatMap(({ notes }) => notes))],
  };
}

async function checkDirectory(directory: string, json: json.JsonObject): Promise<CheckedFiles> {
  const names = (json.files as string[]).filter((name) => name !== recordedFiles.recordName);
  const notes: string[] = [];
  const differences = names.flatMap((name) => {
    const absent = absence(join(directory, name));
    return absent === null ? [] : [difference(name, absent)];
  });
  if (json.filesSha256 === undefined)
    notes.push("the record has no checksums of the files: an older version of bpe made it");
  differences.push(...asDifferences("files", () => compareChecksums(directory, json)));
  differences.push(...asDifferences("merges", () => checkMerges(directory, json)));
  const others = await checkLoaded(directory, json);
  return {
    differences: [...differences, ...others.differences],
    fileNames: names,
    notes: [...notes, ...others.notes],
  };
}

/**
 * Checks that the first tokenizer file has the recorded fingerprint, if there is one, and that the other files, if they
 * can be loaded, give the same ids for parts of a fixed text, the probe text (docs/probe-1.json).
 */
async function checkLoaded(
  directory: string,
  json: json.JsonObject,
): Promise<Omit<CheckedFiles, "fileNames">> {
  const differences: Difference[] = [];
  const notes: string[] = [];
  if (tokenizerFiles.findIn(directory).length === 0)
    return { differences, notes: ["no file can be loaded: only checksums were compared"] };
  try {
    const parts = await tokenizerFiles.load(directory);
    const encode = fingerprints.shortEncoder(parts);
    const fingerprint = probe.fingerprintOf(encode(probe.text, false));
    if (json.fingerprint !== undefined && json.fingerprint !== fingerprint)
      differences.push(
        difference(
          basename(parts.description.path),
          `has the fingerprint ${fingerprint}, not ${String(json.fingerprint)}`,
        ),
      );
    for (const { check, severity, message, evidence } of await checkFiles(
      { path: directory, isDirectory: true },
      { parts, encode },
    )) {
      const said = [message, ...evidence].join("; ");
      if (severity === "error") differences.push({ what: check, message: said });
      else notes.push(said);
    }
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    differences.push(difference(directory, `cannot be loaded: ${error.message}`));
  }
  return { differences, notes };
}

function asDifferences(name: string, check: () => Difference[]): Difference[] {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return [difference(name, `cannot be read: ${error.message}`)];
  }
}

/**
 * Checks the merges in merges.txt or, if that file is missing, in tokenizer.json: the record has their number and
 * checksum. A directory without a list of merges in either file is not checked.
 */
function checkMerges(directory: string, json: json.JsonObject): Difference[] {
  const found = mergesIn(directory);
  if (found === undefined) return [];
  const { name, merges } = found;
  const count = json.mergeCount as number;
  // The record of an extension counts only the merges that the extension added.
  const own = "base" in json ? merges.slice(merges.length - count) : merges;
  if (own.length !== count)
    return [difference(name, `has ${groupDigits(own.length)} merges, not ${groupDigits(count)}`)];
  if (outputFiles.sha256Of([own.map((line) => `${line}\n`).join("")]) === json.mergesSha256) return [];
  return [difference(name, "has merges that differ from those of the record (mergesSha256)")];
}

/** Returns the merges of a directory as lines of merges.txt; undefined if it has no list of merges. */
function mergesIn(directory: string): { name: string; merges: string[] } | undefined {
  const [text, model] = ["merges.txt", "tokenizer.json"].map((name) => join(directory, name));
  if (files.isFile(text!)) {
    const [head, ...lines] = new TextDecoder().decode(files.readBytes(text!)).split("\n");
    const merges = (head!.startsWith("#version") ? lines : [head!, ...lines]).filter((line) => line !== "");
    return { name: "merges.txt", merges };
  }
  if (!files.isFile(model!)) return undefined;
  const { merges } = objectOf(objectOf(recordedFiles.readJson(model!)).model);
  if (!Array.isArray(merges)) return undefined;
  return {
    name: "tokenizer.json",
    merges: merges.map((merge) => (Array.isArray(merge) ? merge.join(" ") : String(merge))),
  };
}
