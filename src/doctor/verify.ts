import { countNoun } from "#bytes";
import type { RequestedTraining } from "#options";
import { programVersion, UserError } from "#runtime";
import { type Finished, runTraining, type TrainingHost } from "#training";
import type { CheckedFiles } from "./check-recorded.ts";
import type { Difference } from "./compare-files.ts";
import { compareResult } from "./compare-training.ts";
import { findSources, type LookedUp } from "./find-sources.ts";
import type { RecordedTraining } from "./training-record.ts";
import { requestOf } from "./training-request.ts";

/** What `bpe verify --json` prints; docs/verification.schema.json has the schema. */
export type Verification = {
  readonly format: "bpe-verification";
  readonly version: 1;
  readonly path: string;
  /** False if anything differs, null if nothing differs but nothing was trained, otherwise true. */
  readonly verified: boolean | null;
  /** Whether the tokenizer was trained again. */
  readonly trained: boolean;
  readonly merges: number;
  /** Bytes of text that were read again; 0 without training. */
  readonly textBytes: number;
  /** `path` is the recorded path; `place` is the current one, or null if the input is missing or was not looked for. */
  readonly inputs: readonly { readonly path: string; readonly place: string | null }[];
  /** Files that were compared. */
  readonly files: readonly string[];
  /** Changed sources come first, then missing ones. */
  readonly differences: readonly Difference[];
  readonly notes: readonly string[];
  readonly recorded: { readonly version: string; readonly commit: string; readonly totalMs: number };
  readonly totalMs: number;
};

export type VerifyRun = {
  readonly moved: Readonly<Record<string, string>>;
  readonly filesOnly: boolean;
  readonly limits: Pick<RequestedTraining, "workers" | "memoryLimit">;
  readonly host: Pick<TrainingHost, "report" | "guard" | "onOpen" | "onWords" | "onLearned" | "tellMemory">;
  /** Checks the files without training. */
  readonly checkFiles: () => Promise<CheckedFiles>;
};

/**
 * Repeats a training in memory, and compares the result. With `filesOnly`, or if a source is missing or has changed, or
 * if the training fails, only checks files. Throws if this run lacks memory for the training, or, without `filesOnly`,
 * if an entry of `run.moved` is not used.
 */
export async function verify(recorded: RecordedTraining, run: VerifyRun): Promise<Verification> {
  const startMs = performance.now();
  const { record, directory } = recorded;
  const looked = run.filesOnly ? undefined : await findSources(record, run.moved);
  const outcome =
    looked === undefined || looked.missing.length + looked.changed.length > 0
      ? await checkOnly(run, [...(looked?.changed ?? []), ...(looked?.missing ?? [])])
      : await trainAgain(recorded, looked, run);
  const isSame = outcome.differences.length === 0;
  const { version, commit, timings } = record;
  return {
    format: "bpe-verification",
    version: 1,
    path: directory,
    verified: isSame && !outcome.trained ? null : isSame,
    trained: outcome.trained,
    merges: record.mergeCount,
    textBytes: outcome.textBytes,
    inputs: record.inputs.map(({ path }, i) => ({ path, place: looked?.sources.inputs[i] || null })),
    files: outcome.fileNames,
    differences: outcome.differences,
    notes: [...outcome.notes, ...(isSame ? [] : buildNotes(record))],
    recorded: { version, commit, totalMs: timings.totalMs },
    totalMs: Math.round(performance.now() - startMs),
  };
}

type Outcome = CheckedFiles & { readonly trained: boolean; readonly textBytes: number };

async function checkOnly({ checkFiles }: VerifyRun, before: readonly Difference[]): Promise<Outcome> {
  const { differences, fileNames, notes } = await checkFiles();
  return { differences: [...before, ...differences], fileNames, notes, trained: false, textBytes: 0 };
}

async function trainAgain(recorded: RecordedTraining, looked: LookedUp, run: VerifyRun): Promise<Outcome> {
  const { record } = recorded;
  let finished: Finished;
  try {
    finished = await repeatTraining(requestOf(record, looked.sources, run.limits), looked, run.host);
  } catch (error) {
    // If this run lacks memory, that says nothing about the record.
    if (!(error instanceof UserError) || error.kind === "memory") throw error;
    const failed = { what: "training", message: `training fails now: ${error.message}` };
    return checkOnly(run, [failed]);
  }
  const { differences, fileNames, notes } = await compareResult(recorded, finished);
  const textBytes = finished.result.trained.statistics.reduce((sum, found) => sum + found.textBytes, 0);
  return { differences, fileNames, notes: [...notes, ...inputNotes(record)], trained: true, textBytes };
}

async function repeatTraining(
  asked: RequestedTraining,
  { inputs }: LookedUp,
  host: VerifyRun["host"],
): Promise<Finished> {
  const finished = await runTraining(
    asked,
    {
      files: asked.languages === undefined ? inputs.map(({ path }) => path) : [],
      command: { command: "", arguments: [] },
    },
    {
      ...host,
      // Warnings are not repeated, because the recorded training has shown them.
      warn: () => {},
      lock: async () => () => {},
      find: () => ({ inputs, skipped: [], inputCounts: inputs.map(() => 1) }),
      writeFile: async () => {},
    },
  );
  return finished!;
}

/** Returns notes on inputs for which the record has no checksum. */
function inputNotes({ inputs }: RecordedTraining["record"]): string[] {
  const bare = inputs.filter(({ crc32 }) => crc32 === undefined);
  if (bare.length === 0) return [];
  const which =
    bare.length === inputs.length
      ? "its inputs"
      : `${countNoun(bare.length, "input")}, such as ${bare[0]!.path}`;
  return [`the record has no checksum of ${which}: only sizes were compared`];
}

function buildNotes({ version, commit }: RecordedTraining["record"]): string[] {
  if (version === programVersion.build.version && commit === programVersion.build.commit) return [];
  const nameOf = (made: string, at: string) => (at === "unknown" ? made : `${made} (${at.slice(0, 9)})`);
  const own = nameOf(programVersion.build.version, programVersion.build.commit);
  return [`it was made by bpe ${nameOf(version, commit)}; this is ${own}, which may write other files`];
}
