import { countNoun, formatBytes, formatSeconds, groupDigits } from "#bytes";
import { jobs } from "#jobs";
import { optionTables } from "#options";
import { asOption, phrase, UserError } from "#runtime";
import { dataOutput, type Invocation, type Output, stopping, styling, summaryRows } from "#terminal";
import type { examiningJob } from "./examine.ts";
import { readTrainingRecord } from "./training-record.ts";
import { type Verification, verify } from "./verify.ts";
import { verifyOptions } from "./verify-options.ts";

/** `bpe verify`: repeats a training from its record, or, with `--files-only`, only checks the files that it wrote. */
export async function runVerify(invocation: Invocation, output: Output): Promise<void> {
  const asked = optionTables.readTyped(verifyOptions, invocation.options);
  const recorded = readTrainingRecord(invocation.files[0]!);
  const { moved = {}, filesOnly = false, workers, memoryLimit } = asked;
  const found = await verify(recorded, {
    moved,
    filesOnly,
    limits: { workers, memoryLimit },
    host: {
      report: (progress) => output.progress(progress),
      guard: stopping.onStop,
      onOpen: () => output.endStage(),
      onWords: ({ wordCount }) => output.endStage(countNoun(wordCount, "distinct pretoken")),
      onLearned: () => output.endStage(),
      tellMemory: (estimatedBytes) => output.tellMemory("merging", estimatedBytes),
    },
    checkFiles: () => checkInWorker(recorded.directory),
  });
  output.endStage();
  await (asked.json === true
    ? dataOutput.writeJson(found)
    : dataOutput.writeLines(verificationLines(found, styling.lineColumns(1))));
  const { path, differences, inputs } = found;
  const isMissing = !filesOnly && inputs.some(({ place }) => place === null);
  if (differences.length > 0)
    throw new UserError(
      `"${path}" is not verified: stdout lists ${countNoun(differences.length, "difference")} from its record`,
      { hint: isMissing ? inputHint : undefined },
    );
  output.succeed([], { ...found });
}

const inputHint = phrase`if inputs were moved, say where they are with ${asOption("input", "OLD=NEW")}; to check only the tokenizer's files, use ${asOption("files-only")}`;

/** Checks the files in a worker, because loading large tokenizers takes seconds without a yield to the event loop. */
async function checkInWorker(directory: string) {
  const thread = jobs.start<ReturnType<typeof examiningJob>>("examining");
  const forget = stopping.onStop(() => thread.end());
  return thread.ask("checkRecorded", directory).finally(() => {
    thread.end();
    forget();
  });
}

/** The maximum number of differences that are printed. */
const shownMax = 20;

/** Formats the verification for display: the verdict, the differences and the notes. */
function verificationLines(found: Verification, columns: number | null): styling.Line[] {
  const { differences, notes } = found;
  const more = differences.length - shownMax;
  const lines = (mark: string, text: string) => summaryRows.rowLines([[mark, text]], columns, mark.length);
  return [
    ...verdict(found, columns),
    ...differences.slice(0, shownMax).flatMap(({ message }) => lines("- ", message)),
    ...(more > 0 ? [`- and ${more} more`] : []),
    ...notes.flatMap((note) => lines("note: ", note)),
  ];
}

function verdict(found: Verification, columns: number | null): styling.Line[] {
  const { verified, trained, merges, textBytes, files, recorded, totalMs } = found;
  const count = countNoun(files.length, "file");
  if (verified === false)
    return [
      [
        styling.piece("red", "not verified"),
        trained ? ", after training again:" : ", without training again:",
      ],
    ];
  const from = textBytes === 0 ? "" : ` from the same ${formatBytes(textBytes)}`;
  const times = `${formatSeconds(totalMs / 1000)}; the training took ${formatSeconds(recorded.totalMs / 1000)}`;
  const [name, text] = trained
    ? ["verified", `the same ${groupDigits(merges)} merges${from}, the same ${count} (${times})`]
    : ["files agree", `${count}, with the record and each other; nothing was trained`];
  const [first = "", ...rest] = summaryRows.rowLines([[`${name}: `, text!]], columns, name!.length + 2);
  return [[styling.piece("bold", name!), first.slice(name!.length)], ...rest];
}
