import { basename, join } from "node:path";
import { baseFiles, pruneCompanionFiles, renumberingTables, tokenizerFiles } from "#formats";
import { jobs } from "#jobs";
import { asOption, files, phrase, UserError } from "#runtime";
import { stagedFile } from "#store";
import { type changes, derivation, type TokenizerParts, tokenizers } from "#tokenizer";
import { results } from "#training";
import { describeCounts } from "#words";
import { checkPruned, chooseTokens, numberTokens, type Pruning, type TooSmall } from "./prune-vocabulary.ts";
import { toSendable } from "./save-tokenizer.ts";
import { checkFirstMerges, firstTokens, type Pieces, piecesOfFirst } from "./truncate-vocabulary.ts";

type OpenRequest = {
  readonly path: string;
  readonly loadOptions: tokenizers.LoadOptions;
  readonly parts: TokenizerParts;
};

/** What to keep. `counts` says how often each id occurs in texts; null: the first merges are kept. */
type ChooseRequest = { readonly counts: Float64Array | null; readonly size: number; readonly within: string };

type Made = { readonly pruning: Pruning; readonly numbering: changes.Numbering; readonly within: string };

/** Consecutive bytes of a file that is sent in parts. */
type Piece = { readonly name: string; readonly bytes: Uint8Array };

/**
 * The job that prunes. It runs in a thread of its own, because pruning a large tokenizer takes seconds without a yield
 * to the event loop. The contents of files are sent in parts.
 */
export function pruningJob(tell: jobs.Tell<Piece>) {
  let opened: Opened;
  const all: Made[] = [];
  return {
    /** Opens the tokenizer, and returns one path for each of its formats. */
    async open(request: OpenRequest): Promise<readonly string[]> {
      opened = await openFiles(request);
      return opened.sources.map(({ path }) => path);
    },
    /**
     * Makes a smaller tokenizer, whose file names start with `within`. If `size` is too small, only returns the
     * smallest possible one.
     */
    choose({ counts, size, within }: ChooseRequest): Made | TooSmall {
      const { parts, derivations } = opened;
      const pruning =
        counts === null ? firstTokens(parts, derivations, size) : chooseTokens(derivations, counts, size);
      if ("smallestSize" in pruning) return pruning;
      const made = { pruning, numbering: numberTokens(pruning.isKept, pruning.mergeCount), within };
      all.push(made);
      for (const { name, chunks } of prunedFiles(opened, made.numbering)) {
        for (const chunk of chunks()) {
          // `slice` of a Buffer would not copy.
          const bytes = new Uint8Array(chunk);
          tell({ name: within + name, bytes }, [bytes.buffer]);
        }
      }
      return made;
    },
    /** Returns the pieces of each id of `big`: the ids of `small` that spell the same token. */
    pieces({ big, small }: { readonly big: TokenizerParts; readonly small: TokenizerParts }): Pieces {
      return piecesOfFirst(big, small);
    },
    /** Checks the files that were written into a directory. */
    async check(directory: string): Promise<void> {
      for (const { pruning, numbering, within } of all) {
        for (const [i, source] of opened.sources.entries()) {
          const before = opened.loaded[i]!;
          const after = await tokenizerFiles.load(join(directory, within, basename(source.path)));
          checkPruned(before, after, numbering);
          if (pruning.mergeCount !== undefined) checkFirstMerges(before, after);
        }
      }
    },
  };
}

type Opened = Awaited<ReturnType<typeof openFiles>>;

/** Loads the tokenizer from its files in each format, and checks that all are the same. */
async function openFiles({ path, loadOptions, parts }: OpenRequest) {
  const sources: tokenizerFiles.Source[] = [];
  for (const file of tokenizerFiles.findAt(path)) sources.push(await tokenizerFiles.readSource(file));
  const loaded = sources.map(({ code, files }, i) => {
    const each = i === 0 ? parts : code.read(files, loadOptions);
    tokenizers.checkSame(parts, each);
    return each;
  });
  const companions =
    files.isDirectory(path) && sources[0]!.format.name === "huggingface"
      ? baseFiles.readCompanionFiles(path)
      : [];
  companions.sort((a, b) => (a.name < b.name ? -1 : 1));
  return { parts, sources, loaded, companions, derivations: derivation.derive(parts) };
}

/** Returns the files, rewritten with only the kept tokens, and `ids.tsv` with the old and the new ids. */
const prunedFiles = ({ parts, sources, loaded, companions }: Opened, numbering: changes.Numbering) => [
  ...sources.flatMap(({ code, files }, i) => code.prune(files, loaded[i]!, numbering)),
  ...pruneCompanionFiles(companions, numbering),
  renumberingTables.ofIds(parts.tokens, numbering),
];

export type PruneOptions = {
  /** The path as typed. */
  readonly path: string;
  /** The options for files that do not state their pattern and special tokens. */
  readonly loadOptions: tokenizers.LoadOptions;
  /** The loaded tokenizer. */
  readonly parts: TokenizerParts;
  /** How often each id occurs in the texts; null: the first merges are kept. */
  readonly counts: Float64Array | null;
  /** The sizes, ascending. If there are several, each has a directory of its own. */
  readonly sizes: readonly number[];
  readonly output: string;
  /** The command as people read it, for the record. */
  readonly command: string;
  /** The arguments as they were typed, for the record. */
  readonly arguments: readonly string[];
  /** The texts, for the record. The size of a stream is null. */
  readonly texts: readonly { readonly path: string; readonly sizeBytes: number | null }[];
  /** When the run started, by `performance.now()`. */
  readonly startMs: number;
  readonly guard?: stagedFile.Guard;
};

