import { Tiktoken } from "tiktoken";
import { Tokenizer } from "tokenizers";
import * as patternForms from "../../../src/pattern/export-form.ts";
import type { PatternName } from "../../../src/pattern/named-patterns.ts";

/** Returns the ends of the pretokens in bytes. The text must be valid UTF-8. */
export type Oracle = (text: string) => number[];

/** Cuts with HF `tokenizers`, with the pattern in the form of our tokenizer.json. */
export function huggingfaceOracle(pattern: { name: PatternName | null; sources: readonly string[] }): Oracle {
  const form = patternForms.exported(pattern);
  const byteLevel = (useRegex: boolean) => ({
    type: "ByteLevel",
    add_prefix_space: false,
    trim_offsets: true,
    use_regex: useRegex,
  });
  const split = (regex: string) => ({
    type: "Split",
    pattern: { Regex: regex },
    behavior: "Isolated",
    invert: false,
  });
  const preTokenizer =
    form.kind === "byte-level"
      ? byteLevel(true)
      : { type: "Sequence", pretokenizers: [...regexesOf(form).map(split), byteLevel(false)] };
  const tokenizer = Tokenizer.fromString(
    JSON.stringify({
      version: "1.0",
      pre_tokenizer: preTokenizer,
      model: { type: "BPE", vocab: {}, merges: [] },
    }),
  );
  const reader = tokenizer.getPreTokenizer()!;
  return (text) => {
    let end = 0;
    // ByteLevel replaces every byte with one character of the Basic Multilingual Plane, so lengths count bytes.
    return text === "" ? [] : reader.preTokenizeString(text).map(([piece]) => (end += piece.length));
  };
}

/**
 * Returns an oracle that cuts these texts with tiktoken by the published pattern. tiktoken returns only tokens, but a
 * pretoken that is in the vocabulary is one token. So the vocabulary gets every substring of every text, and the tokens
 * are then the pretokens.
 */
export function tiktokenOracle(
  source: string,
  texts: readonly string[],
): { oracle: Oracle; free: () => void } {
  const tokens = new Set<string>();
  for (let byte = 0; byte < 256; byte++) tokens.add(String.fromCharCode(byte));
  for (const text of texts) {
    const bytes = Buffer.from(text).toString("latin1");
    for (let start = 0; start < bytes.length; start++) {
      for (let end = start + 2; end <= bytes.length; end++) tokens.add(bytes.slice(start, end));
    }
  }
  const lengths = Array.from(tokens, (token) => token.length);
  const ranks = Array.from(tokens, (token) => Buffer.from(token, "latin1").toString("base64"));
  const encoder = new Tiktoken(`! 0 ${ranks.join(" ")}`, {}, source);
  return {
    oracle: (text) => {
      let end = 0;
      return Array.from(encoder.encode_ordinary(text), (id) => (end += lengths[id]!));
    },
    free: () => encoder.free(),
  };
}

const regexesOf = (form: patternForms.PatternExport) => (form.kind === "splits" ? form.regexes : []);
