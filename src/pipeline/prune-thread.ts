import { basename, dirname, join } from "node:path";
import { assert } from "../errors.ts";
import { loadTokenizerParts } from "../tokenizer/load/load-tokenizer.ts";
import { checkPruned } from "../tokenizer/prune/check-pruned.ts";
import { chooseTokens, type Pruning, type TooSmall } from "../tokenizer/prune/choose-tokens.ts";
import { deriveTokens } from "../tokenizer/prune/derivations.ts";
import {
  checkSame,
  filesBeside,
  prunedFiles,
  type TokenizerFile,
  tokenizerFilesAt,
} from "../tokenizer/prune/pruned-files.ts";
import { idsTsv, type Numbering, numberTokens } from "../tokenizer/prune/token-numbering.ts";
import type { LoadOptions, TokenizerParts } from "../tokenizer/tokenizer-parts.ts";
import { describeFailure, type Failure } from "./serve-workers.ts";

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
    checkSame(parts, each);
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
