import type { AskedTraining } from "../options/training-table.ts";
import type { ResolvedPattern } from "../pattern/pattern.ts";
import { build, codeIdentity } from "../runtime/version.ts";
import { contentsOf, isUpToDate, keepResult, type MadeOf, readResult } from "../store/cache-directory.ts";
import { pathOf, placeOf } from "../store/output-place.ts";
import type { OpenCache } from "./count-memory.ts";
import { identify } from "./count-words.ts";
import type { Corpus } from "./learn-merges.ts";
import type { Report } from "./stage-progress.ts";
import type { Training } from "./training.ts";
import { outputsOf, type Result } from "./write-result.ts";

/** A training, checked and settled, with its places locked and its corpus as it is now. */
export type OpenTraining = Omit<Result, "trained"> & {
  readonly asked: AskedTraining;
  readonly corpus: Corpus;
  /** Whether some word counts are in memory: no later run can tell that its own are the same. */
  readonly hasGivenWords: boolean;
};

// `--if-changed`: nothing is done if the output is as a run with the same options wrote it, from the same contents.

/** In doubt: no. */
export async function isUpToDateWith(
  { cache, directory }: OpenCache,
  opened: OpenTraining,
  report: Report,
): Promise<boolean> {
  const place = pathOf(placeOf(opened.asked.output!));
  const result = readResult(directory, place);
  if (result === undefined) return false;
  await identify(cache, opened.corpus.inputs, report, contentsOf(result));
  const madeOf = describe(opened, cache.contents());
  if (madeOf === undefined || !isUpToDate(result, place, otherFiles(opened.asked), madeOf)) return false;
  cache.touchEntries();
  cache.keepIndex();
  return true;
}

/** Records what the output, which has just been written, was made of. */
export function noteResult({ cache, directory, scratchPath }: OpenCache, opened: OpenTraining): void {
  const madeOf = describe(opened, cache.countedContents());
  if (madeOf === undefined) return;
  const place = pathOf(placeOf(opened.asked.output!));
  keepResult(directory, `${scratchPath()}/result`, place, otherFiles(opened.asked), madeOf);
}

const otherFiles = ({ saveCounts }: AskedTraining) => (saveCounts === undefined ? [] : [saveCounts]);

/** Undefined if what was read cannot be read again, or if other code may have the same version. */
function describe(
  { asked, training, corpus, counts, hasGivenWords }: OpenTraining,
  contents: readonly (string | undefined)[],
): MadeOf | undefined {
  const code = codeIdentity();
  if (code === undefined || hasGivenWords) return undefined;
  if (contents.includes(undefined) || counts.some(({ sha256 }) => sha256 === null)) return undefined;
  return {
    version: build.version,
    bunVersion: build.bunVersion,
    code,
    settings: { ...plainSettings(training), ...outputsOf(asked), languages: corpus.languages },
    inputs: corpus.inputs.map(({ path }, i) => [path, contents[i]!] as const),
    counts: counts.map(({ path, sha256 }) => [path, sha256!] as const),
  };
}

/** All of them, as JSON can say them: none can be forgotten. */
const plainSettings = ({ pattern, superwords, ...rest }: Training) => ({
  ...rest,
  pattern: plainPattern(pattern),
  superwords: superwords && { ...superwords, pattern: plainPattern(superwords.pattern) },
});

const plainPattern = ({ name, sources }: ResolvedPattern) => [name, sources];
