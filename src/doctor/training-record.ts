import { basename, dirname, join } from "node:path";
import { isPlainObject, type json, schema } from "#bytes";
import { recordedFiles, recordSchemas, trainingRecords } from "#formats";
import { files, shell, UserError } from "#runtime";

// The record of a training as `bpe verify` reads it.

const count = schema.wholeNumber();

/** Names of options that a record may have. */
const knownOptions: readonly string[] = [...Object.keys(recordSchemas.option), "weights", "workers"];

const recordFields = schema.object({
  version: schema.text,
  commit: schema.text,
  command: schema.text,
  workingDirectory: schema.text,
  options: schema.object(recordSchemas.option),
  formats: schema.optional(schema.orNull(schema.list(schema.text))),
  base: schema.optional(
    schema.object({
      path: schema.text,
      kind: schema.text,
      files: schema.list(schema.object({ path: schema.text, sha256: schema.text })),
      vocabSize: count,
    }),
  ),
  inputs: schema.list(schema.object(recordSchemas.input)),
  counts: schema.list(
    schema.object({
      path: schema.text,
      sizeBytes: count,
      sha256: schema.orNull(schema.text),
      weight: schema.optional(schema.amount),
    }),
  ),
  wordCount: count,
  mergeCount: count,
  mergesSha256: schema.text,
  files: schema.list(schema.text),
  filesSha256: schema.optional(recordSchemas.textsByName),
  timings: schema.object({ totalMs: schema.amount }),
});

export type VerifiedRecord = schema.Checked<typeof recordFields>;
export type RecordedInput = VerifiedRecord["inputs"][number];

/** The record of a training: as checked fields, and as JSON. */
export type RecordedTraining = {
  readonly directory: string;
  readonly record: VerifiedRecord;
  readonly json: json.JsonObject;
};

/** Reads the record in a directory. Throws a UserError if there is none, or if its training cannot be repeated. */
export function readTrainingRecord(typed: string): RecordedTraining {
  const directory = directoryOf(typed);
  const path = join(directory, recordedFiles.recordName);
  if (!files.isFile(path))
    throw new UserError(
      `"${directory}" has no ${recordedFiles.recordName}, the record of a training, so there is nothing to verify`,
      {
        hint: "to check a tokenizer that has no such record, use bpe doctor",
      },
    );
  const json = recordedFiles.readJson(path);
  const refuse = (what: string, hint?: string) => {
    throw new UserError(`"${path}" ${what}`, hint === undefined ? {} : { hint });
  };
  if (!isPlainObject(json)) return refuse("is not a JSON object");
  if (json.format === undefined)
    refuse(
      'has no "format", so bpe did not write it',
      "name the directory of a tokenizer that bpe train wrote",
    );
  if (json.format !== trainingRecords.format)
    refuse(
      `has the format ${JSON.stringify(json.format)}, but this version of bpe reads only the format ${trainingRecords.format}`,
      "verify it with the version of bpe that made it",
    );
  const made = typeof json.command === "string" ? ` (${json.command})` : "";
  const derived = ["pruned", "converted"].find((name) => name in json);
  if (derived !== undefined)
    refuse(
      `is the record of a ${derived} tokenizer${made}, but bpe verify repeats only trainings`,
      "verify the tokenizer that it was made from",
    );
  if ("symbolCount" in json)
    refuse(
      `is the record of merges over ids${made}, but bpe verify repeats only trainings on text`,
      "run the command that made it again, and compare the files",
    );
  const unknown = Object.keys(isPlainObject(json.options) ? json.options : {}).find(
    (name) => !knownOptions.includes(name),
  );
  if (unknown !== undefined)
    refuse(
      `has the option "${unknown}", which this version of bpe does not know`,
      "verify it with a newer version of bpe",
    );
  const record = schema.checkOr(recordFields, json, (what) => refuse(`is not a training record: ${what}`));
  if (record.inputs.some(hasLanguage) && !record.inputs.every(hasLanguage))
    refuse("is not a training record: some of its inputs have no language");
  return { directory, record, json };
}

const hasLanguage = ({ language, isDev }: RecordedInput) => language !== undefined && isDev !== undefined;

/**
 * Returns the directory of a result: the argument, or the directory of the record that it names. Throws a UserError for
 * any other file, and for a path that does not exist.
 */
function directoryOf(typed: string): string {
  if (files.isDirectory(typed)) return typed;
  if (files.stat(typed) === undefined) throw new UserError(`"${typed}" does not exist`);
  if (basename(typed) === recordedFiles.recordName) return dirname(typed);
  const hasRecord = files.isFile(join(dirname(typed), recordedFiles.recordName));
  throw new UserError(`"${typed}" is not a directory`, {
    hint: `name the directory that contains ${recordedFiles.recordName}${hasRecord ? `: bpe verify ${shell.quoted(dirname(typed))}` : ""}`,
  });
}
