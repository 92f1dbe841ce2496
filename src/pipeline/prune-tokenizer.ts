import { basename, dirname, join } from "node:path";
import { assert, UserError } from "../errors.ts";
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
import { describeFailure, type Failure, serveWorkers, startWorkers } from "./job.ts";

/** What the thread that prunes is asked: first to prune, then to check what was written into a directory. */
export type PruneRequest =
  | {
      readonly kind: "prune";
      readonly path: string;
      readonly loadOptions: LoadOptions;
      readonly parts: TokenizerParts;
      readonly counts: Float64Array;
      readonly size: number;
    }
  | { readonly kind: "check"; readonly directory: string };

/** What it answers: the files, piece by piece, and then what was chosen; or that what was written is right. */
export type PruneAnswer =
  | { readonly kind: "piece"; readonly name: string; readonly bytes: Uint8Array }
  | {
      readonly kind: "pruned";
      readonly pruning: Pruning;
      readonly numbering: Numbering;
      /** The files that the tokenizer came as. */
      readonly sources: readonly TokenizerFile[];
    }
  | ({ readonly kind: "too small" } & TooSmall)
  | { readonly kind: "checked" };

type Post = (answer: PruneAnswer | { kind: "failed"; failure: Failure }, transfer?: ArrayBuffer[]) => void;

/** What the thread does. A large tokenizer takes seconds without a pause, so it is not for the main thread. */
export function servePruning(post: Post): (request: PruneRequest) => void {
  let check: ((directory: string) => void) | undefined;
  return (request) => {
    try {
      if (request.kind === "prune") check = prune(request, post);
      else {
        assert(check !== undefined, "a tokenizer is pruned before it is checked");
        check(request.directory);
        post({ kind: "checked" });
      }
    } catch (error) {
      post({ kind: "failed", failure: describeFailure(error, "") });
    }
  };
}

/** Prunes, and posts the files. Returns what checks them when they are written. */
function prune(
  { path, loadOptions, parts, counts, size }: PruneRequest & { kind: "prune" },
  post: Post,
): ((directory: string) => void) | undefined {
  const pruning = chooseTokens(deriveTokens(parts), counts, size);
  if ("smallestSize" in pruning) {
    post({ kind: "too small", ...pruning });
    return undefined;
  }
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
      post({ kind: "piece", name, bytes }, [bytes.buffer]);
    }
  }
  post({ kind: "pruned", pruning, numbering, sources });
  return (directory) => {
    for (const [i, source] of sources.entries()) {
      const after = loadTokenizerParts(join(directory, basename(source.path)));
      checkPruned(loaded[i]!, after, numbering);
    }
  };
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
  /** Registers `discard` to run if the process stops, and returns a function that unregisters it. */
  readonly guard?: (discard: () => void) => () => void;
};

export type Pruned = Pick<Pruning, "size" | "unreachableCount"> & {
  readonly sizeBefore: number;
  /** Occurrences in the texts of the tokens that are gone. */
  readonly goneCount: number;
  readonly files: readonly string[];
};

type Made = PruneAnswer & { readonly kind: "pruned" };

/**
 * Takes the tokens out that the texts need least, and writes the rest as the kinds of file that the tokenizer came as.
 * What was written is loaded and compared with what was meant before it takes its place.
 */
export async function pruneTokenizer(options: PruneOptions): Promise<Pruned> {
  const { path, parts, counts, size, guard = () => () => {} } = options;
  const sizeBefore = parts.tokens.tokenCount;
  if (size >= sizeBefore) {
    throw new UserError(`"${path}" has ${sizeBefore} tokens, so ${size} of them are not fewer`, {
      hint: "give a smaller --vocab-size",
    });
  }
  const staged = stageDirectory(options.output);
  const unregister = guard(() => staged.discard());
  try {
    let made: Made | undefined;
    const pieces = new Map<string, Uint8Array[]>();
    await serveWorkers<PruneRequest, PruneAnswer>(startWorkers("pruning", 1), ({ send, finish }) => {
      const { loadOptions } = options;
      send({
        kind: "prune",
        path,
        loadOptions,
        parts: { ...parts, tokens: { ...parts.tokens } },
        counts,
        size,
      });
      return async (answer) => {
        switch (answer.kind) {
          case "piece":
            if (!pieces.has(answer.name)) pieces.set(answer.name, []);
            pieces.get(answer.name)!.push(answer.bytes);
            break;
          case "too small":
            throw tooSmall(path, size, answer.smallestSize);
          case "pruned": {
            made = answer;
            const record = await recordOf(options, made, staged.generation, [...pieces.keys(), recordName]);
            pieces.set(recordName, [new TextEncoder().encode(`${JSON.stringify(record, null, 2)}\n`)]);
            for (const [name, chunks] of pieces) {
              for (const _ of staged.writeInSteps(name, chunks)) await nextTurn();
            }
            send({ kind: "check", directory: staged.stagedPath });
            break;
          }
          case "checked":
            finish();
        }
      };
    });
    staged.publish();
    const { stays, unreachableCount, size: sizeNow } = made!.pruning;
    const goneCount = counts.reduce((sum, count, id) => sum + (stays[id] === 1 ? 0 : count), 0);
    return { size: sizeNow, unreachableCount, sizeBefore, goneCount, files: [...pieces.keys()] };
  } catch (error) {
    staged.discard();
    throw error;
  } finally {
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
