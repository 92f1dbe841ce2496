import type { Input } from "../corpus/input.ts";
import type { CountsRecord } from "../formats/training-json.ts";
import type { ResolvedPattern } from "../pattern/pattern.ts";
import type { OpenCache } from "../pipeline/count-memory.ts";
import { identify } from "../pipeline/count-words.ts";
import type { Report } from "../pipeline/stage-progress.ts";
import type { OutputSettings, TrainSettings } from "../pipeline/training.ts";
import { build, codeIdentity } from "../runtime/version.ts";
import { contentsOf, isUpToDate, keepResult, type MadeOf, readResult } from "../store/cache-directory.ts";
import { pathOf, placeOf } from "../store/output-place.ts";
import type { Output } from "./output.ts";

/** Everything about a training that its result depends on. */
type Training = {
  readonly output: string;
  readonly saveCounts: string | undefined;
  readonly settings: TrainSettings;
  readonly outputs: OutputSettings;
  readonly inputs: readonly Input[];
  readonly counts: readonly CountsRecord[];
};

/**
 * Whether the output is as a run with the same options wrote it, from inputs with the same paths and contents. In doubt: no.
 */
export async function isUpToDateWith(
  { cache, directory }: OpenCache,
  training: Training,
  report: Report,
): Promise<boolean> {
  const place = pathOf(placeOf(training.output));
  const result = readResult(directory, place);
  if (result === undefined) return false;
  await identify(cache, training.inputs, report, contentsOf(result));
  const madeOf = describe(training, cache.contents());
  if (madeOf === undefined || !isUpToDate(result, place, otherFiles(training), madeOf)) return false;
  cache.touchEntries();
  cache.keepIndex();
  return true;
}

export function tellUnchanged(path: string, output: Output): void {
  const message = `unchanged: "${path}" was made of the same inputs with the same options`;
  output.succeed(message, { changed: false, output: path });
}

/** Records what the output, which has just been written, was made of. */
export function noteResult({ cache, directory, scratchPath, shrink }: OpenCache, training: Training): void {
  const madeOf = describe(training, cache.countedContents());
  const place = pathOf(placeOf(training.output));
  if (madeOf !== undefined) {
    keepResult(directory, `${scratchPath()}/result`, place, otherFiles(training), madeOf);
  }
  shrink();
}

const otherFiles = ({ saveCounts }: Training) => (saveCounts === undefined ? [] : [saveCounts]);

/** Undefined if an input cannot be read again, or if other code may have the same version. */
function describe(training: Training, contents: readonly (string | undefined)[]): MadeOf | undefined {
  const { settings, outputs, inputs, counts } = training;
  const code = codeIdentity();
  if (code === undefined) return undefined;
  if (contents.includes(undefined) || counts.some(({ sha256 }) => sha256 === null)) return undefined;
  return {
    ...{ version: build.version, bunVersion: build.bunVersion, code },
    settings: { ...plainSettings(settings), ...outputs },
    inputs: inputs.map(({ path }, i) => [path, contents[i]!] as const),
    counts: counts.map(({ path, sha256 }) => [path, sha256!] as const),
  };
}

/** All of them, as JSON can say them: none can be forgotten. */
const plainSettings = ({ pattern, superwords, ...rest }: TrainSettings) => ({
  ...rest,
  pattern: plainPattern(pattern),
  superwords: superwords && { ...superwords, pattern: plainPattern(superwords.pattern) },
});

const plainPattern = ({ name, sources }: ResolvedPattern) => [name, sources];
