import { Pace } from "#jobs";
import type { RequestedTraining } from "#options";
import { asOption, phrase, UserError } from "#runtime";
import { CountsFiles, CountsFilesAndWords, countsPathsOf } from "./counts-files.ts";
import type { CountsOptions } from "./counts-format.ts";
import { type CutSettings, countsOptionsOf } from "./cut-settings.ts";
import type { GivenWords } from "./word-table.ts";

type AskedCounts = Pick<RequestedTraining, "counts" | "pattern" | "specialTokens" | "like" | "extend">;

type CountsSources = {
  /** Opens sources that can be read only once: pipes. */
  readonly openPipes?: ((paths: readonly string[]) => Promise<ReadonlyMap<string, number>>) | undefined;
  /** Words in memory. */
  readonly wordCounts?: GivenWords | undefined;
};

/** Returns the paths of the files of word counts, with globs resolved. */
export const pathsOf = ({ counts = [] }: Pick<RequestedTraining, "counts">) => counts.flatMap(countsPathsOf);

/**
 * Opens the requested word counts, and settles how text is cut: as requested, or else as the files state. `settle`
 * receives the stated options.
 */
export async function openAndSettle<T extends CutSettings>(
  asked: AskedCounts,
  { openPipes, wordCounts }: CountsSources,
  settle: (made?: CountsOptions) => T,
): Promise<{ readonly settled: T; readonly countsFiles: CountsFiles | undefined }> {
  const paths = pathsOf(asked);
  if (paths.length === 0 && wordCounts === undefined) return { settled: settle(), countsFiles: undefined };
  const opened = (await openPipes?.(paths)) ?? new Map<string, number>();
  const countsFiles =
    wordCounts === undefined
      ? new CountsFiles(paths, opened)
      : new CountsFilesAndWords(paths, wordCounts, new Pace());
  checkStated(countsFiles, asked);
  const { options: made, nameOfHeader } = countsFiles;
  const settled = made === null ? settle() : settleAsStated(made, nameOfHeader, settle);
  const isFixed = (asked.like ?? asked.extend) !== undefined;
  const ways = isFixed ? "" : ", or give this run those of the counts";
  countsFiles.check(countsOptionsOf(settled), `count again with the options of this run${ways}`);
  return { settled, countsFiles };
}

/**
 * Throws a UserError unless it is known how the words of all files were counted. For a file that does not say so, the
 * caller must give the pattern and the special tokens, or `like`. If the files disagree on the order of the special
 * tokens, the caller must give the special tokens or `like`.
 */
function checkStated({ withoutHeader, reordered }: CountsFiles, asked: AskedCounts): void {
  const [knowsPattern, knowsTokens] = [asked.pattern, asked.specialTokens].map(
    (option) => option !== undefined || asked.like !== undefined,
  );
  if (withoutHeader !== undefined && !(knowsPattern && knowsTokens)) {
    throw new UserError(`${withoutHeader} does not state the options with which its words were counted`, {
      hint: knowsTokens
        ? phrase`give the ${asOption("pattern")} with which they were counted`
        : phrase`give the ${asOption("special-token")}${knowsPattern ? "" : phrase` and ${asOption("pattern")}`} with which they were counted; if there were no special tokens, make a header: count any text with the same pattern and no special tokens (bpe count TEXT -o other.tsv), and copy the first line of other.tsv to the top of this file`,
    });
  }
  if (reordered !== undefined && !knowsTokens) {
    throw new UserError(
      `${reordered} has the special tokens in another order than the first file of word counts`,
      {
        hint: phrase`give all special tokens with ${asOption("special-token")}, because their order decides their ids`,
      },
    );
  }
}

/**
 * Settles with the options of the file `name`. If `settle` refuses only because of these options, the error names
 * the file. If it refuses the caller's options alone as well, its own error is thrown.
 */
function settleAsStated<T>(
  stated: CountsOptions,
  name: string | undefined,
  settle: (made?: CountsOptions) => T,
): T {
  try {
    return settle(stated);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    settle();
    throw new UserError(phrase`with the settings of ${asOption("counts", name)}, ${error.parts.message}`, {
      hint: error.parts.hint,
    });
  }
}
