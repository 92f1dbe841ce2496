import { basename, dirname, join } from "node:path";
import { UserError } from "../errors.ts";
import { loadTokenizerParts } from "../formats/load-tokenizer.ts";
import { filesBeside, idsTsv, prunedFiles } from "../formats/pruned-files.ts";
import {
  checkSameTokenizer,
  readJson,
  type TokenizerFile,
  tokenizerFilesAt,
} from "../formats/tokenizer-files.ts";
import { recordFormat, recordName } from "../formats/training-json.ts";
import { isFile } from "../runtime/system-error.ts";
import { nextTurn } from "../runtime/turns.ts";
import { build } from "../runtime/version.ts";
import { describeCounts } from "../store/content-hash.ts";
import { stageDirectory } from "../store/staged-directory.ts";
import { type Guard, unguarded } from "../store/staged-file.ts";
import {
  checkPruned,
  chooseTokens,
  deriveTokens,
  type Numbering,
  numberTokens,
  type Pruning,
  type TooSmall,
} from "../tokenizer/prune-vocabulary.ts";
import { allAddedTokens, type LoadOptions, type TokenizerParts } from "../tokenizer/tokenizer-parts.ts";
import { startJob, type Tell } from "./job.ts";

type PruneRequest = {
  readonly path: string;
  readonly loadOptions: LoadOptions;
  readonly parts: TokenizerParts;
  readonly counts: Float64Array;
  readonly size: number;
};

/** What was chosen. */
type Made = {
  readonly pruning: Pruning;
  readonly numbering: Numbering;
  /** The files that the tokenizer came as. */
  readonly sources: readonly TokenizerFile[];
};

/** A part of a file. */
type Piece = { readonly name: string; readonly bytes: Uint8Array };

/** What the thread that prunes does: a large tokenizer takes seconds without a pause. Tells the files, piece by piece. */
export function pruningJob(tell: Tell<Piece>) {
  let made: Made & { readonly loaded: readonly TokenizerParts[] };
  return {
    prune(request: PruneRequest): Made | TooSmall {
      const found = prune(request, tell);
      if ("smallestSize" in found) return found;
      made = found;
      const { pruning, numbering, sources } = found;
      return { pruning, numbering, sources };
    },
    /** Checks what was written into a directory. */
    check(directory: string): void {
      for (const [i, source] of made.sources.entries()) {
        const after = loadTokenizerParts(join(directory, basename(source.path)));
        checkPruned(made.loaded[i]!, after, made.numbering);
      }
    },
  };
}

function prune({ path, loadOptions, parts, counts, size }: PruneRequest, tell: Tell<Piece>) {
  const pruning = chooseTokens(deriveTokens(parts), counts, size);
  if ("smallestSize" in pruning) return pruning;
  const numbering = numberTokens(pruning.stays);
  const sources = tokenizerFilesAt(path);
  const loaded = sources.map((source, i) => {
    const each = i === 0 ? parts : loadTokenizerParts(source.path, loadOptions);
    checkSameTokenizer(parts, each);
    return each;
  });
  const [first] = sources as [TokenizerFile];
  const isInNamedDirectory = dirname(first.path) === join(path);
  const files = [
    ...sources.flatMap((source, i) => prunedFiles(source, loaded[i]!, numbering)),
    ...(isInNamedDirectory && first.kind === "json" ? filesBeside(path, numbering) : []),
    idsTsv(parts.tokens, numbering),
  ];
  for (const { name, chunks } of files) {
    for (const chunk of chunks()) {
      const bytes = chunk.slice();
      tell({ name, bytes }, [bytes.buffer]);
    }
  }
  return { pruning, numbering, sources, loaded };
}

export type PruneOptions = {
  /** As it was typed, and what the user adds to files that do not have it. */
  readonly path: string;
  readonly loadOptions: LoadOptions;
  /** The tokenizer as it was loaded. */
  readonly parts: TokenizerParts;
  /** How often each id occurs in the texts. */
  readonly counts: Float64Array;
  readonly size: number;
  readonly output: string;
  /** For the record: the command, its arguments as typed, and the texts; the size of a stream is null. */
  readonly command: string;
  readonly arguments: readonly string[];
  readonly texts: readonly { readonly path: string; readonly sizeBytes: number | null }[];
  /** When the run began, by `performance.now()`. */
  readonly startMs: number;
  readonly guard?: Guard;
};

export type Pruned = Pick<Pruning, "size" | "unreachableCount"> & {
  readonly sizeBefore: number;
  /** Occurrences in the texts of the tokens that are gone. */
  readonly goneCount: number;
  readonly files: readonly string[];
};

