import { basename, join } from "node:path";
import { UserError } from "../errors.ts";
import {
  filesBeside,
  loadTokenizerParts,
  readSource,
  type TokenizerSource,
  tokenizersAt,
} from "../formats/load-tokenizer.ts";
import { prunedBeside } from "../formats/tokenizer-json.ts";
import { idsTsv } from "../formats/tokens-tsv.ts";
import { readJson, recordName, trainingFile } from "../formats/training-json.ts";
import { isDirectory, isFile } from "../runtime/system-error.ts";
import { describeCounts } from "../store/content-hash.ts";
import { type Guard, unguarded } from "../store/staged-file.ts";
import {
  checkPruned,
  chooseTokens,
  deriveTokens,
  numberTokens,
  type Pruning,
  type TooSmall,
} from "../tokenizer/prune-vocabulary.ts";
import {
  allAddedTokens,
  checkSameTokenizer,
  type LoadOptions,
  type Numbering,
  type TokenizerParts,
} from "../tokenizer/tokenizer-parts.ts";
import { startJob, type Tell } from "./job.ts";
import { headOf, publishFiles, recordedPattern } from "./write-result.ts";

type PruneRequest = {
  readonly path: string;
  readonly loadOptions: LoadOptions;
  readonly parts: TokenizerParts;
  readonly counts: Float64Array;
  readonly size: number;
};

/** What was chosen, and the files that the tokenizer came as. */
type Made = { readonly pruning: Pruning; readonly numbering: Numbering; readonly paths: readonly string[] };

/** A part of a file. */
type Piece = { readonly name: string; readonly bytes: Uint8Array };

/** What the thread that prunes does: a large tokenizer takes seconds without a pause. Tells the files, piece by piece. */
export function pruningJob(tell: Tell<Piece>) {
  let made: Awaited<ReturnType<typeof prune>>;
  return {
    async prune(request: PruneRequest): Promise<Made | TooSmall> {
      const pruning = chooseTokens(deriveTokens(request.parts), request.counts, request.size);
      if ("smallestSize" in pruning) return pruning;
      const numbering = numberTokens(pruning.stays);
      made = await prune(request, numbering);
      for (const { name, chunks } of made.files) {
        for (const chunk of chunks()) {
          // A Buffer's own slice would be no copy.
          const bytes = new Uint8Array(chunk);
          tell({ name, bytes }, [bytes.buffer]);
        }
      }
      return { pruning, numbering, paths: made.sources.map(({ path }) => path) };
    },
    /** Checks what was written into a directory. */
    async check(directory: string): Promise<void> {
      for (const [i, source] of made.sources.entries()) {
        const after = await loadTokenizerParts(join(directory, basename(source.path)));
        checkPruned(made.loaded[i]!, after, made.numbering);
      }
    },
  };
}

/** The tokenizer's files with the tokens that stay; and what they are loaded as, each for itself. */
async function prune({ path, loadOptions, parts }: PruneRequest, numbering: Numbering) {
  const sources: TokenizerSource[] = [];
  for (const file of tokenizersAt(path)) sources.push(await readSource(file));
  const loaded = sources.map(({ code, files }, i) => {
    const each = i === 0 ? parts : code.read(files, loadOptions);
    checkSameTokenizer(parts, each);
    return each;
  });
  const beside = isDirectory(path) && sources[0]!.format.name === "huggingface" ? filesBeside(path) : [];
  const files = [
    ...sources.flatMap(({ code, files }, i) => code.prune(files, loaded[i]!, numbering)),
    ...prunedBeside(
      beside.sort((a, b) => (a.name < b.name ? -1 : 1)),
      numbering,
    ),
    idsTsv(parts.tokens, numbering),
  ];
  return { sources, loaded, numbering, files };
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
    throw new UserError(`"${path}" has ${sizeBefore} tokens, so a size of ${size} removes none`, {
      hint: "give a smaller --vocab-size",
    });
  }
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
    const names = [...pieces.keys(), recordName];
    const tokenizer = await describeCounts(made.paths);
    const files = [
      ...[...pieces].map(([name, chunks]) => ({ name, chunks: () => chunks })),
      trainingFile(() => recordOf(options, made, { tokenizer, files: names })),
    ];
    const check = (stagedPath: string) => thread.ask("check", stagedPath);
    await publishFiles(options.output, files, { guard, check });
    const { stays, unreachableCount, size: sizeNow } = made.pruning;
    const goneCount = counts.reduce((sum, count, id) => sum + (stays[id] === 1 ? 0 : count), 0);
    return { size: sizeNow, unreachableCount, sizeBefore, goneCount, files: names };
  } finally {
    thread.end();
  }
}

const tooSmall = (path: string, size: number, smallestSize: number) =>
  new UserError(`"${path}" cannot have ${size} tokens: bytes and added tokens are ${smallestSize}`, {
    hint: `give a --vocab-size of ${smallestSize} or more`,
  });

/**
 * `training.json` of a pruned tokenizer. `options` are those of its own training, if there is a record of it. In any case
 * they hold what GPT-2's files and files of ranks do not: pattern, special tokens with their ids, normal form.
 */
function recordOf(
  options: PruneOptions,
  { pruning, numbering, paths }: Made,
  { tokenizer, files }: { tokenizer: unknown; files: readonly string[] },
): object {
  const { parts, texts } = options;
  const { patternName, patternSources } = parts.description;
  const specials = allAddedTokens(parts).toSorted((a, b) => a.id - b.id);
  return {
    ...headOf(options),
    pruned: {
      tokenizer,
      sizeBefore: parts.tokens.tokenCount,
      unreachableCount: pruning.unreachableCount,
      texts,
    },
    files,
    options: {
      ...trainedOptions(paths[0]!),
      vocabSize: numbering.size,
      specialTokens: specials.map(({ content }) => content),
      specialIds: specials.map(({ id }) => numbering.newIds[id]!),
      padTo: 1,
      reservedTokens: [],
      normalization: parts.normalization,
      pattern: recordedPattern({ name: patternName, sources: patternSources }),
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
