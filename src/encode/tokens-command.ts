import { countNoun, formatBytes, formatSeconds } from "#bytes";
import { corpusInputs, type inputSearch } from "#corpus";
import { corpusEncoding } from "#encoding";
import { evaluations } from "#evaluation";
import { recordFiles } from "#formats";
import { warnings } from "#jobs";
import { optionTables } from "#options";
import { files, machine, withForwardSlashes } from "#runtime";
import { dataOutput, givenTokenizers, type Invocation, inputFiles, type Output, styling } from "#terminal";
import { tokensOptions } from "./encode-options.ts";
import { formatSpeed } from "./text-speed.ts";

/** `bpe tokens`: counts the tokens of files. */
export async function runTokens(invocation: Invocation, output: Output): Promise<void> {
  const startMs = performance.now();
  const names = invocation.files;
  const asked = optionTables.readTyped(tokensOptions, invocation.options);
  const { json, workers: askedWorkers, memoryLimit } = asked;
  const tokenizer = await givenTokenizers.tokenizerOf(asked);
  inputFiles.check(names, asked);
  const reading = { ...asked, trained: recordFiles.readReading([tokenizer.path]), mayBeEmpty: true };
  const named = inputFiles.find(names, reading, output);
  const budget = new machine.MemoryBudget(memoryLimit);
  const workerCount = corpusEncoding.encodingThreadsFor(
    askedWorkers,
    budget,
  )(corpusInputs.expectedTextBytes(named.inputs));
  const workers =
    workerCount > 1 ? corpusEncoding.startEncodingWorkers(workerCount, named.inputs) : undefined;
  try {
    const parts = await givenTokenizers.open(tokenizer, false, output);
    const found = await inputFiles.inspectStreams(named, reading);
    const { inputs } = found;
    const encoding = { inputs, parts, workerCount, budget, workers };
    const counts = await corpusEncoding.countTokens(encoding, output.encoding);
    const counted = tokenCounts(tokenizer.path, names, found, counts);
    await (json ? dataOutput.writeJson(counted) : dataOutput.writeLines(tableOf(counted)));
    summarize(output, counted, found, performance.now() - startMs);
  } finally {
    workers?.terminate();
  }
}

/** The output of `bpe tokens --json`: docs/tokens.schema.json. */
type TokenCounts = {
  readonly format: "bpe-tokens";
  readonly version: 1;
  readonly tokenizer: string;
  /** The files in the order in which they were named and found. */
  readonly files: readonly FileTokens[];
  /**
   * The named directories, with the sums of their files. The files of a directory are consecutive in `files`, from
   * index `firstFile` on.
   */
  readonly directories: readonly DirectoryTokens[];
  readonly total: TotalTokens;
  readonly skipped: inputSearch.FoundInputs["skipped"];
};

type Tokens = {
  readonly tokens: number;
  readonly bytes: number;
  readonly bytesPerToken: number | null;
  /** The number of records; null for plain text. */
  readonly records: number | null;
  readonly invalidBytes: number;
};
type FileTokens = { readonly path: string } & Tokens;
type TotalTokens = { readonly files: number } & Tokens;
type DirectoryTokens = { readonly path: string; readonly firstFile: number } & TotalTokens;

function tokenCounts(
  tokenizer: string,
  names: readonly string[],
  { inputs, inputCounts = [], skipped }: inputSearch.FoundInputs,
  counts: readonly corpusEncoding.EncodedTask[],
): TokenCounts {
  const sumOf = (first: number, end: number): TotalTokens => {
    const sum = corpusEncoding.emptyEncodedSum();
    for (const count of counts.slice(first, end)) corpusEncoding.addEncoded(sum, count);
    const hasRecords = inputs.slice(first, end).some(({ format }) => format !== "text");
    return { files: end - first, ...tokensOf(sum, hasRecords) };
  };
  const counted = inputs.map(({ path, format }, i) => ({ path, ...tokensOf(counts[i]!, format !== "text") }));
  const directories: DirectoryTokens[] = [];
  let firstFile = 0;
  for (const [n, name] of names.entries()) {
    const end = firstFile + inputCounts[n]!;
    if (name !== "-" && files.isDirectory(name))
      directories.push({ path: name, firstFile, ...sumOf(firstFile, end) });
    firstFile = end;
  }
  const total = sumOf(0, inputs.length);
  return { format: "bpe-tokens", version: 1, tokenizer, files: counted, directories, total, skipped };
}

