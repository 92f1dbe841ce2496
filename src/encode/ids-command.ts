import { join } from "node:path";
import { countNoun, formatSeconds, groupDigits } from "#bytes";
import { inputSearch } from "#corpus";
import { idMergesNames } from "#formats";
import { idMerges, idReaders, idWriters } from "#ids";
import { warnings } from "#jobs";
import { optionTables } from "#options";
import { asOption, files, machine, phrase, shell, UserError, usageError, yieldToEventLoop } from "#runtime";
import {
  dataOutput,
  type Invocation,
  type Output,
  stopping,
  styling,
  summaryRows,
  type TypedOptions,
} from "#terminal";
import { idsSummary } from "#train";
import { trainings } from "#training";
import { checkHeadFits, idOutputFile } from "./id-output.ts";
import { decodeIdsOptions, encodeIdsOptions, trainIdsOptions } from "./ids-options.ts";
import { SequenceMerger } from "./sequence-merger.ts";
import { type IdInput, trainIds, writeIds } from "./train-ids.ts";

/** `bpe ids train`: learns merges over an alphabet of numbers. */
export async function runTrainIds(invocation: Invocation, output: Output): Promise<void> {
  const asked = readTrainOptions(invocation.options);
  const { size } = asked;
  await dataOutput.lockDirectory(output, asked.output);
  const startMs = performance.now();
  const inputs = findIdFiles(invocation.files);
  output.keepOutputsFrom(inputs);
  const mergeCountFor = (alphabetSize: number) => {
    const mergeCount = size.isMore ? size.count : size.count - alphabetSize;
    if (mergeCount >= 0) return mergeCount;
    throw usageError(
      phrase`${asOption("vocab-size")} is ${groupDigits(size.count)}, but must be at least ${groupDigits(alphabetSize)}, because the input has ids up to ${groupDigits(alphabetSize - 1)}`,
      phrase`to learn 1,000 new tokens, use ${asOption("vocab-size", "+1000", "n")}`,
    );
  };
  const { compat, limits, workers } = asked;
  const trained = await trainIds(
    {
      inputs,
      binaryType: asked.binaryType,
      mergeCountFor,
      compat,
      ...limits,
      threadCount: workers,
      budget: new machine.MemoryBudget(asked.memoryLimitBytes),
      tellMemory: (estimatedBytes) => output.tellMemory("merging", estimatedBytes),
    },
    (progress) => output.progress(progress),
  );
  const typed = ["ids", "train", ...invocation.typed];
  const written = await writeIds(
    asked.output,
    {
      command: shell.line(["bpe", ...typed]),
      arguments: typed,
      inputs,
      trained,
      startMs,
      options: { compat, ...limits, workers },
      keepCount: asked.keepCount,
    },
    stopping.onStop,
  );
  const { record, obstacle, leftPath, keptPath } = written;
  if (leftPath !== null) output.tell([{ kind: "files in the old result", path: leftPath }]);
  if (obstacle !== null) output.warn(`tokenizer.json is not written: ${obstacle}`);
  const wantedCount = mergeCountFor(trained.merges.alphabetSize);
  output.tell(warnings.earlyStop(trained.merges.left.length, wantedCount, "merges"));
  const { alphabetSize, left } = trained.merges;
  const facts = { ...trained, alphabetSize, mergeCount: left.length };
  const summary = (columns: number | null) =>
    idsSummary(facts, record, { output: asked.output, keptPath, isFull: asked.isFull, columns });
  output.succeed(summary, { changed: true, output: asked.output, kept: keptPath, ...record });
}

function readTrainOptions(typed: TypedOptions) {
  const asked = optionTables.readTyped(trainIdsOptions, typed);
  const { compat = "rustbpe", workers = machine.allowedCores(), memoryLimit, keep, summary } = asked;
  return {
    size: asked.vocabSize!,
    output: asked.output!,
    compat,
    binaryType: { asked: asked.idType, needed: "uint16" },
    // With "ids" instead of `compat`, --min-frequency defaults to 1 even for huggingface, whose own default is 0. So a
    // pair that never occurs is not learned.
    limits: trainings.settleLimits(asked, "ids"),
    workers,
    memoryLimitBytes: memoryLimit,
    keepCount: keep,
    isFull: summary === "full",
  } as const;
}

/** Returns the files that names and globs refer to. `-` is standard input. */
export function findIdFiles(names: readonly string[]): IdInput[] {
  return names
    .flatMap((name) => inputSearch.pathsNamed(name))
    .map((path) => {
      if (path === "-") return { path, sizeBytes: 0 };
      const stats = files.stat(path);
      if (stats === undefined) throw files.missingError(path);
      if (stats.isDirectory()) {
        throw new UserError(`"${path}" is a directory`, {
          hint: `name the files in it: "${join(path, "*.npy")}"`,
        });
      }
      return { path, sizeBytes: stats.size };
    });
}

/** `bpe ids encode`: applies learned merges to documents of ids. */
export async function runEncodeIds(invocation: Invocation, output: Output): Promise<void> {
  const startMs = performance.now();
  const {
    output: typedPath,
    tokenizer,
    idType: asked,
  } = optionTables.readTyped(encodeIdsOptions, invocation.options);
  const path = idOutputFile(typedPath);
  await dataOutput.lockFiles(output, path);
  checkHeadFits(path);
  const inputs = findIdFiles(invocation.files);
  output.keepOutputsFrom(inputs);
  const merges = idMerges.read(mergesPathOf(tokenizer!));
  const { symbolType, tokenType } = idMerges.typesOf(merges);
  const found = { symbolCount: 0, documentCount: 0 };
  const idCount = await writeSequences(path, asked ?? tokenType, async (writer) => {
    for (const { path } of inputs) {
      const documents = await readAll(path, { asked, needed: symbolType }, merges.alphabetSize);
      found.symbolCount += documents.count;
      found.documentCount += documents.documentCount;
      await encodeDocuments(documents, merges, writer);
    }
  });
  const elapsedMs = performance.now() - startMs;
  const summary = `encoded ${countNoun(found.symbolCount, "id")} in ${countNoun(found.documentCount, "document")} to ${countNoun(idCount, "token")} in ${formatSeconds(elapsedMs / 1000)}`;
  output.succeed(summary, { ...found, idCount, elapsedMs: Math.round(elapsedMs), output: path ?? "-" });
}

