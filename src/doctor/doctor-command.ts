import { countNoun, groupDigits } from "#bytes";
import { corpusInputs, inputSearch, inspection } from "#corpus";
import { corpusEncoding } from "#encoding";
import { namedTokenizers, recordFiles } from "#formats";
import { jobs } from "#jobs";
import { kinds, optionTables } from "#options";
import { asOption, machine, UserError } from "#runtime";
import {
  dataOutput,
  givenTokenizers,
  type Invocation,
  type Output,
  stopping,
  styling,
  summaryRows,
} from "#terminal";
import type { Finding } from "./checks.ts";
import { doctorOptions } from "./doctor-options.ts";
import type { Diagnosis, examiningJob } from "./examine.ts";
import { type Counted, TextSurvey } from "./text-survey.ts";

/** `bpe doctor`: examines a tokenizer. Throws a UserError at the end if the diagnosis has errors. */
export async function runDoctor(invocation: Invocation, output: Output): Promise<void> {
  const asked = optionTables.readTyped(doctorOptions, invocation.options);
  const { path } = namedTokenizers.find(invocation.files[0]!);
  const supplements = await givenTokenizers.readSupplements(asked);
  const { pattern, specialTokens } = supplements;
  const options = { pattern, specialTokens };
  const counted = asked.texts === undefined ? null : await countText({ path, ...supplements }, asked, output);
  const thread = jobs.start<ReturnType<typeof examiningJob>>("examining");
  const forget = stopping.onStop(() => thread.end());
  const diagnosis = await thread.ask("examine", { path, options, counted }).finally(() => {
    thread.end();
    forget();
  });
  await (asked.json === true
    ? dataOutput.writeJson(diagnosis)
    : dataOutput.writeLines(diagnosisLines(diagnosis, styling.lineColumns(1))));
  if (diagnosis.errors > 0) throw new UserError(`"${path}" has ${countNoun(diagnosis.errors, "error")}`);
  const { errors, warnings, notes, fingerprint } = diagnosis;
  output.succeed([], { errors, warnings, notes, fingerprint });
}

/** Counts the tokens of the texts. Returns null if the tokenizer cannot be loaded; the examination finds the reason. */
async function countText(
  tokenizer: Parameters<typeof givenTokenizers.open>[0],
  asked: ReturnType<typeof optionTables.readTyped<typeof doctorOptions>>,
  output: Output,
): Promise<Counted | null> {
  const reading = { ...asked, trained: recordFiles.readReading([tokenizer.path]) };
  const files = asked.texts!.map((typed) => kinds.readNamed(asOption("text"), typed).path);
  const inputs = await inspection.inspectFirstStream(inputSearch.findInputs(files, reading), reading);
  output.keepOutputsFrom(inputs);
  const parts = await givenTokenizers.open(tokenizer, true, output).catch((error: unknown) => {
    if (error instanceof UserError) return null;
    throw error;
  });
  if (parts === null) return null;
  const survey = new TextSurvey(inputs, parts);
  const workerCount = machine.defaultWorkerCount(corpusInputs.expectedTextBytes(inputs));
  await corpusEncoding.encodeCorpus({ inputs, parts, workerCount }, survey, output.encoding);
  output.endStage();
  return survey.result();
}

const colors = { error: "red", warning: "yellow", note: "cyan" } as const;
const indent = 9;
/** The maximum number of a finding's tokens that are printed. */
const shownTokens = 8;

function diagnosisLines(diagnosis: Diagnosis, columns: number | null): styling.Line[] {
  const { path, fingerprint, errors, warnings, notes, findings } = diagnosis;
  const counts = [
    [errors, "error"],
    [warnings, "warning"],
    [notes, "note"],
  ] as const;
  const total = counts.map(([count, noun]) => countNoun(count, noun)).join(", ");
  return [
    [styling.piece("bold", `${path}: ${findings.length === 0 ? "nothing found" : total}`)],
    ...(fingerprint === null ? [] : [`fingerprint ${fingerprint}`]),
    ...findings.flatMap((each) => ["", ...findingLines(each, columns)]),
  ];
}

function findingLines(found: Finding, columns: number | null): styling.Line[] {
  const { check, severity, message, evidence, tokens, count, why, fix, command } = found;
  const width = columns && Math.max(20, columns - indent);
  const lines = (mark: string, text: summaryRows.Row[1]) =>
    summaryRows.rowLines([[mark, text]], width, mark.length);
  const gap = " ".repeat(indent);
  const [first = "", ...rest] = lines("", `${message} (${check})`);
  const listed = tokens.slice(0, shownTokens).map(({ id, token }) => `${id} "${token}"`);
  const moreCount = count === null ? 0 : count - listed.length;
  const more = moreCount > 0 ? [`and ${groupDigits(moreCount)} more`] : [];
  const body = [
    ...rest,
    ...evidence.flatMap((line) => lines("- ", line)),
    ...(listed.length === 0 ? [] : lines("tokens: ", summaryRows.withCommas([...listed, ...more]))),
    ...lines("", why),
    ...(fix === null ? [] : lines("Fix: ", fix)),
    // The command is not wrapped, so that it can be copied.
    ...(command === null ? [] : [`  ${command}`]),
  ];
  return [
    [styling.piece(colors[severity], severity.padEnd(indent)), first],
    ...body.map((line) => gap + line),
  ];
}