const tokensOf = (found: corpusEncoding.EncodedTask, hasRecords: boolean): Tokens => ({
  tokens: found.idCount,
  bytes: found.textBytes,
  bytesPerToken: evaluations.ratio(found.textBytes, found.idCount),
  records: hasRecords ? found.recordCount : null,
  invalidBytes: found.invalidByteCount,
});

/** Formats numbers like `wc`. Each named directory has a line of its own, after those of its files. */
function tableOf({ files, directories, total }: TokenCounts): styling.Line[] {
  const rows: (readonly [name: string, tokens: Tokens])[] = [];
  const endingAt = Map.groupBy(directories, (directory) => directory.firstFile + directory.files);
  for (const [f, file] of files.entries()) {
    rows.push([file.path, file]);
    for (const directory of endingAt.get(f + 1) ?? [])
      rows.push([withForwardSlashes(directory.path).replace(/\/*$/, "/"), directory]);
  }
  // If all files are in one named directory, its line is the total.
  const isTold = directories.length === 1 && directories[0]!.files === files.length;
  if (files.length > 1 && !isTold) rows.push(["total", total]);

  const columns = [
    { title: "tokens", cell: ({ tokens }: Tokens) => String(tokens) },
    { title: "bytes", cell: ({ bytes }: Tokens) => String(bytes) },
    { title: "bytes/token", cell: ({ bytesPerToken }: Tokens) => bytesPerToken?.toFixed(3) ?? "-" },
    ...(total.records === null
      ? []
      : [{ title: "records", cell: ({ records }: Tokens) => String(records ?? "-") }]),
  ].map(({ title, cell }) => {
    const cells = rows.map(([, tokens]) => cell(tokens));
    return { title, cells, width: cells.reduce((most, { length }) => Math.max(most, length), title.length) };
  });
  const lineOf = (texts: readonly string[], name: string) =>
    [...texts.map((text, c) => text.padStart(columns[c]!.width)), name].join("  ");
  const head = lineOf(
    columns.map(({ title }) => title),
    "file",
  );
  return [
    [styling.piece("bold", head)],
    ...rows.map(([name], r) =>
      lineOf(
        columns.map(({ cells }) => cells[r]!),
        name,
      ),
    ),
  ];
}

function summarize(
  output: Output,
  found: TokenCounts,
  inputs: inputSearch.FoundInputs,
  elapsedMs: number,
): void {
  const { files, total, skipped } = found;
  const { tokens, bytes: sizeBytes, bytesPerToken } = total;
  const first = files.find((file) => file.invalidBytes > 0);
  output.tell(
    warnings.invalidBytes({
      count: total.invalidBytes,
      ...(first && { path: first.path }),
      became: "was encoded as a pretoken of its own",
    }),
  );
  const perToken = bytesPerToken?.toFixed(3) ?? "-";
  output.succeed(
    [
      `counted ${countNoun(tokens, "token")} of ${countNoun(files.length, "file")} and ${formatBytes(sizeBytes)} (${perToken} bytes each) in ${formatSeconds(elapsedMs / 1000)}${formatSpeed(sizeBytes, elapsedMs)}, ${formatBytes(machine.peakMemoryBytes())} memory`,
      ...inputFiles.noteLines(inputs),
    ],
    {
      ...total,
      skipped,
      elapsedMs: Math.round(elapsedMs),
      peakMemoryBytes: machine.peakMemoryBytes(),
    },
  );
}
