// Tries paths of many kinds as each argument that is a path (command-lines.ts).
import { expect, test } from "bun:test";
import { chmodSync, cpSync, lstatSync, mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { extname, join } from "node:path";
import * as outputLock from "../../src/store/output-lock.ts";
import { placeOf } from "../../src/store/output-place.ts";
import { binary, bpe, environment, put, scratch, untilItCatches } from "../binary.ts";
import { makePipe, otherUser } from "../other-user.ts";
import { isThorough, turns } from "../rounds.ts";
import { type Finished, WarmProgram } from "../warm-runs.ts";
import { fillWithInputs, type PathArgument, pathArguments } from "./command-lines.ts";

type Use = PathArgument["use"];

/**
 * How a run ends. "works": it succeeds. "waits": it waits, such as for a writer to a pipe. Any other text is a regular
 * expression that the error message matches. In it, PATH is the path in quotes, and OPTION the option. With `usage: `
 * before it, the exit code is 2, otherwise 1.
 */
type Ending = "works" | "waits" | (string & {});

type Kind = {
  readonly path: string;
  /** How a run ends, by how it uses the path. */
  readonly endings: Readonly<Record<Use, Ending>>;
  /** Endings of arguments to which `endings` does not apply, by the argument's name. */
  readonly others?: Readonly<Record<string, Ending>>;
};

const notFound = "PATH: no such file";
const belowFile = "PATH: a part of the path is a file";
const tooLong = "PATH cannot be read: the name is too long";
const tooManyLinks = "PATH cannot be read: too many symbolic links";
const notRegular = "(OPTION: )?PATH is not a regular file";
const isLink = "PATH is not replaced: it is a symbolic link";
const fileInPlace = "OPTION PATH cannot be used: there is a file of that name";
const unnamed = "usage: OPTION was given an empty name";
const noDirectoryName = "usage: OPTION PATH does not name a directory";
const noFileName = "usage: OPTION PATH does not name a file";
const noName = "usage: OPTION: unknown name PATH";
/** A value of --chat-template without a slash or a dot is the name of a template. */
const templateName = { "train --chat-template": noName };
const reports = (ending: Ending) =>
  Object.fromEntries(["train", "inspect", "eval", "diff"].map((name) => [`${name} --report`, ending]));
const idFiles = (ending: Ending) =>
  Object.fromEntries(
    ["decode <file>", ...["encode", "decode", "truncate", "check"].map((word) => `ids ${word} <file>`)].map(
      (name) => [name, ending],
    ),
  );
const idMerges = (ending: Ending) => ({
  "ids encode --tokenizer": ending,
  "ids decode --tokenizer": ending,
  "ids inspect <path>": ending,
});
/** A .npy file, whose header is written last, must be a regular file. */
const idOutputs = (ending: Ending) =>
  Object.fromEntries(["encode", "ids encode", "ids truncate"].map((name) => [`${name} --output`, ending]));

const kinds: Readonly<Record<string, Kind>> = {
  missing: {
    path: "missing",
    endings: {
      ...{ corpus: notFound, files: notFound, tokenizer: notFound },
      ...{ file: "works", directory: "works", cache: "works", log: "works" },
    },
    others: { "verify <dir>": "PATH does not exist", ...templateName },
  },
  "in a missing directory": {
    path: "missing/x",
    endings: {
      ...{ corpus: notFound, files: notFound, tokenizer: notFound },
      ...{ directory: "works", cache: "works" },
      file: 'PATH cannot be written: there is no directory "missing"',
      log: "OPTION PATH cannot be written: no such directory",
    },
    others: { "verify <dir>": "PATH does not exist" },
  },
  "below a file": {
    path: "file.txt/x",
    endings: {
      ...{ corpus: notFound, files: notFound, tokenizer: notFound },
      ...{ file: belowFile, directory: belowFile, log: belowFile },
      cache: "OPTION PATH cannot be used: a part of the path is a file",
    },
    others: { "verify <dir>": "PATH does not exist" },
  },
  empty: {
    path: "",
    endings: {
      ...{ corpus: notFound, files: notFound, tokenizer: notFound },
      ...{ file: unnamed, directory: unnamed, cache: unnamed, log: unnamed },
    },
    others: {
      ...{ "train --language": 'usage: OPTION "en=" has no path' },
      ...{ "train --language-dev": 'usage: OPTION "en=" has no path' },
      ...{ "verify <dir>": "PATH does not exist", ...templateName, "eval --model": "usage: OPTION is empty" },
      ...reports(noFileName),
      "diff --pieces": noFileName,
    },
  },
  "an empty directory": {
    path: "directory",
    endings: {
      corpus: "PATH contains no file to read: hidden files, pipes and devices in directories are skipped",
      files: "PATH is a directory, not a file",
      tokenizer: "PATH contains no tokenizer",
      ...{ file: "PATH cannot be written: it is a directory", directory: "works", cache: "works" },
      log: "OPTION PATH cannot be written: it is a directory",
    },
    others: {
      "verify <dir>": "PATH has no training.json, the record of a training",
      ...idMerges('"directory/merges.txt": no such file'),
      ...templateName,
      ...{ "count --ranges": "PATH cannot be read: it is a directory" },
      ...{ "encode --ranges": "PATH cannot be read: it is a directory" },
      ...{ "ids train <file>": "PATH is a directory", "ids encode <file>": "PATH is a directory" },
      "ids check <file>": "PATH is a directory",
    },
  },
  "a link to nothing": {
    path: "dangling",
    endings: {
      ...{ corpus: "PATH is a broken link", files: "PATH is a broken link", tokenizer: notFound },
      ...{ file: "works", directory: isLink, cache: "works", log: "works" },
    },
    others: { "verify <dir>": "PATH does not exist", ...idMerges("PATH is a broken link"), ...templateName },
  },
  "a link to itself": {
    path: "loop",
    endings: {
      ...{ corpus: tooManyLinks, files: tooManyLinks, tokenizer: tooManyLinks },
      file: "PATH: too many symbolic links",
      ...{ directory: isLink, cache: fileInPlace },
      log: "OPTION PATH cannot be written: too many symbolic links",
    },
    others: templateName,
  },
  "a name that is too long": {
    path: "n".repeat(256),
    endings: {
      ...{ corpus: tooLong, files: tooLong, tokenizer: tooLong },
      ...{ file: "PATH: the name is too long", directory: "PATH: the name is too long" },
      cache: "OPTION PATH cannot be used: the name is too long",
      log: "PATH: the name is too long",
    },
    // `encode` and `tokens` treat a word that is too long for a path like any other word that is not a file. They say
    // that there is no such file, and hint at how to pass a text.
    others: { ...templateName, "encode <file>": notFound, "tokens <file>": notFound },
  },
  "a device that is empty": {
    path: "/dev/null",
    endings: {
      corpus: "the corpus is empty: PATH is empty",
      ...{ files: notRegular, tokenizer: notRegular },
      ...{ file: "works", log: "works", directory: "PATH is not replaced: it is not a directory" },
      cache: fileInPlace,
    },
    others: {
      ...idOutputs("usage: OPTION PATH ends in neither .npy nor .bin"),
      "encode --output": "usage: OPTION PATH does not say which format to write",
      "ids join --output": "usage: OPTION PATH does not say which format to write",
      ...{ "tokens <file>": "works", ...idFiles("works") },
      "train --language-dev": 'the dev text of language "en" has no words',
      "plan <file>": notRegular,
      ...{ "eval --text": "PATH is a device", "diff --text": "PATH is a device" },
      ...{ "train --counts": "PATH is a device", "count --counts": "PATH is a device" },
      "ids train <file>": "there is nothing to train on: the input contains no ids",
      "verify <dir>": "PATH is not a directory",
    },
  },
  "a socket": {
    path: "socket",
    endings: {
      corpus: "PATH is a socket, not a file",
      files: "PATH cannot be read: no program reads it, or it is a socket",
      tokenizer: notRegular,
      file: "PATH cannot be written: no program reads it, or it is a socket",
      log: "OPTION PATH cannot be written: no program reads it, or it is a socket",
      ...{ directory: isLink, cache: fileInPlace },
    },
    others: {
      ...templateName,
      ...reports("PATH is a socket, not a file"),
      ...idFiles("PATH is a socket, not a file"),
      "ids train <file>": "PATH is a socket, not a file",
      "eval --text": "PATH cannot be read: no program reads it, or it is a socket",
      "diff --text": "PATH cannot be read: no program reads it, or it is a socket",
      ...{
        "count --ranges": notRegular,
        "encode --ranges": notRegular,
        "verify <dir>": "PATH is not a directory",
      },
      ...idMerges("PATH cannot be read: no program reads it, or it is a socket"),
      ...reports("PATH is a socket, not a file"),
      ...idOutputs("PATH cannot be written: it is not a regular file"),
      "ids decode --output": "PATH cannot be written: it is not a regular file",
      "ids join --output": "usage: OPTION PATH cannot store the joined parts",
    },
  },
  "a named pipe": {
    path: "pipe",
    endings: {
      ...{ corpus: "waits", files: notRegular, tokenizer: notRegular },
      ...{ file: "waits", directory: "PATH is not replaced: it is not a directory", cache: fileInPlace },
      log: "OPTION PATH cannot be written: no program reads it",
    },
    others: {
      ...templateName,
      "plan <file>": notRegular,
      ...{
        "train --counts": "waits",
        "count --counts": "waits",
        ...idFiles("waits"),
        "ids train <file>": "waits",
      },
      "verify <dir>": "PATH is not a directory",
      ...idOutputs("PATH cannot be written: it is not a regular file"),
      "ids decode --output": "PATH cannot be written: it is not a regular file",
      "ids join --output": "usage: OPTION PATH cannot store the joined parts",
    },
  },
  "standard input, which is empty": {
    path: "-",
    endings: {
      corpus: "the corpus is empty: standard input is empty",
      ...{ files: notFound, tokenizer: notFound },
      ...{ file: "works", directory: noDirectoryName, cache: noDirectoryName, log: noFileName },
    },
    others: {
      ...{ "tokens <file>": "works", ...idFiles("works") },
      "train --language-dev": 'the dev text of language "en" has no words',
      "plan <file>":
        "usage: standard input cannot be in a plan: runs that read the plan open each file again",
      ...{ "count --ranges": "standard input contains no ranges" },
      ...{ "encode --ranges": "standard input contains no ranges" },
      "ids train <file>": "there is nothing to train on: the input contains no ids",
      ...{ "verify <dir>": "PATH does not exist", ...templateName, ...reports(noFileName) },
      "diff --pieces": noFileName,
      "ids join --output": "usage: OPTION PATH does not say which format to write",
    },
  },
};

/** Names that are odd, but valid. The second is long, but leaves room for the longer hidden names next to an output. */
const oddNames = [" -a\n=語 '\"[*]\x1b[31m", "語".repeat(70)];

const denied = "PATH cannot be read: permission denied";
/**
 * A file, and a directory, without permissions. Root ignores permissions, so for root the program runs as another user.
 */
const forbidden: Readonly<Record<string, Kind>> = {
  "a file without permissions": {
    path: "locked.txt",
    endings: {
      ...{ corpus: denied, files: denied, tokenizer: denied, file: "works", cache: fileInPlace },
      directory: "PATH is not replaced: it is not a directory",
      log: "OPTION PATH cannot be written: permission denied",
    },
    others: { ...reports(denied), "verify <dir>": "PATH is not a directory" },
  },
  "in a directory without permissions": {
    path: "locked/x",
    endings: {
      ...{ corpus: denied, files: denied, tokenizer: denied },
      ...{ file: "PATH: permission denied", directory: "PATH: permission denied" },
      cache: "OPTION PATH cannot be used: permission denied",
      log: "PATH: permission denied",
    },
  },
};

const model = scratch();
/** The directory in which commands run: a copy of `model`, replaced after a run that changed its files. */
const home = join(scratch(), "home");
const socket = join(scratch(), "socket");
Bun.listen({ unix: socket, socket: { data() {} } }).unref();

/** Makes the inputs and the paths of `kinds`, some also with the ending .npy, for outputs of ids. */
function fill(): void {
  fillWithInputs(model);
  put(model, "file.txt", "a file");
  for (const ending of ["", ".npy"]) {
    symlinkSync(`nowhere${ending}`, join(model, `dangling${ending}`));
    symlinkSync(`loop${ending}`, join(model, `loop${ending}`));
    symlinkSync(socket, join(model, `socket${ending}`));
    mkdirSync(join(model, `directory${ending}`));
    makePipe(join(model, `pipe${ending}`));
  }
  renew();
}

function renew(): void {
  rmSync(home, { recursive: true, force: true });
  Bun.spawnSync(["cp", "-a", model, home]);
}

/** Describes every entry below the directory, by path. Links are not followed. */
function* listed(directory: string, prefix = ""): Generator<[path: string, description: string]> {
  for (const entry of readdirSync(join(directory, prefix), { withFileTypes: true })) {
    const path = prefix + entry.name;
    const { mode, size, mtimeMs } = lstatSync(join(directory, path));
    yield [path, `${mode} ${size} ${mtimeMs}`];
    if (entry.isDirectory()) yield* listed(directory, `${path}/`);
  }
}
const listing = (directory: string) => new Map(listed(directory));

const typedFor = ({ isWritten, valid }: PathArgument, { path }: Kind) =>
  isWritten && /^\w/.test(path) ? path + extname(valid) : path;

const endingOf = ({ name, use }: PathArgument, { endings, others }: Kind) => others?.[name] ?? endings[use];

const literal = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

/** Returns what is wrong with how a run ended; undefined if nothing is. */
function complaint({ code, stderr }: Finished, argument: PathArgument, typed: string, ending: Ending) {
  const told = `exit code ${code}: ${stderr}`;
  if (ending === "works") return code === 0 && stderr === "" ? undefined : told;
  const option = argument.name.match(/--\S+/)?.[0] ?? "";
  const [, usage, message] = /^(usage: )?(.*)$/.exec(ending)!;
  const named = message!.replaceAll("PATH", literal(`"${typed}"`)).replaceAll("OPTION", option);
  const expected = new RegExp(`^bpe: error: ${named}.*\n(hint: .*\n)?$`);
  return code === (usage === undefined ? 1 : 2) && expected.test(stderr) ? undefined : told;
}

/**
 * Undoes what a run did. Returns the paths of the files that it added or changed; after a success, only hidden ones
 * that it added.
 */
function clear(before: ReadonlyMap<string, string>, hasSucceeded: boolean): string[] {
  const after = listing(home);
  const added = [...after.keys()].filter((path) => !before.has(path));
  const changed = [...before].flatMap(([path, was]) => (after.get(path) === was ? [] : [path]));
  if (changed.length > 0) renew();
  else for (const path of added) rmSync(join(home, path), { recursive: true, force: true });
  return hasSucceeded ? added.filter((path) => /(^|\/)\./.test(path)) : [...added, ...changed];
}

/**
 * Tries a path as every argument, except where a run would wait. Unless the tests are thorough, tries only an eighth of
 * the arguments with which a run should succeed. Describes runs that ended otherwise than expected or left files.
 */
function complaintsOf(kind: Kind, turn: number, run: (line: string[]) => Finished): string[] {
  renew();
  const before = listing(home);
  return pathArguments.flatMap((argument, i) => {
    const ending = endingOf(argument, kind);
    if (ending === "waits" || (ending === "works" && !isThorough && (i + turn) % 8 > 0)) return [];
    const typed = typedFor(argument, kind);
    const line = argument.lineWith(typed);
    const finished = run(line);
    const wrong = complaint(finished, argument, typed, ending);
    // If only the report fails, the tokenizer has already been written.
    const left = clear(before, finished.code === 0 || argument.name === "train --report");
    return [
      ...(wrong === undefined ? [] : [`${line.join(" ")}: ${wrong}`]),
      ...(left.length === 0 ? [] : [`${line.join(" ")}: left ${left.join(", ")}`]),
    ];
  });
}

test("every row belongs to an argument, and with a good path every argument works", () => {
  fill();
  const names = new Set(pathArguments.map(({ name }) => name));
  const rows = Object.values(kinds).flatMap(({ others = {} }) => Object.keys(others));
  expect(rows.filter((name) => !names.has(name))).toEqual([]);
  const before = listing(home);
  for (const argument of pathArguments) {
    const { code, stderr } = bpe(argument.lineWith(argument.valid), { cwd: home });
    expect([argument.name, code, stderr]).toEqual([argument.name, 0, ""]);
    clear(before, true);
  }
});

for (const [turn, [name, kind]] of Object.entries(kinds).entries()) {
  test(`a path that is ${name}`, () => {
    expect(complaintsOf(kind, turn, (line) => bpe(line, { cwd: home }))).toEqual([]);
  });
}

test("a path with an odd or a long name works", () => {
  renew();
  const before = listing(home);
  for (const [i, { name, valid, isWritten, lineWith }] of pathArguments.entries()) {
    // `ids join` takes the manifest of a part, and finds the part's other files by the manifest's name. So a copy of
    // the manifest with another name does not work.
    if (name === "ids join <file>" || (!isThorough && i % 3 > 0)) continue;
    for (const odd of turns(oddNames, i)) {
      const path = isWritten ? odd + extname(valid) : join(odd, odd + extname(valid));
      if (!isWritten) {
        mkdirSync(join(home, odd));
        cpSync(join(home, valid), join(home, path), { recursive: true });
      }
      const { code, stderr } = bpe(lineWith(path), { cwd: home });
      expect([name, code, stderr]).toEqual([name, 0, ""]);
      clear(before, true);
    }
  }
});

for (const [name, kind] of Object.entries(forbidden)) {
  test(`a path that is ${name}`, () => {
    put(model, "locked.txt", "text");
    chmodSync(join(model, "locked.txt"), 0);
    mkdirSync(join(model, "locked"), { recursive: true });
    chmodSync(join(model, "locked"), 0);
    chmodSync(join(home, ".."), 0o755);
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) Bun.spawnSync(["chown", "-hR", String(otherUser), model]);
    const wrapper = isRoot ? ["setpriv", `--reuid=${otherUser}`, "--clear-groups"] : [];
    const other = new WarmProgram([...wrapper, `${binary}-warm`], environment);
    expect(complaintsOf(kind, 0, (line) => other.run(line, home))).toEqual([]);
  });
}

