import { createTextKernel } from "#runtime";
import { noMemoryForTokenizer } from "./encoding-kernel.ts";
import type { TokenTable } from "./token-table.ts";

/** The bytes of the ids, or of those before the first id that has no token, and the index of that one, else -1. */
type Decoded = { readonly bytes: Uint8Array<ArrayBuffer>; readonly unknownIndex: number };

/** Decodes ids in the kernel (src/kernel/text/decode.ts), in a memory of its own that has the tokens. */
export class TokenDecoder {
  private readonly exports;
  private readonly ids: Uint32Array;
  private readonly output: Uint8Array;

  constructor({ idLimit, starts, bytes }: TokenTable) {
    const { exports, memory } = createTextKernel();
    let longest = 0;
    for (let id = 0; id < idLimit; id++) longest = Math.max(longest, starts[id + 1]! - starts[id]!);
    if (exports.beginDecoding(idLimit, bytes.length, longest) === 0) throw noMemoryForTokenizer();
    const { buffer } = memory;
    new Uint32Array(buffer, exports.startsAddress() >>> 0, idLimit + 1).set(starts.subarray(0, idLimit + 1));
    new Uint8Array(buffer, exports.tokensAddress() >>> 0, bytes.length).set(bytes);
    this.exports = exports;
    this.ids = new Uint32Array(buffer, exports.givenIdsAddress() >>> 0, exports.givenIdsMax());
    this.output = new Uint8Array(buffer, exports.decodedAddress() >>> 0, exports.decodedCapacity());
  }

  /** The bytes of ids, end to end. Numbers that are not whole have no token. */
  decode(given: Uint16Array | Uint32Array | Float64Array): Decoded {
    const { exports, ids: window, output } = this;
    const ids = given instanceof Float64Array ? leadingIds(given) : given;
    let byteCount = 0;
    let known = 0;
    for (let at = 0; at === known && at < ids.length; at += window.length) {
      byteCount += exports.measureIds(this.give(ids, at, ids.length));
      known += exports.takenIds();
    }
    const bytes = new Uint8Array(byteCount);
    let end = 0;
    for (let at = 0; at < known; at += window.length) {
      // A single window of ids is still there.
      const count = ids.length <= window.length ? known : this.give(ids, at, known);
      for (let first = 0; first < count; first += exports.takenIds()) {
        const size = exports.decodeIds(first, count);
        if (size > copiedBytesMax) bytes.set(output.subarray(0, size), end);
        else for (let i = 0; i < size; i++) bytes[end + i] = output[i]!;
        end += size;
      }
    }
    return { bytes, unknownIndex: known === given.length ? -1 : known };
  }

  /** Gives the kernel the ids [at, end), as many as there is room for; returns their number. */
  private give(ids: Uint16Array | Uint32Array, at: number, end: number): number {
    const count = Math.min(end - at, this.ids.length);
    if (count > copiedIdsMax) this.ids.set(ids.subarray(at, at + count));
    else for (let i = 0; i < count; i++) this.ids[i] = ids[at + i]!;
    return count;
  }
}

/** For fewer a view costs more than a loop. */
const copiedBytesMax = 32;
const copiedIdsMax = 8;

/** The numbers before the first one that is no id. */
function leadingIds(numbers: Float64Array): Uint32Array {
  let count = 0;
  while (count < numbers.length && numbers[count]! >>> 0 === numbers[count]) count++;
  return Uint32Array.from(numbers.subarray(0, count));
}
