import { basename } from "node:path";
import { exitCode, UserError } from "../errors.ts";
import { isDirectory, statOf } from "../runtime/named-files.ts";
import { filesBelow } from "./directories.ts";
import type { Skipped } from "./each-file-once.ts";
import { filesMatching, includeFilter } from "./globs.ts";
import { emptyCorpus, type Input } from "./input.ts";
import { type InputOptions, inspectInput, lookAt, noParquetStream } from "./inspect-input.ts";

export type FoundInputs = {
  readonly inputs: readonly Input[];
  /** Files of directories and globs that are not read. */
  readonly skipped: readonly Skipped[];
};

/**
 * The files that the arguments name, in their order, each inspected. An argument is a path; or, if no such path exists, a
 * glob (`*`, `?`, `[]`, `**`; hidden files are left out); or a directory, which stands for the files below it. Files of
 * one argument are in byte order of their paths. A file that is no text is an error if it is named, and skipped in a
 * directory.
 */
export function findCorpus(names: readonly string[], options: InputOptions = {}): FoundInputs {
  checkNames(names, options);
  const include = options.include ?? [];
  if (include.length > 0 && !names.some(isDirectory)) {
    throw new UserError("--include is for the files of a directory, and none is named", {
      hint: "name a directory, or the files themselves",
      exitCode: exitCode.usage,
    });
  }
  const found = names.map((name) => findNamed(name, options));
  const inputs = found.flatMap((some) => some.inputs);
  if (inputs.every((input) => input.sizeBytes === 0 && !input.isStream)) throw emptyCorpus(inputs);
  return { inputs, skipped: found.flatMap((some) => some.skipped) };
}

/** The same, without the files that are skipped. */
export const findInputs = (names: readonly string[], options: InputOptions = {}): Input[] => [
  ...findCorpus(names, options).inputs,
];

/** Refuses names that are wrong by themselves. Reads no file. */
export function checkNames(names: readonly string[], { format }: InputOptions = {}): void {
  if (names.length === 0) {
    throw new UserError("no input", { hint: "name at least one text file", exitCode: exitCode.usage });
  }
  const standardInputs = names.filter((name) => name === "-");
  if (standardInputs.length > 1) {
    throw new UserError("standard input (-) is named twice, and can be read once", {
      exitCode: exitCode.usage,
    });
  }
  if (standardInputs.length === 1 && format === "parquet") throw noParquetStream("-");
}

function findNamed(name: string, options: InputOptions): FoundInputs {
  if (name !== "-" && isDirectory(name)) return findBelow(name, options);
  if (name === "-" || name === "" || !/[*?[]/.test(name) || statOf(name) !== undefined) {
    return { inputs: [inspectInput(name, options)], skipped: [] };
  }
  const { paths, skipped } = filesMatching(name);
  if (paths.length === 0) {
    throw new UserError(`"${name}": no such file, and no file matches it as a glob`, {
      hint: "hidden files are not matched; quote the glob so that the shell leaves it alone",
    });
  }
  return { inputs: paths.map((path) => inspectInput(path, options)), skipped };
}

function findBelow(directory: string, options: InputOptions): FoundInputs {
  const include = options.include ?? [];
  const { paths, skipped } = filesBelow(directory, includeFilter(include));
  const inputs: Input[] = [];
  const look = (path: string) => {
    const found = lookAt(path, options);
    if ("what" in found) skipped.push({ path, reason: found.what });
    else inputs.push(found);
  };
  const isAbout = (path: string) => include.length === 0 && aboutData.test(basename(path));
  for (const path of paths) if (!isAbout(path)) look(path);
  const hasRecords = inputs.some(({ format }) => format !== "text");
  for (const path of paths.filter(isAbout)) {
    if (hasRecords) skipped.push({ path, reason: "about the records beside it (--include takes it in)" });
    else look(path);
  }
  if (inputs.length === 0) throw nothingBelow(directory, include, skipped);
  const order = new Map(paths.map((path, i) => [path, i]));
  return {
    inputs: inputs.sort((a, b) => order.get(a.path)! - order.get(b.path)!),
    skipped: skipped.sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path))),
  };
}

/** Names of the files in data sets that describe the files of records. */
const aboutData = new RegExp(
  [
    String.raw`^(readme|licen[cs]e|copying|notice|citation|changelog|contributing)(\.(md|txt|rst|cff|bib))?$`,
    String.raw`^dataset_infos?\.json$`,
    String.raw`^(dataset_dict|dataset-metadata|state)\.json$`,
    "^_(success|metadata|common_metadata)$",
    String.raw`^(md5|sha\d+)sums?(\.txt)?$`,
    String.raw`\.(md5|sha1|sha256|crc)$`,
  ].join("|"),
  "i",
);

function nothingBelow(directory: string, include: readonly string[], skipped: readonly Skipped[]): UserError {
  const [first] = skipped;
  if (first !== undefined) {
    return new UserError(`there is no text below "${directory}": "${first.path}" is ${first.reason}`, {
      hint: `${skipped.length} in all were skipped; --binary text reads what is no text as it is`,
    });
  }
  const what =
    include.length === 0 ? "no file" : `no file that --include ${include.join(", --include ")} describes`;
  return new UserError(`there is ${what} below "${directory}"`, { hint: "hidden files are not looked at" });
}
