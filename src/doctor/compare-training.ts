import { basename, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { countNoun, groupDigits, type json } from "#bytes";
import { formats, outputFiles, recordedFiles } from "#formats";
import { files, UserError } from "#runtime";
import { imageFile } from "#tokenizer";
import { type Finished, imageAt, type results } from "#training";
import { type Difference, difference, differenceOf } from "./compare-files.ts";
import { objectOf } from "./subject.ts";
import { type RecordedInput, type RecordedTraining, readTrainingRecord } from "./training-record.ts";

/** Differences, the files that were compared, and notes on what could not be compared. */
export type Comparison = {
  readonly differences: Difference[];
  readonly fileNames: string[];
  readonly notes: string[];
};

/** Compares a recorded result with what the same training gives now. */
export async function compareResult(recorded: RecordedTraining, finished: Finished): Promise<Comparison> {
  const { product } = finished;
  const differences = compareInputs(recorded, finished);
  const fileNames: string[] = [];
  const notes: string[] = [];
  const isOne = product.sizes.length === 1;
  const records: Said[] = [];
  for (const [index, size] of product.sizes.entries()) {
    const folder = isOne ? "" : String(size);
    const directory = join(recorded.directory, folder);
    const json = isOne
      ? recorded.json
      : recordIn(directory, `${folder}/${recordedFiles.recordName}`, differences);
    if (json !== null) {
      differences.push(...compareMerges(json, product.mergesSha256Of(index), folder));
      records.push({ json, made: product.fieldsOf(index), folder, directory });
    }
    const compared = await compareFiles({ product, index, folder, directory });
    differences.push(...compared.differences);
    fileNames.push(...compared.fileNames);
    notes.push(...compared.notes);
  }
  const { directory, json } = recorded;
  const index = product.sizes.length - 1;
  if (!isOne) records.push({ json, made: product.fieldsOf(index, product.sizes), folder: "", directory });
  differences.push(...compareNames(recorded.record.files, fileNames));
  // The record is compared only if all else is equal, because most differences also change numbers in it.
  if (differences.length === 0) differences.push(...records.flatMap(compareRecord));
  return { differences, fileNames, notes };
}

/** Compares the names of files in a record with those that training writes, except images and the record itself. */
function compareNames(listed: readonly string[], written: readonly string[]): Difference[] {
  const isOther = (name: string) => ![recordedFiles.recordName, imageFile.name].includes(basename(name));
  return [
    ...listed
      .filter((name) => isOther(name) && !written.includes(name))
      .map((name) => difference(recordedFiles.recordName, `lists ${name}, which training does not write`)),
    ...written
      .filter((name) => isOther(name) && !listed.includes(name))
      .map((name) => difference(recordedFiles.recordName, `does not list ${name}, which training writes`)),
  ];
}

type Size = {
  readonly product: results.AnyProduct;
  readonly index: number;
  /** The name of the folder of this size, or "" if there is only one size. */
  readonly folder: string;
  /** The path of that folder, or of the result. */
  readonly directory: string;
};

async function compareFiles({ product, index, folder, directory }: Size): Promise<Comparison> {
  const inFolder = (name: string) => (folder === "" ? name : `${folder}/${name}`);
  const found: Comparison = { differences: [], fileNames: [], notes: [] };
  // merges.txt comes first, because people can read it.
  const files = product.filesOf(index).toSorted((a, b) => orderOf(a.name) - orderOf(b.name));
  for (const file of files) {
    const name = inFolder(file.name);
    found.fileNames.push(name);
    const differing = await differenceOf(name, join(directory, file.name), file);
    if (differing !== null) found.differences.push(differing);
  }
  if (!product.hasImage) return found;
  const { differences, notes } = await compareImage(directory, inFolder(imageFile.name));
  found.differences.push(...differences);
  found.notes.push(...notes);
  return found;
}

const orderOf = (name: string) => (name === "merges.txt" ? 0 : 1);

function recordIn(directory: string, name: string, differences: Difference[]): json.JsonObject | null {
  try {
    return readTrainingRecord(directory).json;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    differences.push(difference(name, `cannot be read: ${error.message}`));
    return null;
  }
}

/**
 * Compiles the image of a tokenizer (tokenizer-image.ts) again from the files next to it, and compares it with the
 * image that is there. The image of another build of bpe may have a different layout, so if it differs, that is only a
 * note.
 */
async function compareImage(directory: string, name: string): Promise<Omit<Comparison, "fileNames">> {
  const path = join(directory, imageFile.name);
  const differing = (message: string) => ({ differences: [difference(name, message)], notes: [] });
  if (!files.isFile(path)) return differing(`is missing, although the format ${formats.image} was requested`);
  try {
    const [found, made] = [files.readBytes(path), await imageAt(directory)];
    if (Buffer.compare(found, made) === 0) return { differences: [], notes: [] };
    return imageFile.isOfOtherBuild(found, made)
      ? { differences: [], notes: [`${name} was not compared: another version of bpe compiled it`] }
      : differing("is not what this bpe compiles from the files next to it");
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return differing(`cannot be compared: ${error.message}`);
  }
}

function compareMerges(json: json.JsonObject, mergesSha256: string, folder: string): Difference[] {
  if (json.mergesSha256 === mergesSha256) return [];
  const what = folder === "" ? "merges" : `${folder}/merges`;
  return [difference(what, "differ from those that training gives (mergesSha256 in the record)")];
}

/** Fields of a record that `compareRecord` leaves out: they depend on the run, or are compared by other functions. */
const otherFields = ["inputs", "skipped", "counts", "base"];
/** Fields of a record's `options` that `compareRecord` leaves out. */
const otherOptions = ["workers", "weights", "like"];

/** A recorded result of one size, or of all sizes. */
type Said = {
  readonly json: json.JsonObject;
  /** The record that training gives now. */
  readonly made: object;
  readonly folder: string;
  readonly directory: string;
};

/**
 * Compares a record with the one that training gives now, and the record's checksums with the files. A field that the
 * record lacks is not compared.
 */
function compareRecord({ json, made, folder, directory }: Said): Difference[] {
  const what = folder === "" ? recordedFiles.recordName : `${folder}/${recordedFiles.recordName}`;
  const differences: Difference[] = [];
  const compare = (name: string, theirs: unknown, ours: unknown) => {
    if (isDeepStrictEqual(theirs, ours)) return;
    const [shown, trained] = [theirs, ours].map(shortJson);
    differences.push(difference(what, `has ${name} ${shown}; training gives ${trained}`));
  };
  const plain = JSON.parse(JSON.stringify(made)) as json.JsonObject;
  for (const [name, value] of Object.entries(plain)) {
    if (name === "options" || otherFields.includes(name) || !(name in json)) continue;
    compare(name, json[name], value);
  }
  const [theirs, ours] = [objectOf(json.options), objectOf(plain.options)];
  for (const name of new Set([...Object.keys(theirs), ...Object.keys(ours)])) {
    if (otherOptions.includes(name) || !(name in theirs)) continue;
    compare(`options.${name}`, withoutJavaScript(name, theirs[name]), withoutJavaScript(name, ours[name]));
  }
  return [...differences, ...compareChecksums(directory, json, folder)];
}

/** Compares files with their checksums in a record. Missing files are not reported here. */
export function compareChecksums(directory: string, json: json.JsonObject, folder = ""): Difference[] {
  return Object.entries(objectOf(json.filesSha256)).flatMap(([name, sha256]) => {
    const path = join(directory, name);
    if (!files.isFile(path) || outputFiles.sha256Of([files.readBytes(path)]) === sha256) return [];
    return [difference(join(folder, name), "has a different SHA-256 than the record states")];
  });
}

/**
 * Returns an option of a record without the pattern's JavaScript form, because another version of bpe may derive that
 * form differently from the expressions.
 */
function withoutJavaScript(name: string, value: unknown): unknown {
  if (name === "superwords" && value !== undefined) {
    const { wordPattern, ...rest } = objectOf(value);
    return { ...rest, wordPattern: withoutJavaScript("pattern", wordPattern) };
  }
  if (name !== "pattern") return value;
  const { javascript: _, ...rest } = objectOf(value);
  return rest;
}

function shortJson(value: unknown): string {
  const json = JSON.stringify(value) ?? "nothing";
  return json.length > 80 ? `${json.slice(0, 80)}...` : json;
}

/** Compares each input with what the record says of it. */
function compareInputs({ record }: RecordedTraining, { result }: Finished): Difference[] {
  return record.inputs.flatMap((input, i) => {
    const message = inputDifference(input, result.trained.statistics[i]!);
    return message === null ? [] : [difference(input.path, message)];
  });
}

type Statistics = Finished["result"]["trained"]["statistics"][number];

function inputDifference(input: RecordedInput, found: Statistics): string | null {
  const { textBytes = found.textBytes, documents = found.documentCount } = input;
  const { invalidBytes = found.invalidByteCount } = input;
  if (found.textBytes !== textBytes)
    return `has changed: ${groupDigits(found.textBytes)} bytes of text, not ${groupDigits(textBytes)}`;
  if (found.documentCount !== documents)
    return `has changed: ${countNoun(found.documentCount, "document")}, not ${groupDigits(documents)}`;
  if (found.invalidByteCount !== invalidBytes)
    return `has changed: ${countNoun(found.invalidByteCount, "invalid byte")}, not ${groupDigits(invalidBytes)}`;
  const { crc32 } = found;
  if (input.crc32 === undefined || crc32 === undefined || Number.parseInt(input.crc32, 16) === crc32)
    return null;
  return "has changed: the same number of bytes, but a different text (crc32)";
}
