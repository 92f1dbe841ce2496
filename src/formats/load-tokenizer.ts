import { readdirSync, readSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isDirectory, isFile, readBytes, statOf, UserError, withRegularFile } from "#runtime";
import type { LoadOptions, TokenizerParts } from "#tokenizer";
import { type FormatEntry, formats, usualNames } from "./formats.ts";
import { idMergesPath } from "./id-merges-path.ts";
import type { SourceFile, SourceFiles, TokenizerFormat } from "./output-file.ts";
import { recordedBeside, recordedSizes, recordName, tokensTsvName } from "./training-json.ts";

/** Loads a tokenizer from a file, or from a directory, where the first kind of file counts that is there. */
export async function loadTokenizerParts(path: string, options: LoadOptions = {}): Promise<TokenizerParts> {
  const { code, files, paths } = await readSource(tokenizerFileOf(path));
  return code.read(files, { ...options, asksForBos: () => recordedBeside(paths)?.bosInFront !== undefined });
}

/** The tokenizer that is loaded from a path. */
export function tokenizerFileOf(path: string): TokenizerFile {
  const stats = statOf(path);
  if (stats === undefined) {
    throw new UserError(`"${path}": no such file or directory`, {
      hint: "name a tokenizer directory, a tokenizer.json, a vocab.json, a file of ranks or a tekken.json",
    });
  }
  if (idMergesPath(path) !== undefined) {
    throw new UserError(`"${path}" is a tokenizer of ids, not of text`, {
      hint: "use it with bpe ids encode, bpe ids decode or bpe ids inspect",
    });
  }
  if (!stats.isDirectory() && !stats.isFile()) throw new UserError(`"${path}" is not a regular file`);
  return fileAt(stats.isFile() ? path : firstIn(path));
}

function firstIn(path: string): string {
  const inside = (name: string) => join(path, name);
  const [first] = tokenizersIn(path);
  if (first !== undefined) return first;
  const sizes = recordedSizes(inside(recordName));
  if (sizes !== undefined) {
    throw new UserError(`"${path}" holds tokenizers of ${sizes.length} sizes: ${sizes.join(", ")}`, {
      hint: `name one of them, e.g. "${inside(String(sizes.at(-1)))}"`,
    });
  }
  throw new UserError(`"${path}" holds no tokenizer`, {
    hint: "a tokenizer is tokenizer.json, vocab.json with merges.txt, tokenizer.tiktoken, tekken.json or tokenizer.model; name the file if it is called otherwise",
  });
}

/** A tokenizer that lies in files of one format, in the order of their names. It is called by the path that was named. */
export type TokenizerFile = {
  readonly format: FormatEntry;
  readonly path: string;
  readonly paths: readonly string[];
};

/** The tokenizers that a path names. Of a directory these are all in it; the first one is the one that is loaded. */
export const tokenizersAt = (path: string): TokenizerFile[] =>
  isDirectory(path) ? tokenizersIn(path).map(fileAt) : [fileAt(path)];

/** Where the tokenizers of a directory are, in the order in which they are looked for: first those with the first names of a format. */
export function tokenizersIn(directory: string): string[] {
  const inside = (name: string) => join(directory, name);
  const sets = formats.flatMap(({ names }) => names.map((set, order) => ({ set, order })));
  return sets
    .sort((a, b) => a.order - b.order)
    .filter(({ set }) => set.every((name) => isFile(inside(name))))
    .map(({ set }) => inside(set[0]!));
}

/** The path, with the paths of the files that belong to it (GPT-2's are two), in the order of their names. */
export const pathsOf = (path: string): readonly string[] => setOf(path)?.paths ?? [path];

/** Every path that may be read where a tokenizer is loaded from one; of a directory of several sizes, also those of each. */
export function pathsReadAt(path: string): string[] {
  const namesOf = (names: readonly string[]) => [...names, ...namesBeside, recordName, tokensTsvName];
  if (!isDirectory(path)) return [...pathsOf(path), ...namesOf([]).map((name) => join(dirname(path), name))];
  const names = namesOf(usualNames);
  const directories = [path, ...sizesIn(path).map((size) => join(path, size))];
  return directories.flatMap((directory) => [directory, ...names.map((name) => join(directory, name))]);
}

/** The sizes for which a training wrote a tokenizer each into a directory, ascending: their directories are called so. */
export const sizesIn = (directory: string): string[] =>
  readdirSync(directory)
    .filter((name) => /^\d+$/.test(name) && isDirectory(join(directory, name)))
    .sort((a, b) => Number(a) - Number(b));

/** A set of files that are known by their names alone: all names of it may have one text before them. */
function setOf(
  path: string,
): { readonly format: FormatEntry; readonly paths: readonly string[] } | undefined {
  for (const format of formats) {
    for (const set of format.names.filter(({ length }) => length > 1)) {
      const own = set.find((name) => path.endsWith(name));
      if (own === undefined) continue;
      return { format, paths: set.map((name) => path.slice(0, -own.length) + name) };
    }
  }
  return undefined;
}

const headBytes = 4096;

