import { isUtf8 } from "node:buffer";
import { lazy } from "#bytes";
import { tokenizerFiles } from "#formats";
import { UserError } from "#runtime";
import { derivation, fingerprints, probe, type TokenTable, type tokenizers } from "#tokenizer";
import { checkRecorded } from "./check-recorded.ts";
import { type Finding, finding, severities } from "./checks.ts";
import { checkClass } from "./class-checks.ts";
import { corpusScripts } from "./corpus-scripts.ts";
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
import { checkCorpus, checkDocuments, checkScripts } from "./text-checks.ts";
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
  readonly options: tokenizers.LoadOptions;
  /** How often tokens occur in a text; null without a text, or if the tokenizer could not be loaded. */
  readonly counted: Counted | null;
};

/**
 * The job that examines. It runs in a thread of its own, because examining a large tokenizer takes seconds without a
 * yield to the event loop.
 */
export const examiningJob = () => ({ examine, checkRecorded });

/** Examines a tokenizer. Throws a UserError if the path has no tokenizer that can be examined. */
export async function examine({ path, options, counted }: Examination): Promise<Diagnosis> {
  const { subject, findings } = await readSubject(path);
  const opened = load(subject, options);
  const loaded = opened instanceof UserError ? null : opened;
  findings.push(...checkModelFile(subject), ...checkByteLevel(subject), ...checkEscapes(subject));
  // The errors found so far usually explain why loading failed, so the failure is reported only if there are none.
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
      ...checkTexts(loaded, counted),
    );
  const of = (severity: Finding["severity"]) => findings.filter((each) => each.severity === severity);
  return {
    format: "bpe-diagnosis",
    version: 1,
    path,
    fingerprint: loaded && probe.fingerprintOf(loaded.encode(probe.text)),
    errors: of("error").length,
    warnings: of("warning").length,
    notes: of("note").length,
    findings: severities.flatMap(of),
  };
}

/** Checks how well the tokenizer suits the given texts; without texts, how well it suits the corpus of its training. */
function checkTexts(loaded: Loaded, counted: Counted | null): Finding[] {
  const corpus = corpusScripts(loaded.parts);
  if (counted === null) return checkScripts(corpus, "the corpus of the training");
  const { scripts } = counted;
  return [
    ...checkDocuments(loaded, counted),
    ...checkScripts(scripts, "the text"),
    ...checkCorpus(scripts, corpus),
  ];
}

/** Returns 1 for each token that is valid UTF-8, by id. */
function validTokens(tokens: TokenTable): Uint8Array {
  const { idLimit, bytes, starts } = tokens;
  const isText = new Uint8Array(idLimit);
  for (let id = 0; id < idLimit; id++) {
    const end = starts[id + 1]!;
    let pos = starts[id]!;
    while (pos < end && bytes[pos]! < 0x80) pos++;
    if (pos === end || isUtf8(bytes.subarray(pos, end))) isText[id] = 1;
  }
  return isText;
}

/**
 * Loads the tokenizer. Returns the error if loading fails with a UserError, but the subject has a tokenizer.json that
 * looks like a byte-level BPE. Throws any other error.
 */
function load(subject: Subject, options: tokenizers.LoadOptions): Loaded | UserError {
  try {
    const parts = tokenizerFiles.loadSource(subject.source, options);
    const encoder = lazy(() => fingerprints.shortEncoder(parts));
    return {
      parts,
      derivations: derivation.derive(parts),
      isText: validTokens(parts.tokens),
      encode: (text, specialTokensAsText = false) => encoder()(text, specialTokensAsText),
    };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const model = objectOf(subject.json?.model);
    const hasByteLevel =
      subject.hasToken("Ġ") || JSON.stringify(subject.json?.pre_tokenizer ?? "").includes("ByteLevel");
    const isByteLevel = (model.type ?? "BPE") === "BPE" && model.byte_fallback !== true && hasByteLevel;
    if (!isByteLevel) throw error;
    return error;
  }
}
