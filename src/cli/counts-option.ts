import { CountsFiles, countsPathsOf } from "../count/counts-files.ts";
import { UserError } from "../errors.ts";
import { countsOptionsOf } from "../pipeline/open-memory.ts";
import type { CountsOptions } from "../words/counts-format.ts";
import type { Invocation } from "./arguments.ts";
import { spoolPipes } from "./spool-pipes.ts";

/**
 * Opens the files of word counts that `--counts` names. The options of the run are those of the command line, `asked`; if
 * the files state the options they were made with, `read` fills with them what the command line leaves open.
 */
export async function openCountsFiles<T extends Parameters<typeof countsOptionsOf>[0]>(
  invocation: Invocation,
  asked: T,
  read: (made: CountsOptions) => T,
): Promise<{ options: T; countsFiles: CountsFiles | undefined }> {
  const paths = countsPaths(invocation);
  if (paths.length === 0) return { options: asked, countsFiles: undefined };
  const countsFiles = new CountsFiles(paths, await spoolPipes(paths));
  const isGiven = (name: string) => invocation.options.has(name);
  if (countsFiles.untold !== undefined && !(isGiven("pattern") && isGiven("special-token"))) {
    throw new UserError(`${countsFiles.untold} does not say what its words were made with`, {
      hint: "give the --pattern and --special-token they were made with, or put the first line that `bpe count` writes with the same options before them",
    });
  }
  if (countsFiles.reordered !== undefined && !isGiven("special-token")) {
    throw new UserError(
      `${countsFiles.reordered} has the special tokens in another order than the files before it`,
      {
        hint: "their order decides their ids: give them with --special-token",
      },
    );
  }
  const made = countsFiles.options;
  const options = made === null ? asked : mistakesOfFile(countsFiles.toldBy, () => read(made));
  countsFiles.check(countsOptionsOf(options));
  return { options, countsFiles };
}

/** Blames the file, not the command line, for options that only the file states. */
function mistakesOfFile<T>(path: string | undefined, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw new UserError(
      `--counts "${path}" was made with what this program does not take: ${error.message}`,
      { hint: error.hint },
    );
  }
}

/** The paths of the files of word counts, with globs resolved. */
export const countsPaths = ({ options }: Invocation) => (options.get("counts") ?? []).flatMap(countsPathsOf);
