import type { Text } from "#bytes";
import { asOption, type kernels, messages, phrase, UserError } from "#runtime";
import type { Taker } from "#text";
import { EncodingKernel, type EncodingModel } from "#tokenizer";
import type { WordCounter } from "./word-counter.ts";

/** Ids below this limit fit into 16 bits. */
const narrowIdLimit = 1 << 16;

/** Returns the size in bytes of an id in the counted words. */
export const idBytesOf = ({ idLimit }: Pick<EncodingModel, "idLimit">): 2 | 4 =>
  idLimit <= narrowIdLimit ? 2 : 4;

/**
 * Takes pretokens, encodes each of them, and counts its ids as a word. In a word, each id is two or four bytes,
 * little-endian.
 */
export class LiftedPretokens implements Taker {
  readonly kernel: kernels.Kernel;
  private readonly encoding: EncodingKernel;
  private readonly idLimit: number;

  constructor(
    model: EncodingModel,
    private readonly counter: WordCounter,
  ) {
    this.encoding = new EncodingKernel(model, idBytesOf(model) === 2, { cuts: "everywhere" });
    this.kernel = this.encoding.kernel;
    this.idLimit = model.idLimit;
    if (this.kernel.exports.useLiftedPieces(this.encoding.modelAddress) === 0) throw noRoom();
  }

  text(capacityBytes: number): Text {
    return this.encoding.reserveText(capacityBytes);
  }

  take(ends: Int32Array, endCount: number): void {
    const { exports } = this.kernel;
    const kernelEnds = this.encoding.ends;
    for (let first = 0; first < endCount - 1; first += kernelEnds.length - 1) {
      const some = Math.min(kernelEnds.length, endCount - first);
      kernelEnds.set(ends.subarray(first, first + some));
      exports.startPieces();
      if (exports.listPieces(some) === 0) throw noRoom();
      this.kernelTook(1);
    }
  }

  /** Returns how often each id has occurred in the pretokens so far. */
  get idCounts(): Float64Array {
    const { exports, memory } = this.kernel;
    return new Float64Array(memory.buffer, exports.idCountsAddress() >>> 0, this.idLimit).slice();
  }

  /** Counts the lifted pretokens that the kernel has listed. */
  kernelTook(done: number): void {
    if (done < 0) throw noRoom();
    const { counter, kernel } = this;
    const { exports, memory } = kernel;
    const pieceCount = exports.listedPieceCount();
    if (pieceCount === 0) return;
    const ends = new Int32Array(memory.buffer, exports.pieceEndsAddress() >>> 0, pieceCount + 1);
    const idsBytes = ends[pieceCount]!;
    counter.text(idsBytes).bytes.set(new Uint8Array(memory.buffer, exports.idsAddress() >>> 0, idsBytes));
    counter.take(ends, pieceCount + 1);
    exports.startPieces();
  }
}

const noRoom = () =>
  new UserError("not enough memory for the text that superwords are learned from", {
    hint: phrase`use a ${asOption("superword-pattern")} that splits the text into shorter pieces${messages.orFewerWorkers}`,
  });
