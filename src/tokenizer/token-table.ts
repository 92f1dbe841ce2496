import { host } from "#runtime";
import { noTokens, type PackedTokens } from "./encoding-model.ts";

/**
 * TokenTable: the bytes of every token by its id. Ids without a token have no bytes.
 *
 *   ARRAY    TYPE          LENGTH        MEANING
 *   bytes    Uint8Array    byteCount     tokens end to end, in the order of ids
 *   starts   Uint32Array   idLimit + 1   token id is bytes[starts[id] .. starts[id + 1])
 *
 * "a" with id 0 and "th" with id 2 give bytes = "ath", starts = [0, 1, 1, 3].
 */
export type TokenTable = {
  readonly idLimit: number;
  readonly tokenCount: number;
  readonly bytes: Uint8Array;
  readonly starts: Uint32Array;
  /**
   * The ids of tokens whose key in the file has characters that represent no byte, such as "🙂" instead of "ðŁĻĤ". No
   * merge can produce such a token.
   */
  readonly rawIds?: ReadonlySet<number>;
  /**
   * The number of tokens that the files name, if it differs from `tokenCount`: two names may share an id, and a token
   * may be empty.
   */
  readonly nameCount?: number;
  /** Whether the names in the files are text: U+2581 may mean a space, and `<0x00>` a byte. */
  readonly areCharacters?: boolean;
};

/** The largest allowed `idLimit`. Larger ids are refused, because the table has an entry for every id. */
export const idLimitMax = 2 ** 24;

/** Builds a table of tokens. If two tokens have the same id, the later one wins. */
export const build = (tokens: Iterable<readonly [id: number, bytes: Uint8Array]>): TokenTable =>
  fromPacked(pack([...tokens]));

export const pack = (tokens: readonly (readonly [id: number, bytes: Uint8Array])[]): PackedTokens =>
  append(noTokens, tokens);

/** Returns packed tokens, followed by other tokens. The given packed tokens do not change. */
export function append(
  { bytes, starts, ids }: PackedTokens,
  others: readonly (readonly [id: number, bytes: Uint8Array])[],
): PackedTokens {
  const [count, byteCount] = [ids.length, starts[ids.length]!];
  const joined = {
    bytes: new Uint8Array(others.reduce((sum, [, { length }]) => sum + length, byteCount)),
    starts: new Int32Array(count + others.length + 1),
    ids: new Int32Array(count + others.length),
  };
  joined.bytes.set(bytes.subarray(0, byteCount));
  joined.starts.set(starts.subarray(0, count + 1));
  joined.ids.set(ids);
  others.forEach(([id, token], i) => {
    const start = joined.starts[count + i]!;
    joined.bytes.set(token, start);
    joined.starts[count + i + 1] = start + token.length;
    joined.ids[count + i] = id;
  });
  return joined;
}

export function fromPacked(tokens: PackedTokens): TokenTable {
  const { ids, starts: from, bytes: all } = tokens;
  const count = ids.length;
  let idLimit = 0;
  for (let t = 0; t < count; t++) if (ids[t]! >= idLimit) idLimit = ids[t]! + 1;
  // At first, starts[id + 1] is the length of token id. A later loop replaces the lengths by offsets.
  const starts = new Uint32Array(idLimit + 1);
  for (let t = 0; t < count; t++) starts[ids[t]! + 1] = from[t + 1]! - from[t]!;
  let tokenCount = 0;
  for (let id = 0; id < idLimit; id++) {
    if (starts[id + 1] !== 0) tokenCount++;
    starts[id + 1]! += starts[id]!;
  }
  const bytes = new Uint8Array(starts[idLimit]!);
  for (let t = 0; t < count; t++) {
    const end = from[t + 1]!;
    let to = starts[ids[t]!]!;
    // If tokens share an id, the last one sets the length and the bytes. Tokens of another length are skipped here, and
    // those of the same length are overwritten by the last one.
    if (end - from[t]! !== starts[ids[t]! + 1]! - to) continue;
    for (let pos = from[t]!; pos < end; pos++) bytes[to++] = all[pos]!;
  }
  return { idLimit, tokenCount, bytes, starts };
}

host.disableFtl(fromPacked);

/** Returns the reason why tokens cannot be looked up by name; undefined if they can. */
export function nameObstacle(table: TokenTable): string | undefined {
  const { tokenCount, nameCount = tokenCount, areCharacters = false } = table;
  if (areCharacters)
    return "tokens cannot be looked up by name: the merges of this tokenizer start from characters, so only its files spell its tokens";
  return nameCount === tokenCount
    ? undefined
    : "tokens cannot be looked up by name: two tokens of the files have the same id, or a token is empty";
}

/** Returns a table that is built on first use. */
export function lazy(make: () => TokenTable): TokenTable {
  let made: TokenTable | undefined;
  const table = () => {
    made ??= make();
    return made;
  };
  return {
    get idLimit() {
      return table().idLimit;
    },
    get tokenCount() {
      return table().tokenCount;
    },
    get bytes() {
      return table().bytes;
    },
    get starts() {
      return table().starts;
    },
    get rawIds() {
      return table().rawIds ?? new Set<number>();
    },
    get nameCount() {
      return table().nameCount ?? table().tokenCount;
    },
    get areCharacters() {
      return table().areCharacters ?? false;
    },
  };
}

/** Whether each byte has a token of its own, not only the unknown token. */
export const haveAllBytes = (byteIds: Int32Array, { starts, bytes }: TokenTable): boolean =>
  byteIds.every((id, byte) => id >= 0 && starts[id + 1]! - starts[id]! === 1 && bytes[starts[id]!] === byte);

/** Returns the bytes of a token, as a view of the table; empty if the id has no token. */
export function bytesOf({ starts, bytes }: TokenTable, id: number): Uint8Array {
  // For -1, 0.5, NaN or an id above the last, `starts` lacks an element, and the range is empty.
  return bytes.subarray(starts[id] ?? 0, starts[id + 1] ?? 0);
}

/**
 * Returns the end of the longest run of ids from `start` on that decodes to at most `bytesMax` bytes. If the first id
 * alone decodes to more, the run has this one id.
 */
export function decodableEnd(
  { idLimit, starts }: TokenTable,
  ids: Uint16Array | Uint32Array | Float64Array,
  start: number,
  bytesMax: number,
): number {
  let byteCount = 0;
  let end = start;
  for (; end < ids.length; end++) {
    const id = ids[end]!;
    // An id without a token counts as no bytes here. It is reported when it is decoded.
    if (id < idLimit) byteCount += starts[id + 1]! - starts[id]! || 0;
    if (byteCount > bytesMax && end > start) break;
  }
  return end;
}
