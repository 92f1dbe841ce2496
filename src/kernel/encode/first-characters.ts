import { characterSize } from "../text/utf8";
import { droppedByte, EncodingModel, findTokenAt, indexTokens, TokenTable, tokenId } from "./model-layout";

/**
 * Support for models like SentencePiece's, whose merging begins with characters. A character without a token begins as
 * the tokens of its bytes, or as the unknown token; if the model has neither, the character is dropped. `byteIds` of
 * the model has the ids of ASCII characters, and of the bytes of characters without a token.
 *
 * Most such models write a space as the *mark* U+2581. In the kernel's model, byte 0x20 has the token of the mark, so
 * texts need not be changed. A mark that occurs in a text gets the same token.
 */
let model: EncodingModel = changetype<EncodingModel>(0);
let characters: TokenTable = changetype<TokenTable>(0);
let hasMark: bool = false;

/**
 * The values of the model's field `beginning`, which says with which symbols merging begins.
 *
 *   0, withBytes          bytes
 *   1, withCharacters     characters; one without a token becomes its bytes
 *   2                     characters; one without a token becomes the unknown token
 *   3, withFusedUnknown   like 2, but adjacent characters without a token become one unknown token together, or
 *                         are dropped (`unknownId` is `droppedByte`)
 */
const withBytes: u32 = 0;
const withCharacters: u32 = 1;
const withFusedUnknown: u32 = 3;

/** The three bytes of the mark, the first one highest. */
const mark: u32 = 0xe29681;
const space: u32 = 0x20;

/** Indexes the characters; returns false if memory runs out. */
export function useFirstCharacters(given: EncodingModel): bool {
  model = given;
  characters = given.characters;
  hasMark = false;
  if (!indexTokens(characters)) return false;
  for (let token: u32 = 0; token < characters.count; token++) {
    const start = characters.bytes + load<u32>(characters.starts + (token << 2));
    const three = ((<u32>load<u8>(start)) << 16) | ((<u32>load<u8>(start, 1)) << 8) | load<u8>(start, 2);
    if (three === mark && tokenId(characters, token) === load<i32>(given.byteIds + (space << 2)))
      hasMark = true;
  }
  return true;
}

/** Whether merging begins with characters. */
export function beginsWithCharacters(given: EncodingModel): bool {
  return given.beginning !== withBytes;
}

/**
 * Whether the bytes around a position suffice to decide if a token can cross it. They do not if unknown tokens are
 * fused, because a fused token crosses positions that no merge crosses.
 */
export function canBePartedByBytes(given: EncodingModel): bool {
  return given.beginning !== withFusedUnknown;
}

/**
 * Whether the three bytes `left` of a position between characters, or the three bytes `right` of it, may contain part
 * of a mark. The joins of never-merged.ts, which say where merges may cross, have a space in place of a mark. So the
 * bytes of a mark cannot be looked up there.
 */
export function mayHaveMark(left: u32, right: u32): bool {
  if (!hasMark) return false;
  if (left === mark || left >> 8 === (mark & 0xffff) || left >> 16 === (mark & 255)) return true;
  return right === mark || (right & 0xffff) === mark >> 8 || (right & 255) === mark >> 16;
}

/** Whether byte `left` may be the last one of a mark, or byte `right` the first one. */
export function mayTouchMark(left: u32, right: u32): bool {
  return hasMark && (left === (mark & 255) || right === mark >> 16);
}

/** Writes the ids with which merging of `length` bytes begins. Returns their number, which is at most `length`. */
export function fillCharacters(ids: usize, start: usize, length: u32): u32 {
  const end = start + length;
  const given = model;
  const isFused = given.beginning === withFusedUnknown;
  const unknown = given.unknownId;
  let symbol = ids;
  let last = droppedByte;
  for (let at = start; at < end; ) {
    const size = max<usize>(1, characterSize(at, end));
    const token = size > 1 && characters.count > 0 ? findTokenAt(characters, at, <u32>size) : -1;
    const stop = at + size;
    if (token < 0 && size > 1 && given.beginning === withCharacters) {
      for (; at < stop; at++, symbol += 4) store<i32>(symbol, byteId(at));
      continue;
    }
    const id = token >= 0 ? tokenId(characters, token) : size > 1 ? unknown : byteId(at);
    at = stop;
    if (id === droppedByte || (isFused && id === unknown && last === id)) continue;
    store<i32>(symbol, id);
    symbol += 4;
    last = id;
  }
  return <u32>((symbol - ids) >> 2);
}

function byteId(at: usize): i32 {
  return load<i32>(model.byteIds + ((<usize>load<u8>(at)) << 2));
}
