import { fstatSync, type Stats, statSync } from "node:fs";
import { basename, dirname, relative, resolve } from "node:path";
import { includeFilter } from "../corpus/find-inputs.ts";
import { UserError } from "../errors.ts";
import { globMatcher } from "../runtime/host.ts";
import { slashed } from "../runtime/windows.ts";
import { isWithin, pathOf, placeOf } from "../store/output-place.ts";
import { followLinks } from "../store/trusted-files.ts";
import type { Invocation } from "./arguments.ts";
import { type CommandSpec, replacesDirectory } from "./command-table.ts";

/** A path, what is there, and where that is, or will be, with links resolved. */
type Target = { readonly typed: string; readonly stats: Stats | null; readonly real: string };

/** Where a file that a path names is, or will be. */
export function realPathOf(path: string): string {
  try {
    return pathOf(placeOf(followLinks(path)));
  } catch {
    // Whoever opens it says what is wrong.
    return resolve(path);
  }
}

const targetOf = (typed: string): Target => ({ typed, stats: look(typed), real: realPathOf(typed) });

function look(at: string | number): Stats | null {
  try {
    return typeof at === "string" ? statSync(at) : fstatSync(at);
  } catch {
    return null;
  }
}

/** Whether both are one file, by whatever names. Terminals and /dev/null are spoilt by nothing. */
const isSame = (a: Stats | null, b: Stats | null) =>
  a !== null && b !== null && !a.isCharacterDevice() && a.dev === b.dev && a.ino === b.ino;

const isStream = (log: Target, fd: number) => isSame(log.stats, look(fd));

/**
 * Refuses a `--log-file` that is, or lies in, what the run reads or writes. Files that a directory or a glob holds under
 * other names are known only when it is read.
 */
export function checkLogPlace(command: CommandSpec, { options, files }: Invocation): void {
  const path = options.text("log-file");
  if (path === undefined) return;
  const log = targetOf(path);
  const include = includeFilter(options.get("include") ?? []);
  const pathOptions = command.options.filter(
    (option) => option.name !== "log-file" && /FILE|DIR|PATH/.test(option.value ?? ""),
  );
  const others = pathOptions.flatMap((option) =>
    (options.get(option.name) ?? []).map((typed) => ({
      typed,
      isText: option.name === "text",
      isWhole: option.value === "DIR",
    })),
  );
  const named = [
    ...files.map((typed) => ({ typed, isText: command.name !== "prune", isWhole: false })),
    ...others,
  ];
  for (const { typed, isText, isWhole } of named) {
    if (typed === "-" || typed === "") continue;
    const isSpoilt = isText
      ? isOfCorpus(log, targetOf(typed), include)
      : isPart(log, targetOf(typed), isWhole);
    if (isSpoilt) throw spoilt(path, `"${typed}"`);
  }
  const reads = [...files, ...(options.get("ranges") ?? []), ...(options.get("text") ?? [])].includes("-");
  if (reads && isStream(log, 0)) throw spoilt(path, "standard input");
  const writes = !replacesDirectory(command) && options.outputFile() === undefined;
  if (writes && isStream(log, 1)) throw spoilt(path, "standard output");
}

const spoilt = (path: string, what: string) =>
  new UserError(`--log-file "${path}" would be written into ${what}`, { hint: "name a file of its own" });

const isFileOrGlob = (log: Target, { typed, stats, real }: Target) =>
  isSame(log.stats, stats) || log.real === real || (stats === null && isMatched(log.real, typed));

function isMatched(path: string, typed: string): boolean {
  const glob = slashed(typed);
  const parts = glob.split("/");
  const firstWild = parts.findIndex((part) => /[*?[]/.test(part));
  if (firstWild < 0) return false;
  const base = realPathOf(parts.slice(0, firstWild).join("/") || (glob.startsWith("/") ? "/" : "."));
  const below = slashed(relative(base, path));
  return !isHidden(below) && globMatcher(parts.slice(firstWild).join("/"))(below);
}

/** Whether a path below a directory is not found there: it is hidden, or leads out. */
const isHidden = (below: string) => /(^|\/)\./.test(below);

/** Whether the log is a file of the corpus that a path, a directory or a glob names. */
function isOfCorpus(log: Target, named: Target, include: (pathBelow: string) => boolean): boolean {
  if (!named.stats?.isDirectory()) return isFileOrGlob(log, named);
  const below = slashed(relative(named.real, log.real));
  return isWithin(log.real, named.real) && !isHidden(below) && include(below);
}

/** Whether it is the file, or one beside it, or in the directory, of a tokenizer; or in that of a cache. */
function isPart(log: Target, named: Target, isWhole: boolean): boolean {
  if (!named.stats?.isDirectory()) {
    const isBeside = dirname(log.real) === dirname(named.real) && besideTokenizer.test(basename(log.real));
    return isFileOrGlob(log, named) || (isBeside && besideTokenizer.test(basename(named.real)));
  }
  return isWhole
    ? isWithin(log.real, named.real)
    : dirname(log.real) === named.real && inTokenizer.test(basename(log.real));
}

const besideTokenizer = /^(vocab\.json|merges\.txt|training\.json|tokens\.tsv)$/;
const inTokenizer = /\.(json|txt|tsv|tiktoken|model|jinja|md)$/;

/** Whether a log may spoil a file of a command line that is not checked yet. */
export function maySpoil(path: string, typed: readonly string[]): boolean {
  const log = targetOf(path);
  const at = typed.findIndex((argument) => /^--log-file(=|$)/.test(argument));
  const others = typed.toSpliced(at, typed[at] === "--log-file" ? 2 : 1);
  if (isStream(log, 0) || isStream(log, 1)) return true;
  return others.some((argument) => {
    const named = targetOf(argument.replace(/^(-[^=]*|[^=/]*)=/, ""));
    return isPart(log, named, true) || isPart(log, targetOf(argument), true);
  });
}
