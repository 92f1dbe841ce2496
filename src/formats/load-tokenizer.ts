import { readdirSync, readSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { files, shell, UserError } from "#runtime";
import { imageFile, type TokenizerParts, type tokenizers } from "#tokenizer";
import * as formats from "./formats.ts";
import * as idMergesNames from "./id-merges-path.ts";
import type { SourceFile, SourceFiles, TokenizerFormat } from "./output-file.ts";
import * as recordFiles from "./read-training-record.ts";
import { readRecordedSizes, recordName, tokensTsvName } from "./recorded-files.ts";

/** Loads a tokenizer from a file, or from the first recognized files of a directory. */
export const load = async (path: string, options: tokenizers.LoadOptions = {}): Promise<TokenizerParts> =>
  loadSource(await readSource(fileOf(path)), options);

/** Loads a tokenizer whose files were read. */
export const loadSource = ({ code, files, paths }: Source, options: tokenizers.LoadOptions): TokenizerParts =>
  code.read(files, {
    ...options,
    asksForBos: () => recordFiles.find(paths)?.bosInFront !== undefined,
  });

/** Returns the tokenizer file at a path; the path may be a directory. */
export function fileOf(path: string): TokenizerFile {
  const stats = files.stat(path);
  if (stats === undefined) {
    throw new UserError(`"${path}": no such file or directory`, {
      hint: "name a tokenizer directory, a tokenizer.json, a vocab.json, a rank file, a tokenizer.model or a tekken.json",
    });
  }
  if (idMergesNames.pathOf(path) !== undefined) {
    throw new UserError(`"${path}" is a tokenizer of ids, not of text`, {
      hint: "use it with bpe ids encode, bpe ids decode or bpe ids inspect",
    });
  }
  if (!stats.isDirectory() && !stats.isFile())
    throw new UserError(`"${path}" is not a regular file`, {
      hint: "name a tokenizer directory, or copy the tokenizer into a regular file",
    });
  return fileAt(stats.isFile() ? path : findFirstTokenizer(path));
}

function findFirstTokenizer(path: string): string {
  const inside = (name: string) => join(path, name);
  const [first] = findIn(path);
  if (first !== undefined) return first;
  const sizes = readRecordedSizes(inside(recordName));
  if (sizes !== undefined) {
    throw new UserError(`"${path}" contains tokenizers of ${sizes.length} sizes: ${sizes.join(", ")}`, {
      hint: `name the directory of one size, e.g. "${inside(String(sizes.at(-1)))}"`,
    });
  }
  throw new UserError(`"${path}" contains no tokenizer`, {
    hint: "a tokenizer is tokenizer.json, vocab.json with merges.txt, tokenizer.tiktoken, tekken.json or tokenizer.model; if the file has another name, name the file itself",
  });
}

/** The files of a tokenizer in one format, in the order of the format's names. `path` is the one that messages name. */
export type TokenizerFile = {
  readonly format: formats.Entry;
  readonly path: string;
  readonly paths: readonly string[];
};

/** Returns the tokenizers at a path. A directory may have several, in different formats; the first one is loaded. */
export const findAt = (path: string): TokenizerFile[] =>
  files.isDirectory(path) ? findIn(path).map(fileAt) : [fileAt(path)];

/**
 * Returns the paths of the tokenizers in a directory: first those with the preferred names of their formats (the first
 * set in `names`), then those with other names.
 */
export function findIn(directory: string): string[] {
  const inside = (name: string) => join(directory, name);
  const sets = formats.all.flatMap(({ names }) => names.map((set, order) => ({ set, order })));
  const found = sets
    .sort((a, b) => a.order - b.order)
    .filter(({ set }) => set.every((name) => files.isFile(inside(name))))
    .map(({ set }) => inside(set[0]!));
  // Two formats share a file name, so paths may occur twice.
  return [...new Set(found)];
}

/** Returns the paths of all files of the tokenizer if its format has several files; otherwise only `path`. */
export const pathsOf = (path: string): readonly string[] => setOf(path)?.paths ?? [path];

/** Returns the paths that may be read when a tokenizer is loaded from `path`, subdirectories of sizes included. */
export function pathsReadAt(path: string): string[] {
  const namesOf = (names: readonly string[]) => [...names, ...companionNames, recordName, tokensTsvName];
  if (!files.isDirectory(path))
    return [...pathsOf(path), ...namesOf([]).map((name) => join(dirname(path), name))];
  const names = namesOf(formats.usualNames);
  const directories = [path, ...sizesIn(path).map((size) => join(path, size))];
  return directories.flatMap((directory) => [directory, ...names.map((name) => join(directory, name))]);
}

/** Returns the names of the subdirectories that are sizes, as a training of several sizes names them, ascending. */
export const sizesIn = (directory: string): string[] =>
  readdirSync(directory)
    .filter((name) => /^\d+$/.test(name) && files.isDirectory(join(directory, name)))
    .sort((a, b) => Number(a) - Number(b));

/**
 * Finds the format and the paths of a file whose format has several files, by its name alone. The names may have a
 * common prefix, as in `gpt2-vocab.json` and `gpt2-merges.txt`.
 */
function setOf(
  path: string,
): { readonly format: formats.Entry; readonly paths: readonly string[] } | undefined {
  for (const format of formats.all) {
    for (const set of format.names.filter(({ length }) => length > 1)) {
      const own = set.find((name) => path.endsWith(name));
      if (own === undefined) continue;
      return { format, paths: set.map((name) => path.slice(0, -own.length) + name) };
    }
  }
  return undefined;
}

const headBytes = 4096;

/**
 * Finds the format and the paths of the tokenizer in a file. A format with several files is found by the file's name.
 * Any other format is found by the content or, if that shows nothing, by the suffix.
 */
function fileAt(path: string): TokenizerFile {
  const set = setOf(path);
  if (set !== undefined) return { ...set, path };
  const head = readHead(path);
  const text = head.toString("latin1");
  const isOf = (format: formats.Entry) => ({ format, path, paths: [path] });
  // If several formats match, the last of them is the most specific one.
  const found = formats.all.findLast(({ matches }) => matches(text));
  if (found !== undefined) return isOf(found);
  for (const { matches, description, hint } of foreignKinds) {
    if (matches(head)) throw new UserError(`"${path}" is ${description}`, { hint: hint(path) });
  }
  const named = formats.all.find(({ suffix }) => suffix !== undefined && path.endsWith(suffix));
  if (named !== undefined) return isOf(named);
  throw new UserError(`"${path}" is not a tokenizer of a known kind`, {
    hint: "name a tokenizer.json, a vocab.json with merges.txt next to it, a rank file of tiktoken, a tokenizer.model of SentencePiece or a tekken.json",
  });
}

/** Kinds of files that are recognized, but cannot be loaded. */
const foreignKinds: readonly {
  readonly matches: (head: Buffer) => boolean;
  readonly description: string;
  readonly hint: (path: string) => string;
}[] = [
  {
    matches: startsWithMagic("GGUF"),
    description: "a GGUF model",
    hint: () => "name the tokenizer.json of the model that it was converted from",
  },
  {
    matches: startsWithMagic("minbpe v1"),
    description: "a model of minbpe",
    hint: () => "name a tokenizer.json, or a rank file of tiktoken",
  },
  {
    matches: startsWithMagic("\x1f\x8b"),
    description: "compressed with gzip",
    hint: (path) => unpackHint("gzip -d", path),
  },
  {
    matches: startsWithMagic("\x28\xb5\x2f\xfd"),
    description: "compressed with zstd",
    hint: (path) => unpackHint("zstd -d", path),
  },
  {
    matches: startsWithMagic("PK\x03\x04"),
    description: "a zip archive",
    hint: (path) => unpackHint("unzip", path),
  },
];

const unpackHint = (command: string, path: string) =>
  `unpack it, and name the unpacked file: ${command} ${shell.quoted(path)}`;

function startsWithMagic(magic: string): (head: Buffer) => boolean {
  return (head) => head.toString("latin1", 0, magic.length) === magic;
}

function readHead(path: string): Buffer {
  const head = Buffer.alloc(headBytes);
  return files.withRegular(path, (fd) => head.subarray(0, readSync(fd, head, 0, headBytes, 0)));
}

/** The files of a tokenizer with their bytes, and the code of their format. */
export type Source = TokenizerFile & {
  readonly files: SourceFiles;
  readonly code: TokenizerFormat;
};

/** Reads the files of a tokenizer. With "own" they keep their names; with "usual" they get the format's usual names. */
export async function readSource(file: TokenizerFile, naming: "own" | "usual" = "own"): Promise<Source> {
  const { format, path, paths } = file;
  const { names, load } = format;
  const missing = paths.find((each) => each !== path && files.stat(each) === undefined);
  if (missing !== undefined)
    throw new UserError(`"${missing}": no such file`, { hint: `"${path}" needs this file next to it` });
  const sources = paths.map((path, i) =>
    readFile(path, naming === "own" ? basename(path) : (names[0]?.[i] ?? imageFile.name)),
  );
  return { ...file, files: sources as unknown as SourceFiles, code: await load() };
}

export const readFile = (path: string, name = basename(path)): SourceFile => ({
  name,
  path,
  bytes: files.readBytes(path),
});

/** The names of files that `transformers` reads next to a tokenizer. */
export const companionNames = [
  "tokenizer_config.json",
  "special_tokens_map.json",
  "added_tokens.json",
  "chat_template.jinja",
  "chat_template.json",
];

/** The names of files in a directory that can change what is loaded from it. */
export const decisiveFileNames: readonly string[] = [
  ...new Set([...formats.usualNames, ...companionNames, recordName]),
];