/** What tokenizer a file is: its name tells those of several files, its content every other one. */
export function fileAt(path: string): TokenizerFile {
  const set = setOf(path);
  if (set !== undefined) return { ...set, path };
  const head = readHead(path);
  const text = head.toString("latin1");
  const isOf = (format: FormatEntry) => ({ format, path, paths: [path] });
  // Of two that take it the later one knows more of it.
  const found = formats.findLast(({ matches }) => matches(text));
  if (found !== undefined) return isOf(found);
  for (const { matches, what, hint } of foreignKinds) {
    if (matches(head)) throw new UserError(`"${path}" is ${what}`, { hint });
  }
  const named = formats.find(({ suffix }) => suffix !== undefined && path.endsWith(suffix));
  if (named !== undefined) return isOf(named);
  throw new UserError(`"${path}" is not a known kind of tokenizer`, {
    hint: "the known kinds are tokenizer.json, vocab.json with merges.txt, tiktoken's files of ranks and tekken.json",
  });
}
/** Files of tokenizers that cannot be loaded. */
const foreignKinds: readonly { matches: (head: Buffer) => boolean; what: string; hint: string }[] = [
  {
    matches: isSentencePiece,
    what: "a SentencePiece model, not byte-level BPE",
    hint: "its ids are made by the package sentencepiece",
  },
  {
    matches: beginsWith("GGUF"),
    what: "a GGUF model",
    hint: "name the tokenizer.json of the model that it was converted from",
  },
  {
    matches: beginsWith("minbpe v1"),
    what: "a model of minbpe",
    hint: "tiktoken's and HF's files can be loaded",
  },
  { matches: beginsWith("\x1f\x8b"), what: "packed with gzip", hint: "unpack it first: gzip -d" },
  { matches: beginsWith("\x28\xb5\x2f\xfd"), what: "packed with zstd", hint: "unpack it first: zstd -d" },
  { matches: beginsWith("PK\x03\x04"), what: "a zip archive", hint: "unpack it first: unzip" },
];

function beginsWith(magic: string): (head: Buffer) => boolean {
  return (head) => head.toString("latin1", 0, magic.length) === magic;
}

/**
 * A message of Protocol Buffers that begins with a `SentencePiece`: field 1 (0A) and its length, in it field 1 (0A), the length
 * of the text, the text, and field 2, the score (15).
 */
function isSentencePiece(head: Buffer): boolean {
  return head[0] === 0x0a && head[1]! < 0x80 && head[2] === 0x0a && head[4 + head[3]!] === 0x15;
}

function readHead(path: string): Buffer {
  const head = Buffer.alloc(headBytes);
  return withRegularFile(path, (fd) => head.subarray(0, readSync(fd, head, 0, headBytes, 0)));
}

/** A tokenizer's files, read once, with the code of their format. */
export type TokenizerSource = TokenizerFile & {
  readonly files: SourceFiles;
  readonly code: TokenizerFormat;
};

/** Reads a tokenizer's files. They keep their names, or get the usual ones. */
export async function readSource(
  file: TokenizerFile,
  naming: "own" | "usual" = "own",
): Promise<TokenizerSource> {
  const { format, paths } = file;
  const { names, load } = format;
  const files = paths.map((path, i) => readFile(path, naming === "own" ? basename(path) : names[0]![i]!));
  return { ...file, files: files as unknown as SourceFiles, code: await load() };
}

const readFile = (path: string, name = basename(path)): SourceFile => ({
  name,
  path,
  bytes: readBytes(path),
});

/** What `transformers` reads beside the tokenizers of a directory. */
const namesBeside = [
  "tokenizer_config.json",
  "special_tokens_map.json",
  "added_tokens.json",
  "chat_template.jinja",
  "chat_template.json",
];

/** The names of the files in a directory that may decide what is loaded from it. */
export const namesThatDecide: readonly string[] = [...new Set([...usualNames, ...namesBeside, recordName])];
export const filesBeside = (directory: string): SourceFile[] =>
  namesBeside
    .map((name) => join(directory, name))
    .filter(isFile)
    .map((path) => readFile(path));

/**
 * The files of a tokenizer that is extended: of a directory those of all formats, and the files beside them; or those of the one
 * tokenizer that is named. Files beside them say nothing of learned tokens, so they stay as they are.
 */
export async function readBase(path: string): Promise<BaseFiles> {
  const all = tokenizersAt(path);
  const sources: TokenizerSource[] = [];
  for (const file of isDirectory(path) ? all : []) {
    const { names, load } = file.format;
    const isUsual = basename(file.path) === names[0]![0];
    if (isUsual && (await load()).extend !== undefined) sources.push(await readSource(file, "usual"));
  }
  if (sources.length > 0) return { sources, beside: filesBeside(path) };
  const only = await readSource(all[0]!, "usual");
  if (only.code.extend !== undefined) return { sources: [only], beside: [] };
  throw new UserError(
    `"${only.path}": a ${only.format.name}.json cannot be extended: its sizes are fixed in it`,
    {
      hint: "name the same tokenizer as a tokenizer.json",
    },
  );
}

export type BaseFiles = {
  readonly sources: readonly TokenizerSource[];
  readonly beside: readonly SourceFile[];
};
