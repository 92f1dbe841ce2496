/** A field of a Protocol Buffers message: a number, or the bytes of a value. */
export type MessageField = { readonly number: number; readonly value: number | Uint8Array };

/** Yields the fields of a message in file order. Throws a RangeError if the bytes are not a message. */
export function* messageFields(bytes: Uint8Array): Generator<MessageField> {
  for (let pos = 0; pos < bytes.length; ) {
    const tag = readVarint(bytes, pos);
    const number = Math.floor(tag.value / 8);
    if (number === 0) throw new RangeError(`the field at byte ${pos} has the number 0`);
    pos = tag.end;
    const wireType = tag.value % 8;
    if (wireType === 0) {
      const { value, end } = readVarint(bytes, pos);
      pos = end;
      yield { number, value };
      continue;
    }
    let size = fixedSizes[wireType];
    if (wireType === 2) {
      const length = readVarint(bytes, pos);
      [size, pos] = [length.value, length.end];
    }
    if (size === undefined || pos + size > bytes.length)
      throw new RangeError(`field ${number} at byte ${pos} is invalid or cut off`);
    yield { number, value: bytes.subarray(pos, pos + size) };
    pos += size;
  }
}

/** The size in bytes of a value, by wire type; undefined for wire types without a fixed size. */
const fixedSizes: readonly (number | undefined)[] = [undefined, 8, undefined, undefined, undefined, 4];

/** Reads an integer of up to ten groups of seven bits, the lowest first. Integers above 2^53 are rounded. */
function readVarint(bytes: Uint8Array, start: number): { value: number; end: number } {
  let value = 0;
  for (let i = 0; i < 10; i++) {
    const byte = bytes[start + i];
    if (byte === undefined) break;
    value += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return { value, end: start + i + 1 };
  }
  throw new RangeError(`there is no integer at byte ${start}`);
}