/**
 * Takes the tokens out that the texts need least, and writes the rest as the kinds of file that the tokenizer came as.
 * What was written is loaded and compared with what was meant before it takes its place.
 */
export async function pruneTokenizer(options: PruneOptions): Promise<Pruned> {
  const { path, parts, counts, size, guard = unguarded } = options;
  const sizeBefore = parts.tokens.tokenCount;
  if (size >= sizeBefore) {
    throw new UserError(`"${path}" has ${sizeBefore} tokens, so ${size} of them are not fewer`, {
      hint: "give a smaller --vocab-size",
    });
  }
  const staged = stageDirectory(options.output);
  const unregister = guard(() => staged.discard());
  const pieces = new Map<string, Uint8Array[]>();
  const thread = startJob<ReturnType<typeof pruningJob>, Piece>("pruning", ({ name, bytes }) => {
    const chunks = pieces.get(name);
    if (chunks === undefined) pieces.set(name, [bytes]);
    else chunks.push(bytes);
  });
  try {
    const { loadOptions } = options;
    const shared = { ...parts, tokens: { ...parts.tokens } };
    const made = await thread.ask("prune", { path, loadOptions, parts: shared, counts, size });
    if ("smallestSize" in made) throw tooSmall(path, size, made.smallestSize);
    const record = await recordOf(options, made, staged.generation, [...pieces.keys(), recordName]);
    pieces.set(recordName, [new TextEncoder().encode(`${JSON.stringify(record, null, 2)}\n`)]);
    for (const [name, chunks] of pieces) {
      for (const _ of staged.writeInSteps(name, chunks)) await nextTurn();
    }
    await thread.ask("check", staged.stagedPath);
    staged.publish();
    const { stays, unreachableCount, size: sizeNow } = made.pruning;
    const goneCount = counts.reduce((sum, count, id) => sum + (stays[id] === 1 ? 0 : count), 0);
    return { size: sizeNow, unreachableCount, sizeBefore, goneCount, files: [...pieces.keys()] };
  } catch (error) {
    staged.discard();
    throw error;
  } finally {
    thread.end();
    unregister();
  }
}

async function recordOf(
  options: PruneOptions,
  { pruning, numbering, sources }: Made,
  generation: number,
  files: readonly string[],
): Promise<object> {
  const { parts, command, texts, startMs } = options;
  return prunedRecord(sources[0]!, parts, numbering, {
    ...build,
    command,
    arguments: options.arguments,
    workingDirectory: process.cwd(),
    startedAt: new Date(performance.timeOrigin + startMs).toISOString(),
    generation,
    pruned: {
      tokenizer: await describeCounts(sources.map((source) => source.path)),
      sizeBefore: parts.tokens.tokenCount,
      unreachableCount: pruning.unreachableCount,
      texts,
    },
    files,
  });
}

const tooSmall = (path: string, size: number, smallestSize: number) =>
  new UserError(`"${path}" cannot have ${size} tokens: bytes and added tokens are ${smallestSize}`, {
    hint: `give a --vocab-size from ${smallestSize} on`,
  });

type RecordFacts = {
  readonly version: string;
  readonly bunVersion: string;
  readonly commit: string;
  readonly command: string;
  readonly arguments: readonly string[];
  readonly workingDirectory: string;
  readonly startedAt: string;
  readonly generation: number;
  /** What it was made of. */
  readonly pruned: object;
  /** Every file of the result, the record too. */
  readonly files: readonly string[];
};

/**
 * `training.json` of a pruned tokenizer. `options` are those of its own training, if there is a record of it. In any case
 * they hold what GPT-2's files and files of ranks do not: pattern, special tokens with their ids, normal form.
 */
function prunedRecord(
  { path }: TokenizerFile,
  parts: TokenizerParts,
  { size, newIds }: Numbering,
  facts: RecordFacts,
): object {
  const { patternName, patternSources } = parts.description;
  const specials = allAddedTokens(parts).toSorted((a, b) => a.id - b.id);
  return {
    format: recordFormat,
    ...facts,
    options: {
      ...trainedOptions(path),
      vocabSize: size,
      specialTokens: specials.map(({ content }) => content),
      specialIds: specials.map(({ id }) => newIds[id]!),
      padTo: 1,
      reservedTokens: [],
      normalization: parts.normalization,
      pattern: { name: patternName, regex: patternSources.length === 1 ? patternSources[0] : patternSources },
    },
  };
}

/** The options in the record of a training beside the file. */
function trainedOptions(path: string): object | undefined {
  const recordPath = join(path, "..", recordName);
  if (!isFile(recordPath)) return undefined;
  const { options } = readJson(recordPath) as { options?: unknown };
  return typeof options === "object" && options !== null ? options : undefined;
}
