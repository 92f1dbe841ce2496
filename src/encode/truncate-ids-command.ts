import { countNoun, formatSeconds } from "#bytes";
import type { keptField } from "#corpus";
import { type Pieces, piecesInFirst } from "#edit";
import { idFormats, idReaders, idWriters } from "#ids";
import { optionTables } from "#options";
import { asOption, files, phrase, UserError, usageError, yieldToEventLoop } from "#runtime";
import type { writtenPlaces } from "#store";
import { dataOutput, givenTokenizers, type Invocation, type Output, stopping } from "#terminal";
import { checkEncodedBy } from "./encoded-by.ts";
import { type AskedFiles, IdFiles, pathsToLock } from "./id-files.ts";
import { asParquet, checkHeadFits, idOutputFile } from "./id-output.ts";
import { truncateIdsOptions } from "./ids-options.ts";

/** `bpe ids truncate`: converts ids of a larger vocabulary to ids of a smaller one. */
export async function runTruncateIds(invocation: Invocation, output: Output): Promise<void> {
  const startMs = performance.now();
  const file = invocation.files[0]!;
  const asked = optionTables.readTyped(truncateIdsOptions, invocation.options);
  const { from, to, idType } = asked;
  // The file is opened here only to find its format, so the type of ids does not matter. Once the tokenizer is loaded,
  // the file is opened again with the type of its ids.
  const found = idFormats.openFormattedIds(file, "uint16");
  const { path, files } = outputOf(invocation, found);
  await dataOutput.lockFiles(output, ...(files === undefined ? [path] : pathsToLock(files)));
  if (files === undefined) checkHeadFits(path);
  const big = await givenTokenizers.open(
    { path: from!, ...(await givenTokenizers.readSupplements(asked)) },
    true,
    output,
  );
  const small = await givenTokenizers.open(
    { path: to!, specialTokens: [], pattern: undefined, specialTokensAsText: false },
    true,
    output,
  );
  await checkEncodedBy(big, file, asOption("from", "PATH"));
  const pieces = await piecesInFirst(big, small);
  const type = idType ?? files?.format.typeFor?.(small.tokens.idLimit) ?? idWriters.typeFor(small);
  const needed = idWriters.typeFor(big);
  const cutInto: CutInto = async (writer, endDocument) => {
    const cutter = new IdCutter(pieces, writer, type === "uint16" ? Uint16Array : Uint32Array, endDocument);
    const reading = found
      ? idReaders.readDocuments(
          file,
          idFormats.openFormattedIds(file, idType ?? needed)!,
          cutter,
          big.tokens.idLimit,
        )
      : idReaders.readSequences(file, { asked: idType, needed }, cutter, big.tokens.idLimit);
    for await (const _ of reading) await (writer.drain?.() ?? yieldToEventLoop());
    return cutter.readCount;
  };
  const counts =
    files === undefined
      ? await intoOne(path, type, cutInto)
      : await intoFiles({ ...files, type, inputs: found!.paths.map((path) => ({ path })) }, cutInto);
  const elapsedMs = performance.now() - startMs;
  const summary = `cut ${countNoun(counts.idsRead, "id")} to ${countNoun(counts.idCount, "id")} of the smaller vocabulary in ${formatSeconds(elapsedMs / 1000)}`;
  output.succeed(summary, { ...counts, elapsedMs: Math.round(elapsedMs), output: path ?? "-" });
}

/** Writes the converted ids, and reports the ends of documents. Returns the number of ids read. */
type CutInto = (
  writer: Pick<idWriters.IdWriter, "write" | "drain">,
  endDocument: (kept?: readonly keptField.Value[]) => void,
) => Promise<number>;

const intoOne = (path: string | undefined, type: idWriters.IdType, cutInto: CutInto) =>
  dataOutput.writeData(path, async (out) => {
    const writer = idWriters.writerFor(path, type, out);
    const idsRead = await cutInto(writer, () => writer.endInput());
    writer.finish();
    return { idsRead, idCount: writer.idCount };
  });

const noEnds = new Uint32Array(0);
const [noIds, here] = [new Uint16Array(0), Uint32Array.of(0)];

async function intoFiles(
  asked: AskedFiles & { type: idWriters.IdType; inputs: readonly writtenPlaces.RunInput[] },
  cutInto: CutInto,
) {
  const files = await IdFiles.open({
    ...asked,
    documentEndId: undefined,
    ranges: [],
    request: () => ({}),
    guard: stopping.onStop,
  });
  try {
    const idsRead = await cutInto(
      { write: (ids) => files.write(ids, noEnds), drain: () => files.drain() },
      (kept) => files.write(noIds, here, kept),
    );
    await files.finish();
    return { idsRead, idCount: files.idCount, documentCount: files.documentCount };
  } catch (error) {
    await files.discard();
    throw error;
  }
}

/**
 * Returns where to write. If the input is in a format of training programs (id-formats.ts) and the output is a file,
 * the output has the input's format, unless an option or the ending of the path names another.
 */
