import { countNoun, escapeText, formatBytes, formatSeconds } from "#bytes";
import { corpusInputs, type Input, planFile } from "#corpus";
import { corpusEncoding } from "#encoding";
import { recordFiles } from "#formats";
import { optionTables } from "#options";
import { dataOutput, givenTokenizers, type Invocation, inputFiles, type Output } from "#terminal";
import { cuttings } from "#text";
import { trainings } from "#training";
import { countsOptionsOf } from "#words";
import { encodeOptions } from "./encode-options.ts";
import { planOptions } from "./plan-options.ts";

/** `bpe plan`: writes the ranges of a corpus as JSON Lines. */
export async function runPlan(invocation: Invocation, output: Output): Promise<void> {
  const startMs = performance.now();
  const { files } = invocation;
  const asked = optionTables.readTyped(planOptions, invocation.options);
  const { tokenizer, rangeSize: rangeSizeBytes = defaultRangeSizeBytes } = asked;
  if (files.includes("-")) throw planFile.noFileToPlan("-");
  inputFiles.check(files, asked);
  const reading = { ...asked, trained: recordFiles.readReading(tokenizer === undefined ? [] : [tokenizer]) };
  const readCuts = tokenizer === undefined ? corpusCuts(asked) : await tokenizerCuts(invocation);
  await dataOutput.lockFiles(output, asked.output);
  const found = inputFiles.find(files, reading, output);
  planFile.checkPlannable(found.inputs);
  const { inputs, skipped } = await inputFiles.inspectStreams(found, reading);
  const cuts = await readCuts(output);
  const corpusBytes = inputs.reduce((sum, input) => sum + input.sizeBytes, 0);

  let rangeCount = 0;
  const rangeOptions = { ...cuts, inputs, rangeSizeBytes };
  const lineOf = planFile.lineMaker(rangeOptions);
  await dataOutput.writeData(asked.output, async (out) => {
    for await (const range of planFile.plannedRanges(rangeOptions)) {
      rangeCount++;
      out.write(Buffer.from(`${JSON.stringify(lineOf(range))}\n`));
      await dataOutput.drain(out);
    }
    for (const input of inputs) corpusInputs.checkUnchanged(input);
  });

  const elapsed = (performance.now() - startMs) / 1000;
  output.succeed(
    [
      `planned ${countNoun(rangeCount, "range")} of ${formatBytes(corpusBytes)} in ${countNoun(inputs.length, "file")}, in ${formatSeconds(elapsed)}`,
      ...uncutLines(inputs),
      ...inputFiles.noteLines({ inputs, skipped }),
    ],
    { rangeCount, sizeBytes: corpusBytes, skipped, output: asked.output ?? "-" },
  );
}

/** Returns a line about the inputs that are one range each, whatever their size; an empty list if there are none. */
function uncutLines(inputs: readonly Input[]): string[] {
  const uncut = inputs.filter((input) => !corpusInputs.canBeCutByBytes(input));
  if (uncut.length === 0) return [];
  const files = `${countNoun(uncut.length, "file")}, such as ${escapeText(uncut[0]!.path)}`;
  return [`compressed, JSON and Parquet files are not cut, but get one range each: ${files}`];
}

const defaultRangeSizeBytes = 256e6;

type AskedPlan = optionTables.Requested<typeof planOptions>;

/** Returns a function that says where ranges may end for counting. */
function corpusCuts(asked: AskedPlan) {
  const cutting = trainings.settleCutting(asked, {});
  return async () => ({
    ...countsOptionsOf(cutting),
    pattern: cutting.pattern.compiled,
    keepsTextsWhole: false,
  });
}

/** Returns a function that says where ranges may end for encoding. */
async function tokenizerCuts({ options }: Invocation) {
  const tokenizer = await givenTokenizers.tokenizerOf(optionTables.readTyped(encodeOptions, options));
  return async (output: Output) => {
    const parts = await givenTokenizers.open(tokenizer, false, output);
    return {
      ...corpusEncoding.cutSettingsOf(parts),
      pattern: parts.pattern,
      keepsTextsWhole: !cuttings.canBeCutSafely(parts),
    };
  };
}