test("a signal ends a run that waits for the other end of a pipe", async () => {
  renew();
  const before = listing(home);
  const kind = kinds["a named pipe"]!;
  for (const argument of pathArguments.filter((argument) => endingOf(argument, kind) === "waits")) {
    const line = argument.lineWith(typedFor(argument, kind));
    const run = Bun.spawn([binary, ...line], {
      cwd: home,
      env: environment,
      stdout: "ignore",
      stderr: "pipe",
    });
    await untilItCatches(run, "SIGTERM");
    // Usually long enough for the run to wait on the pipe. If the run does not wait yet, it must handle the signal as
    // well.
    await Bun.sleep(50);
    const isWaiting = run.exitCode === null;
    run.kill("SIGTERM");
    await run.exited;
    const stderr = await new Response(run.stderr).text();
    expect([line, isWaiting, run.exitCode, stderr]).toEqual([line, true, 143, "bpe: terminated\n"]);
    // A run may have written another output before it waits, as `train --report` writes the tokenizer first.
    expect([line, clear(before, true)]).toEqual([line, []]);
  }
});

test("an output that another run writes is refused, and nothing is touched", () => {
  renew();
  const before = listing(home);
  const written = pathArguments.filter(({ use }) => use === "file" || use === "directory");
  for (const { name, valid, lineWith } of written) {
    const lock = outputLock.takeNow(placeOf(join(home, valid)));
    const { code, stderr } = bpe(lineWith(valid), { cwd: home });
    lock.release();
    const refusal = new RegExp(
      `^bpe: error: "${literal(valid)}" is being written by process ${process.pid}, since 20.*Z\nhint: (wait|try again) .*\n$`,
    );
    expect([name, code, stderr]).toEqual([name, 1, expect.stringMatching(refusal)]);
    expect([name, clear(before, false)]).toEqual([name, []]);
  }
});
