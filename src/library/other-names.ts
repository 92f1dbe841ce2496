import { usageError } from "#runtime";

const sameWay = (names: readonly string[], way: string) =>
  Object.fromEntries(names.map((name) => [name, way]));

const byTransformers = "transformers.js does that: AutoTokenizer reads the files of a saved directory";
/** Methods of other packages' tokenizers, and what to call here instead. */
const equivalents: Readonly<Record<string, string>> = {
  ...sameWay(
    ["addTokens", "addSpecialTokens", "add_tokens", "add_special_tokens"],
    "trainTokenizer({ extend: PATH, specialTokens, seedTokens }) makes a tokenizer with more tokens",
  ),
  ...sameWay(
    ["apply_chat_template", "encodeChat", "enablePadding", "enableTruncation", "setPadding", "setTruncation"],
    byTransformers,
  ),
  ...sameWay(["encode_ordinary", "encodeOrdinary"], "encode(text, { specialTokensAsText: true }) does that"),
  ...sameWay(["encode_batch"], "encodeBatch(texts) does that"),
  ...sameWay(["encode_with_offsets"], "encodeWithOffsets(text) does that"),
  ...sameWay(["decode_bytes"], "decodeBytes(ids) does that"),
  ...sameWay(["decode_single_token_bytes", "decodeSingleTokenBytes"], "tokenBytes(id) does that"),
  ...sameWay(["decodeBatch", "decode_batch", "batch_decode"], "decode(ids) decodes one text at a time"),
  ...sameWay(["countTokens", "count_tokens"], "count(text) does that"),
  ...sameWay(
    ["isWithinTokenLimit", "is_within_token_limit"],
    "count(text, { limit: n }) <= n says whether a text has at most n ids",
  ),
  ...sameWay(["token_to_id"], "tokenToId(token) does that"),
  ...sameWay(["id_to_token"], "idToToken(id) does that"),
  ...sameWay(
    ["getVocab", "get_vocab"],
    "tokenToId(token) and idToToken(id) look up one token; ids are less than idLimit",
  ),
  ...sameWay(["getVocabSize", "get_vocab_size"], "use the property vocabSize"),
  ...sameWay(["free"], "dispose() does that"),
};

/** Makes calls of other packages' methods throw an error that says what to call instead. */
export function explainOtherNames(prototype: object): void {
  for (const [name, way] of Object.entries(equivalents)) {
    Object.defineProperty(prototype, name, {
      configurable: true,
      value() {
        throw usageError(`a Tokenizer has no method ${name}`, way);
      },
    });
  }
}