function outputOf(
  invocation: Invocation,
  found: idFormats.FormattedIds | undefined,
): { path: string | undefined; files?: AskedFiles } {
  const [file] = invocation.files;
  const { output: path, idsFormat: named } = optionTables.readTyped(truncateIdsOptions, invocation.options);
  if (found === undefined || path === undefined) {
    if (named === undefined) return { path: idOutputFile(path) };
    throw usageError(
      found === undefined
        ? phrase`${asOption("ids-format")} needs input in the format parquet, megatron, olmo, datatrove or llmc, but ${files.nameOf(file!)} is in none of these formats`
        : phrase`${asOption("ids-format")} is for files of ids, but without ${asOption("output", undefined, "o")}, decimal ids go to stdout`,
      found === undefined
        ? phrase`leave out ${asOption("ids-format")}; the output can be .npy, .bin or decimal ids on stdout`
        : phrase`leave out ${asOption("ids-format")}, or write the ids into a file: ${asOption("output", "NAME", "o")}`,
    );
  }
  const own = found.format;
  const isOwn = own.endings.some((ending) => path.endsWith(ending)) || !/\.[^/]+$/.test(path);
  const format = named === undefined && isOwn ? own : idFormats.of(named, path);
  if (format === undefined || (named === undefined && own.hasDocuments && !format.hasDocuments))
    throw usageError(
      format === undefined
        ? phrase`${asOption("output", `"${path}"`)} does not say which format to write`
        : phrase`${asOption("output", `"${path}"`)} would be written as ${format.name}, which does not store where the documents of "${file}" end`,
      found.keptFields !== undefined
        ? phrase`use ${asOption("ids-format", own.name)}, which also stores the fields in ${files.nameOf(file!)}`
        : own.hasDocuments
          ? phrase`to store where documents end, use ${asOption("ids-format", own.name)}; to write only the ids, use ${asOption("ids-format", "bin")} or ${asOption("ids-format", "npy")}`
          : phrase`use ${asOption("ids-format", own.name)} for the format of the input, or ${asOption("ids-format", "bin")} or ${asOption("ids-format", "npy")}`,
    );
  const { keptFields } = found;
  if (keptFields !== undefined && !format.keepsFields)
    throw usageError(
      `the format ${format.name} cannot store the fields that "${file}" contains`,
      asParquet(idFormats.baseOf(path, format)),
    );
  return {
    path,
    files: {
      base: idFormats.baseOf(path, format),
      format,
      shardSize: undefined,
      documentEnd: undefined,
      keptFields,
    },
  };
}

/** The approximate maximum number of ids that are written at a time. They take 256 or 512 KB. */
const chunkIds = 1 << 17;

/** Replaces ids of the larger vocabulary by those of the smaller one. */
class IdCutter {
  readCount = 0;
  private readonly only: Uint32Array;
  private readonly chunk: Uint16Array | Uint32Array;

  constructor(
    private readonly pieces: Pieces,
    private readonly writer: Pick<idWriters.IdWriter, "write">,
    width: typeof Uint16Array | typeof Uint32Array,
    readonly endDocument: (kept?: readonly keptField.Value[]) => void,
  ) {
    const { ids, starts } = pieces;
    this.only = new Uint32Array(starts.length - 1).fill(notOne);
    let longest = 0;
    for (let id = 0; id < this.only.length; id++) {
      const count = starts[id + 1]! - starts[id]!;
      if (count === 1) this.only[id] = ids[starts[id]!]!;
      longest = Math.max(longest, count);
    }
    this.chunk = new width(chunkIds + longest);
  }

  ids(ids: ArrayLike<number>, count: number): void {
    for (let done = 0; done < count; ) {
      const { next, length } = cutIds(ids, done, count, this.pieces, this.only, this.chunk);
      if (length > 0) this.writer.write(this.chunk.subarray(0, length));
      if (next < count && length < chunkIds) throw noPiece(ids[next]!, this.readCount + next);
      done = next;
    }
    this.readCount += count;
  }
}

/**
 * The value in the table `only` of an id that has no piece or several. For any other id, the table has its one piece.
 * Most ids have one, so a look-up in this table usually suffices, which halves the time.
 */
const notOne = 0xffffffff;

/**
 * Writes the pieces of ids[first .. count) into `to`. Stops early when `to` has at least `chunkIds` ids, or before an
 * id without pieces. `next` is the index of the first id that was not converted.
 */
function cutIds(
  ids: ArrayLike<number>,
  first: number,
  count: number,
  { ids: pieces, starts }: Pieces,
  only: Uint32Array,
  to: Uint16Array | Uint32Array,
): { next: number; length: number } {
  let length = 0;
  let next = first;
  for (; next < count && length < chunkIds; next++) {
    const id = ids[next]!;
    const piece = only[id]!;
    if (piece !== notOne) {
      to[length++] = piece;
      continue;
    }
    const end = starts[id + 1]!;
    let pos = starts[id]!;
    if (pos === end) break;
    while (pos < end) to[length++] = pieces[pos++]!;
  }
  return { next, length };
}

const noPiece = (id: number, position: number) =>
  new UserError(
    phrase`the tokenizer of ${asOption("from")} never encodes text to the id ${id}, which the input has at position ${position}`,
    { hint: phrase`give the tokenizer that encoded these ids: ${asOption("from", "PATH")}` },
  );
