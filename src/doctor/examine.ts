import { loadTokenizerParts } from "#formats";
import { UserError } from "#runtime";
import { behaviorFingerprint, deriveTokens, type LoadOptions } from "#tokenizer";
import { checkRecorded } from "./check-recorded.ts";
import { type Finding, finding, severities } from "./checks.ts";
import { checkClass } from "./class-checks.ts";
import {
  checkByteLevel,
  checkConfiguration,
  checkCutting,
  checkEquals,
  checkEscapes,
} from "./cutting-checks.ts";
import { checkFiles } from "./file-checks.ts";
import { checkModel, checkModelFile } from "./model-checks.ts";
import { checkQuality } from "./quality-checks.ts";
import { checkSpecials } from "./special-checks.ts";
import { type Loaded, objectOf, readSubject, type Subject } from "./subject.ts";
import { checkDocuments, checkScripts } from "./text-checks.ts";
import type { Counted } from "./text-survey.ts";

/** The output of `bpe doctor --json`, whose schema is docs/diagnosis.schema.json. */
export type Diagnosis = {
  readonly format: "bpe-diagnosis";
  readonly version: 1;
  readonly path: string;
  /** null if the tokenizer cannot be loaded. */
  readonly fingerprint: string | null;
  readonly errors: number;
  readonly warnings: number;
  readonly notes: number;
  /** The findings: errors first, then warnings, then notes. */
  readonly findings: readonly Finding[];
};

export type Examination = {
  readonly path: string;
  readonly options: LoadOptions;
  /** How often tokens occur in a text; null without a text. */
  readonly counted: Counted | null;
};

/** The job of the thread that examines: a large tokenizer takes seconds without a yield. */
export const examiningJob = () => ({ examine, checkRecorded });

/** Examines a tokenizer. Throws a UserError if there is none that can be examined. */
export async function examine({ path, options, counted }: Examination): Promise<Diagnosis> {
  const { subject, findings } = readSubject(path);
  const opened = await load(subject, options);
  const loaded = opened instanceof UserError ? null : opened;
  findings.push(...checkModelFile(subject, loaded), ...checkByteLevel(subject), ...checkEscapes(subject));
  // Errors that were found explain it.
  if (opened instanceof UserError && findings.every(({ severity }) => severity !== "error"))
    findings.push(
      finding("not-loaded", "error", opened.message, opened.hint === undefined ? {} : { fix: opened.hint }),
    );
  findings.push(
    ...checkClass(subject, loaded),
    ...checkConfiguration(subject, loaded),
    ...checkSpecials(subject, loaded),
  );
  if (loaded !== null)
    findings.push(
      ...checkCutting(subject, loaded),
      ...checkEquals(loaded),
      ...checkModel(subject, loaded),
      ...(await checkFiles(subject, loaded)),
      ...checkQuality(subject, loaded, counted),
      ...(counted === null ? [] : [...checkDocuments(loaded, counted), ...checkScripts(counted)]),
    );
  const of = (severity: Finding["severity"]) => findings.filter((each) => each.severity === severity);
  return {
    format: "bpe-diagnosis",
    version: 1,
    path,
    fingerprint: loaded && behaviorFingerprint(loaded.parts),
    errors: of("error").length,
    warnings: of("warning").length,
    notes: of("note").length,
    findings: severities.flatMap(of),
  };
}

/** Loads the tokenizer, or returns why it cannot be loaded. Throws that error if it is not a byte-level BPE. */
async function load(subject: Subject, options: LoadOptions): Promise<Loaded | UserError> {
  try {
    const parts = await loadTokenizerParts(subject.path, options);
    return { parts, derivations: deriveTokens(parts) };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const model = objectOf(subject.json?.model);
    const hasByteLevel =
      "Ġ" in objectOf(model.vocab) || JSON.stringify(subject.json?.pre_tokenizer ?? "").includes("ByteLevel");
    const isByteLevel = (model.type ?? "BPE") === "BPE" && model.byte_fallback !== true && hasByteLevel;
    if (!isByteLevel) throw error;
    return error;
  }
}
