import { usageError } from "#runtime";

const sameWay = (names: readonly string[], way: string) =>
  Object.fromEntries(names.map((name) => [name, way]));

const byTransformers = "use AutoTokenizer of transformers.js, which reads the files of a saved directory";
/** Methods of other packages' tokenizers, and what to use instead. */
const equivalents: Readonly<Record<string, string>> = {
  ...sameWay(
    ["addTokens", "addSpecialTokens", "add_tokens", "add_special_tokens"],
    "in Bun or Node, call trainTokenizer({ extend: PATH, specialTokens, seedTokens })",
  ),
  ...sameWay(
    ["apply_chat_template", "encodeChat", "enablePadding", "enableTruncation", "setPadding", "setTruncation"],
    byTransformers,
  ),
  ...sameWay(["encode_ordinary", "encodeOrdinary"], "call encode(text, { specialTokensAsText: true })"),
  ...sameWay(["encode_batch"], "call encodeBatch(texts)"),
  ...sameWay(["encode_with_offsets"], "call encodeWithOffsets(text)"),
  ...sameWay(["decode_bytes"], "call decodeBytes(ids)"),
  ...sameWay(["decode_single_token_bytes", "decodeSingleTokenBytes"], "call tokenBytes(id)"),
  ...sameWay(["decodeBatch", "decode_batch", "batch_decode"], "call decode(ids) for each text"),
  ...sameWay(["countTokens", "count_tokens"], "call count(text)"),
  ...sameWay(["isWithinTokenLimit", "is_within_token_limit"], "use count(text, { limit: n }) <= n"),
  ...sameWay(["token_to_id"], "call tokenToId(token)"),
  ...sameWay(["id_to_token"], "call idToToken(id)"),
  ...sameWay(
    ["getVocab", "get_vocab"],
    "look up tokens with tokenToId(token) and idToToken(id); ids are less than idLimit",
  ),
  ...sameWay(["getVocabSize", "get_vocab_size"], "use the property vocabSize"),
  ...sameWay(["free"], "call dispose()"),
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
