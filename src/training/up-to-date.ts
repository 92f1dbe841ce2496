import type { Report } from "#jobs";
import type { learning } from "#merge";
import type { RequestedTraining } from "#options";
import type { compiledPatterns } from "#pattern";
import { programVersion } from "#runtime";
import { outputPlaces } from "#store";
import { cacheDirectory, type OpenCache } from "#words";
import type { Training } from "./training.ts";
import { outputsOf, type Result } from "./write-result.ts";

/** A training whose options are settled, whose outputs are locked, and whose inputs are found. */
export type OpenTraining = Omit<Result, "trained"> & {
  readonly asked: RequestedTraining;
  readonly corpus: learning.Corpus;
  /**
   * Whether some word counts were given in memory. Then the output is never up to date, because a later run cannot
   * compare its own word counts with these.
   */
  readonly hasGivenWords: boolean;
};

/** `--if-changed`: checks whether a run with the same options, from the same contents, wrote the output. */
export class FormerRun {
  private readonly place: string;
  private readonly otherFiles: readonly string[];

  constructor(
    private readonly cached: OpenCache,
    private readonly opened: OpenTraining,
  ) {
    const { output, saveCounts } = opened.asked;
    this.place = outputPlaces.pathOf(outputPlaces.placeOf(output!));
    this.otherFiles = saveCounts === undefined ? [] : [saveCounts];
  }

  /** Whether the output is up to date. Returns false when unsure. */
  async isUpToDate(report: Report): Promise<boolean> {
    const { cache, directory } = this.cached;
    const result = cacheDirectory.readResult(directory, this.place);
    if (result === undefined) return false;
    await this.cached.identify(this.opened.corpus.inputs, report, cacheDirectory.contentsOf(result));
    const madeOf = this.madeOf(cache.contents());
    if (madeOf === undefined || !cacheDirectory.isUpToDate(result, this.place, this.otherFiles, madeOf))
      return false;
    cache.touchEntries();
    cache.keepIndex();
    return true;
  }

  /** Records the sources of the output, which has just been written. */
  recordSources(): void {
    const { cache, directory, scratchPath } = this.cached;
    const madeOf = this.madeOf(cache.countedContents());
    if (madeOf === undefined) return;
    cacheDirectory.rememberResult(directory, `${scratchPath()}/result`, this.place, this.otherFiles, madeOf);
  }

  /** Returns the sources of the output; undefined if some of them cannot be identified. */
  private madeOf(contents: readonly (string | undefined)[]): cacheDirectory.ResultSources | undefined {
    const { asked, training, corpus, counts, hasGivenWords } = this.opened;
    const code = programVersion.codeIdentity();
    if (code === undefined || hasGivenWords) return undefined;
    if (contents.includes(undefined) || counts.some(({ sha256 }) => sha256 === null)) return undefined;
    return {
      version: programVersion.build.version,
      bunVersion: programVersion.build.bunVersion,
      code,
      settings: { ...plainSettings(training), ...outputsOf(asked), languages: corpus.languages },
      inputs: corpus.inputs.map(({ path }, i) => [path, contents[i]!] as const),
      counts: counts.map(({ path, sha256 }) => [path, sha256!] as const),
    };
  }
}

/** Returns all settings as JSON values. `rest` makes sure that no field of `Training` is forgotten. */
const plainSettings = ({ pattern, superwords, ...rest }: Training) => ({
  ...rest,
  pattern: plainPattern(pattern),
  superwords: superwords && { ...superwords, pattern: plainPattern(superwords.pattern) },
});

const plainPattern = ({ name, sources }: compiledPatterns.ResolvedPattern) => [name, sources];
