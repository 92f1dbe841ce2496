import { counted, seconds } from "../bytes/quantities.ts";
import { UserError } from "../errors.ts";
import { readSequences } from "../formats/id-reader.ts";
import { type IdWriter, idTypeFor, idWriterFor } from "../formats/id-writers.ts";
import { idsTruncating } from "../options/ids-tables.ts";
import { readTyped } from "../options/option.ts";
import { checkEncodedBy } from "../pipeline/id-files.ts";
import { piecesInFirst } from "../pipeline/prune-tokenizer.ts";
import { nextTurn } from "../runtime/turns.ts";
import type { Pieces } from "../tokenizer/truncate-vocabulary.ts";
import type { Invocation } from "./arguments.ts";
import { checkHeadFits, idOutputFile, lockOutputFile, writeData } from "./data-output.ts";
import type { Output } from "./output.ts";
import { openTokenizer, readBesideTokenizer } from "./tokenizer-options.ts";

/** `bpe ids truncate`: the ids of a smaller vocabulary from those of a larger one. */
export async function runTruncateIds(invocation: Invocation, output: Output): Promise<void> {
  const startMs = performance.now();
  const file = invocation.files[0]!;
  const path = idOutputFile(invocation);
  const { from, to, idType } = readTyped(idsTruncating, invocation.options);
  await lockOutputFile(invocation, output, path);
  checkHeadFits(path);
  const big = await openTokenizer({ path: from!, ...readBesideTokenizer(invocation.options) }, true, output);
  const small = await openTokenizer(
    { path: to!, specialTokens: [], pattern: undefined, specialTokensAsText: false },
    true,
    output,
  );
  checkEncodedBy(big, file);
  const pieces = await piecesInFirst(big, small);
  const type = idTypeFor(small, idType);
  const counts = await writeData(path, async (out) => {
    const writer = idWriterFor(path, type, out);
    const cutter = new IdCutter(pieces, writer, type === "uint16" ? Uint16Array : Uint32Array);
    const binary = { asked: idType, needed: idTypeFor(big) };
    for await (const _ of readSequences(file, binary, cutter, big.tokens.idLimit)) {
      await (writer.drained?.() ?? nextTurn());
    }
    writer.finish();
    return { idsRead: cutter.readCount, idCount: writer.idCount };
  });
  const elapsedMs = performance.now() - startMs;
  const summary = `cut ${counted(counts.idsRead, "id")} to ${counted(counts.idCount, "id")} of the smaller vocabulary in ${seconds(elapsedMs / 1000)}`;
  output.succeed(summary, { ...counts, elapsedMs: Math.round(elapsedMs), output: path ?? "-" });
}

/** Ids that are written together: some hundred KB. */
const chunkIds = 1 << 17;

/** Takes ids, and writes their pieces. */
class IdCutter {
  readCount = 0;
  private readonly only: Uint32Array;
  private readonly chunk: Uint16Array | Uint32Array;

  constructor(
    private readonly pieces: Pieces,
    private readonly writer: IdWriter,
    width: typeof Uint16Array | typeof Uint32Array,
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

  endDocument(): void {
    this.writer.endInput();
  }
}

/** The piece of an id that has one is in a table of its own: it is looked up in half the time. */
const notOne = 0xffffffff;

/** Puts the pieces of ids into `to`, from the first on, until it holds `chunkIds`, or an id has none. */
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
  new UserError(`the id ${id} at position ${position} is one that no text gives`, {
    hint: "these are ids of another tokenizer than that of --from",
  });