export type Pruned = Pick<Pruning, "unreachableCount"> & {
  readonly sizeBefore: number;
  readonly sizes: readonly number[];
  /** How often removed tokens occur in the texts, for each size; 0 without texts. */
  readonly removedCounts: readonly number[];
  readonly files: readonly string[];
};

/**
 * Removes the tokens that the texts need least or, without texts, all tokens but those of the first merges. Before the
 * files are published, they are compared with the intended result.
 */
export async function pruneTokenizer(options: PruneOptions): Promise<Pruned> {
  const { path, loadOptions, parts, counts, sizes, guard = stagedFile.noGuard } = options;
  const sizeBefore = parts.tokens.tokenCount;
  const large = sizes.find((size) => size >= sizeBefore);
  const pieces = new Map<string, Uint8Array[]>();
  const thread = jobs.start<ReturnType<typeof pruningJob>, Piece>("pruning", ({ name, bytes }) => {
    const chunks = pieces.get(name);
    if (chunks === undefined) pieces.set(name, [bytes]);
    else chunks.push(bytes);
  });
  try {
    const paths = await thread.ask("open", { path, loadOptions, parts: toSendable(parts) });
    if (large !== undefined) {
      const least = await thread.ask("choose", { counts, size: 0, within: "" });
      throw tooLargeError(path, sizeBefore, large, "smallestSize" in least ? least.smallestSize : 0);
    }
    const all: Made[] = [];
    for (const size of sizes) {
      const within = sizes.length === 1 ? "" : `${size}/`;
      const made = await thread.ask("choose", { counts, size, within });
      if ("smallestSize" in made) throw tooSmallError(path, sizeBefore, size, made.smallestSize);
      all.push(made);
    }
    const tokenizer = await describeCounts(paths);
    const filesIn = (within: string) =>
      [...pieces]
        .filter(([name]) => name.startsWith(within))
        .map(([name, chunks]) => ({ name: name.slice(within.length), chunks: () => chunks }));
    const product = { sizes, filesOf: (index: number) => filesIn(all[index]!.within) };
    const specials = tokenizers.allAddedTokens(parts).toSorted((a, b) => a.id - b.id);
    const files = results.filesOfSizes(product, ({ names }, index, ofAll) => {
      const { pruning, numbering } = all[index]!;
      const { unreachableCount } = pruning;
      const pruned = { tokenizer, sizeBefore, unreachableCount, texts: options.texts };
      return results.makeDerivedRecord({ ...options, basePath: paths[0]! }, { pruned }, names, {
        vocabSize: numbering.size,
        ...(ofAll && { sizes: ofAll }),
        specialTokens: specials.map(({ content }) => content),
        specialIds: specials.map(({ id }) => numbering.newIds[id]!),
      });
    });
    const check = (stagedPath: string) => thread.ask("check", stagedPath);
    await results.publishFiles(options.output, files, { guard, check });
    const countRemoved = (stays: Uint8Array) =>
      counts?.reduce((sum, count, id) => sum + (stays[id] === 1 ? 0 : count), 0) ?? 0;
    return {
      sizeBefore,
      sizes: all.map(({ pruning }) => pruning.size),
      unreachableCount: all[0]!.pruning.unreachableCount,
      removedCounts: all.map(({ pruning }) => countRemoved(pruning.isKept)),
      files: files.map(({ name }) => name),
    };
  } finally {
    thread.end();
  }
}

/**
 * Returns the pieces of each id of `big`: the ids of `small` that spell the same token. The merges of `small` must be
 * the first ones of `big`.
 */
export async function piecesInFirst(big: TokenizerParts, small: TokenizerParts): Promise<Pieces> {
  const thread = jobs.start<ReturnType<typeof pruningJob>>("pruning");
  try {
    return await thread.ask("pieces", { big: toSendable(big), small: toSendable(small) });
  } finally {
    thread.end();
  }
}

const tooLargeError = (path: string, sizeBefore: number, size: number, smallestSize: number) =>
  new UserError(`"${path}" has ${sizeBefore} tokens, so a size of ${size} would remove none`, {
    hint:
      smallestSize < sizeBefore
        ? phrase`give a ${asOption("vocab-size")} from ${smallestSize} to ${sizeBefore - 1}`
        : needsAll,
  });

const needsAll = "none of its tokens can be removed, so use it as it is";

const tooSmallError = (path: string, sizeBefore: number, size: number, smallestSize: number) =>
  new UserError(`"${path}" cannot have ${size} tokens: ${smallestSize} of its tokens cannot be removed`, {
    hint:
      smallestSize < sizeBefore
        ? phrase`give a ${asOption("vocab-size")} from ${smallestSize} to ${sizeBefore - 1}`
        : needsAll,
  });
