import { basename, dirname, join } from "node:path";
import { countNoun, formatSeconds, groupDigits } from "#bytes";
import { inputSearch } from "#corpus";
import { countTokensOf } from "#encoding";
import { recordFiles } from "#formats";
import { optionTables, sharedOptions } from "#options";
import { asOption, phrase, shell, usageError } from "#runtime";
import {
  dataOutput,
  givenTokenizers,
  type Invocation,
  inputFiles,
  type Output,
  stopping,
  summaryRows,
} from "#terminal";
import { pruneOptions, truncateOptions } from "./edit-options.ts";
import { type Pruned, type PruneOptions, pruneTokenizer } from "./prune-tokenizer.ts";

/** `bpe prune`: removes the tokens of a tokenizer that a text needs least. */
export async function runPrune(invocation: Invocation, output: Output): Promise<void> {
  const startMs = performance.now();
  const { options } = invocation;
  const asked = await readOptions("prune", invocation, startMs);
  const typed = optionTables.readTyped(pruneOptions, options);
  const { texts, vocabSize, workers } = typed;
  inputSearch.checkNames(texts!, typed);
  await dataOutput.lockDirectory(output, asked.output);
  const reading = { ...typed, trained: recordFiles.readReading([asked.path]) };
  const found = await inputFiles.openInputs(texts!, reading, output);
  const parts = await givenTokenizers.open({ path: asked.path, ...asked.loadOptions }, true, output);
  const text = { path: texts!.join(" "), inputs: found.inputs, workers };
  const { counts, idCount: tokenCount } = await countTokensOf(parts, text, output.encoding);
  const { sizes, removedCounts, ...pruned } = await pruneTokenizer({
    ...asked,
    parts,
    counts,
    sizes: [vocabSize!],
    texts: found.inputs.map(({ path, isStream, sizeBytes }) => ({
      path,
      sizeBytes: isStream ? null : sizeBytes,
    })),
  });
  const elapsedMs = Math.round(performance.now() - startMs);
  const removedCount = removedCounts[0]!;
  const share = `${((100 * removedCount) / Math.max(1, tokenCount)).toFixed(2)} %`;
  const ofText = `${countNoun(tokenCount, "token")}; ${groupDigits(removedCount)} (${share}) were occurrences of removed tokens`;
  const result = { ...pruned, size: sizes[0]!, removedCount, tokenCount, elapsedMs, output: asked.output };
  output.succeed(
    (columns) => [
      ...summaryOf({ ...result, path: asked.path, sizes, text: ofText }, columns),
      ...inputFiles.noteLines(found),
    ],
    { ...result, skipped: found.skipped },
  );
}

/** `bpe truncate`: keeps the first merges of a tokenizer, in one size or several. */
export async function runTruncate(invocation: Invocation, output: Output): Promise<void> {
  const startMs = performance.now();
  const { options } = invocation;
  const asked = await readOptions("truncate", invocation, startMs);
  const sizes = optionTables.readTyped(truncateOptions, options).vocabSize!.map(({ count, isMore }) => {
    if (isMore)
      throw usageError(
        phrase`${asOption("vocab-size", `+${count}`)} would add tokens, but truncate only removes tokens`,
        phrase`give the number of tokens to keep: ${asOption("vocab-size", "32k", "n")}`,
      );
    return count;
  });
  sizes.sort((a, b) => a - b);
  const twice = sizes.find((size, i) => size === sizes[i + 1]);
  if (twice !== undefined)
    throw usageError(phrase`${asOption("vocab-size")} has the size ${twice} twice`, "give each size once");
  await dataOutput.lockDirectory(output, asked.output);
  const parts = await givenTokenizers.open({ path: asked.path, ...asked.loadOptions }, true, output);
  const { removedCounts: _, ...truncated } = await pruneTokenizer({
    ...{ ...asked, parts, sizes },
    counts: null,
    texts: [],
  });
  const elapsedMs = Math.round(performance.now() - startMs);
  const result = { ...truncated, elapsedMs, output: asked.output };
  output.succeed((columns) => summaryOf({ ...result, path: asked.path, text: "" }, columns), result);
}

type Result = Omit<Pruned, "removedCounts"> & {
  readonly path: string;
  /** The row about the text: the number of its tokens, and how many of them were removed tokens; "" without a text. */
  readonly text: string;
  readonly elapsedMs: number;
  readonly output: string;
};

function summaryOf(
  { sizeBefore, sizes, unreachableCount, text, files, ...result }: Result,
  columns: number | null,
): string[] {
  const directories = [...new Set(files.filter((name) => name.includes("/")).map(dirname))];
  const [first = ""] = directories;
  const names = files.filter((name) => dirname(name) === (first || ".")).map((name) => basename(name));
  const place = directories.length === 0 ? result.output : join(result.output, directories.join(", "));
  const rows: summaryRows.Row[] = [
    ["tokens", `${groupDigits(sizeBefore)} -> ${sizes.map(groupDigits).join(", ")}`],
    ["text", text],
    [
      "unreachable",
      unreachableCount === 0
        ? ""
        : `${countNoun(unreachableCount, "token")} that no text produces, all removed`,
    ],
    ["time", formatSeconds(result.elapsedMs / 1000)],
    ["written", `${place}: ${names.join(", ")}`],
    ["ids", "ids.tsv has the new id of each old one"],
    summaryRows.embeddingsRow(result.path, join(result.output, first)),
  ];
  return summaryRows.rowLines(rows, columns, 13);
}

const replacing = { output: pruneOptions.output, ...sharedOptions.tokenizerSupplements };

/** Reads the options that prune and truncate share. */
async function readOptions(command: string, { options, files, typed }: Invocation, startMs: number) {
  const asked = optionTables.readTyped(replacing, options);
  return {
    path: files[0]!,
    output: asked.output!,
    loadOptions: await givenTokenizers.readSupplements(asked),
    command: shell.line(["bpe", command, ...typed]),
    arguments: [command, ...typed],
    startMs,
    guard: stopping.onStop,
  } satisfies Partial<PruneOptions>;
}
