import { existsSync } from "node:fs";
import { relative } from "node:path";
import { inputSearch } from "#corpus";
import { namedTokenizers, tokenizerFiles } from "#formats";
import type { optionTables } from "#options";
import { asOption, files, host, type Message, phrase, withForwardSlashes } from "#runtime";
import { outputPlaces, writtenPlaces } from "#store";
import type { Invocation } from "#terminal";
import type { CommandSpec } from "./command-spec.ts";

/** A typed path, how it is read, and how messages name it. */
type TypedRead = { readonly path: string; readonly reads: optionTables.PathRead; readonly name: Message };

/** Returns all paths that a command line reads, from the table of options. */
function typedReads({ reads, options: known }: CommandSpec, invocation: Invocation): TypedRead[] {
  const found: TypedRead[] = [];
  const add = (typed: string, reads: optionTables.PathRead | undefined, value: string, option?: string) => {
    const path = typedPath(value, typed);
    if (reads === undefined || path === undefined || path === "") return;
    found.push({ path, reads, name: option === undefined ? `"${path}"` : asOption(option, `"${path}"`) });
  };
  for (const typed of invocation.files) add(typed, reads, reads === "tokenizer" ? "[NAME=]PATH" : "FILE");
  for (const { name, reads, kind } of known)
    for (const typed of invocation.options.get(name) ?? []) add(typed, reads, kind.value ?? "", name);
  return found;
}

/**
 * Returns the path in a typed value; undefined if the value is a name. `shown` is the form of the value in help, e.g.
 * `[NAME=]FILE`. If `shown` begins with `NAME|`, a value with neither a dot nor a slash is a name.
 */
function typedPath(shown: string, typed: string): string | undefined {
  if (shown.startsWith("NAME|") && !/[./]/.test(typed)) return undefined;
  if (!shown.includes("NAME=") || existsSync(typed)) return typed;
  return /^[^=/]*=(.*)$/s.exec(typed)?.[1] ?? typed;
}

/** Returns all outputs, including standard output if it is written. */
function typedWrites(command: CommandSpec, { options }: Invocation): writtenPlaces.RunOutput[] {
  const written = command.options.flatMap(({ name, writes: kind }): writtenPlaces.RunOutput[] => {
    const path = options.text(name);
    const isFile =
      kind !== undefined && path !== undefined && path !== "" && !(name === "output" && path === "-");
    return isFile ? [{ name: asOption(name, `"${path}"`), path, kind }] : [];
  });
  const writesStdout = !replacesDirectory(command) && [undefined, "-"].includes(options.text("output"));
  return writesStdout ? [...written, standardOutput] : written;
}

/** Whether the command's output is a directory, which is replaced as a whole. */
const replacesDirectory = ({ options }: CommandSpec) => options.some(({ writes }) => writes === "directory");

const standardOutput: writtenPlaces.RunOutput = { name: "standard output", path: 1, kind: "file" };

/**
 * Returns all outputs of the command line. Refuses an output that is within another one, and an output that would harm
 * or contain an input of the command line. Also refuses a log that would be found as an input.
 */
export function checkRunPaths(command: CommandSpec, invocation: Invocation): writtenPlaces.WrittenPlaces {
  const places = new writtenPlaces.WrittenPlaces(typedWrites(command, invocation));
  const reads = typedReads(command, invocation);
  places.refuseNesting();
  places.refuseOverlap(reads.flatMap(pathsOfRead));
  const log = invocation.options.text("log-file");
  if (log !== undefined) keepLogFromCorpus(log, reads, invocation);
  return places;
}

function pathsOfRead({ path, reads, name }: TypedRead): writtenPlaces.RunInput[] {
  const named = { path, name };
  if (path === "-") return [{ path }];
  if (reads === "files" && /[*?[]/.test(path) && isAbsent(path))
    return inputSearch.filesMatching(path).paths.map((path) => ({ path }));
  const parts =
    reads === "tokenizer"
      ? ifUsable(() => tokenizerFiles.pathsReadAt(namedTokenizers.find(path).path), [])
      : [];
  return [named, ...parts.filter((part) => part !== path).map((path) => ({ path }))];
}

/**
 * Refuses a log file that would be found in a directory of the corpus, or by a glob among the inputs. It would be read
 * as an input, because the log is created before the inputs are listed.
 */
function keepLogFromCorpus(log: string, reads: readonly TypedRead[], { options }: Invocation): void {
  const include = inputSearch.includeFilter(options.get("include") ?? []);
  const real = writtenPlaces.realPathOf(log);
  for (const { path, reads: kind, name } of reads) {
    if (kind === "tokenizer" || path === "-") continue;
    const isFound = isFolder(path)
      ? kind === "corpus" && isBelow(real, writtenPlaces.realPathOf(path), include)
      : isAbsent(path) && isMatched(real, path);
    if (isFound)
      throw new writtenPlaces.MisplacedOutput(
        phrase`${asOption("log-file", `"${log}"`)} would be written into ${name}`,
        true,
      );
  }
}

function isBelow(path: string, directory: string, include: (pathBelow: string) => boolean): boolean {
  const below = withForwardSlashes(relative(directory, path));
  return outputPlaces.isWithin(path, directory) && !isHidden(below) && include(below);
}

function isMatched(path: string, typed: string): boolean {
  const glob = withForwardSlashes(typed);
  const parts = glob.split("/");
  const firstWild = parts.findIndex((part) => /[*?[]/.test(part));
  if (firstWild < 0) return false;
  const base = writtenPlaces.realPathOf(
    parts.slice(0, firstWild).join("/") || (glob.startsWith("/") ? "/" : "."),
  );
  const below = withForwardSlashes(relative(base, path));
  return !isHidden(below) && host.globMatcher(parts.slice(firstWild).join("/"))(below);
}

/**
 * Whether a part of a path begins with a dot. Such a path, relative to a directory, is hidden or leads out of that
 * directory (`..`).
 */
const isHidden = (below: string) => /(^|\/)\./.test(below);

/**
 * Whether a log at `path` may damage a file that the command line names. Also true if the log is in a directory that
 * the command line names, or matches a glob in the command line. The arguments have not been parsed yet, so each is
 * taken for a path.
 */
export function mayDamage(path: string, typed: readonly string[]): boolean {
  const at = typed.findIndex((argument) => /^--log-file(=|$)/.test(argument));
  const others = typed.toSpliced(at, typed[at] === "--log-file" ? 2 : 1);
  const paths = others.flatMap((argument) => [argument, argument.replace(/^(-[^=]*|[^=/]*)=/, "")]);
  const real = writtenPlaces.realPathOf(path);
  if (
    paths.some(
      (other) =>
        isMatched(real, other) ||
        (isFolder(other) && outputPlaces.isWithin(real, writtenPlaces.realPathOf(other))),
    )
  )
    return true;
  const written = new writtenPlaces.WrittenPlaces([
    { name: asOption("log-file"), path, kind: "log" },
    standardOutput,
  ]);
  try {
    written.refuseNesting();
    written.refuseOverlap(
      ["-", ...paths].flatMap((path) => pathsOfRead({ path, reads: "tokenizer", name: path })),
    );
    return false;
  } catch {
    return true;
  }
}

/** Returns `otherwise` if `look` throws. If the command reads the path, it reports the error then. */
function ifUsable<T>(look: () => T, otherwise: T): T {
  try {
    return look();
  } catch {
    return otherwise;
  }
}

const isFolder = (path: string) => ifUsable(() => files.isDirectory(path), false);
const isAbsent = (path: string) => ifUsable(() => files.stat(path) === undefined, false);