const mergesPathOf = (path: string) =>
  idMergesNames.pathOf(path) ?? (files.stat(path)?.isDirectory() ? join(path, "merges.txt") : path);

async function readAll(
  path: string,
  binaryType: idReaders.BinaryType,
  alphabetSize: number,
): Promise<idReaders.SequenceList> {
  const documents = new idReaders.SequenceList();
  for await (const _ of idReaders.readSequences(path, binaryType, documents)) await yieldToEventLoop();
  if (documents.idMax < alphabetSize) return documents;
  throw new UserError(
    `${files.nameOf(path)} contains the id ${documents.idMax}, but the tokenizer was trained on ids up to ${alphabetSize - 1}`,
    {
      hint: `give a tokenizer that bpe ids train made from these ids, or from ids up to at least ${documents.idMax}`,
    },
  );
}

async function encodeDocuments(
  { tokens, starts, documentCount }: idReaders.SequenceList,
  merges: idMerges.IdMerges,
  writer: idWriters.IdWriter,
): Promise<void> {
  const merger = new SequenceMerger(merges);
  for (let d = 0; d < documentCount; d++) {
    const work = merger.merge(tokens.subarray(starts[d], starts[d + 1]));
    let step = work.next();
    for (; !step.done; step = work.next()) await yieldToEventLoop();
    writer.write(step.value, Uint32Array.of(step.value.length));
    await writer.drain?.();
  }
}

/** Writes ids as .npy or .bin if the path ends so, otherwise as lines of decimal ids. Returns how many were written. */
const writeSequences = (
  path: string | undefined,
  type: idWriters.IdType,
  write: (writer: idWriters.IdWriter) => Promise<void>,
): Promise<number> =>
  dataOutput.writeData(path, async (out) => {
    const writer = idWriters.writerFor(path, type, out);
    await write(writer);
    writer.finish();
    return writer.idCount;
  });

/** `bpe ids decode`: converts tokens back to ids of the alphabet. */
export async function runDecodeIds(invocation: Invocation, output: Output): Promise<void> {
  const startMs = performance.now();
  const {
    output: path,
    tokenizer,
    idType: asked,
  } = optionTables.readTyped(decodeIdsOptions, invocation.options);
  const file = invocation.files[0]!;
  await dataOutput.lockFiles(output, path);
  checkHeadFits(path);
  const merges = idMerges.read(mergesPathOf(tokenizer!));
  const idLimit = merges.alphabetSize + merges.left.length;
  const documents = new idReaders.SequenceList();
  const { symbolType, tokenType } = idMerges.typesOf(merges);
  const readType = { asked, needed: tokenType };
  for await (const _ of idReaders.readSequences(file, readType, documents, idLimit)) await yieldToEventLoop();
  const { tokens, starts, count, documentCount } = documents;
  const symbolCount = await writeSequences(path, symbolType, async (writer) => {
    for (let d = 0; d < documentCount; d++) {
      for (const symbols of idMerges.symbolsOf(merges, tokens.subarray(starts[d], starts[d + 1]))) {
        writer.write(symbols);
        await (writer.drain?.() ?? yieldToEventLoop());
      }
      writer.endInput();
    }
  });
  const elapsedMs = Math.round(performance.now() - startMs);
  const summary = `decoded ${countNoun(count, "token")} in ${countNoun(documentCount, "document")} to ${countNoun(symbolCount, "id")} in ${formatSeconds(elapsedMs / 1000)}`;
  output.succeed(summary, { idCount: count, documentCount, symbolCount, elapsedMs, output: path ?? "-" });
}

const longestShown = 10;
const symbolsShown = 12;

/** `bpe ids inspect`: describes merges over ids. */
export async function runInspectIds({ files }: Invocation): Promise<void> {
  const mergesPath = mergesPathOf(files[0]!);
  const merges = idMerges.read(mergesPath);
  const { alphabetSize, left } = merges;
  const counts = idMerges.symbolCounts(merges);
  const ids = Array.from(left, (_, k) => alphabetSize + k);
  const longest = ids.sort((a, b) => counts[b]! - counts[a]! || a - b).slice(0, longestShown);
  const spelled = (id: number) => {
    const [symbols = new Uint32Array(0)] = idMerges.symbolsOf(merges, [id]);
    const more = counts[id]! > symbolsShown ? " …" : "";
    return `${symbols.subarray(0, symbolsShown).join(" ")}${more}`;
  };
  const rows: summaryRows.Row[] = [
    ["tokenizer", `${mergesPath} (merges over ids, bpe help docs/extend.md)`],
    ["size", `${countNoun(alphabetSize + left.length, "token")}, ${countNoun(left.length, "merge")}`],
    ["alphabet", `${countNoun(alphabetSize, "id")}, 0 to ${groupDigits(alphabetSize - 1)}`],
    ...longest.map(
      (id, i): summaryRows.Row => [
        i === 0 ? "longest" : "",
        `${countNoun(counts[id]!, "id")}  ${id}: ${spelled(id)}`,
      ],
    ),
  ];
  await dataOutput.writeLines(summaryRows.rowLines(rows, styling.lineColumns(1), 14));
}
