import type { PatternExport } from "../../pattern/pattern.ts";
import type { FinishedTokenizer, Vocabulary } from "../vocabulary.ts";
import type { OutputFile } from "./output-file.ts";
import { idRows, mergeRows, withoutFirstByte } from "./rows.ts";
import { jsonSpelling } from "./token-spelling.ts";

/** Is the beginning, end and unknown token where it is given, as in GPT-2. */
const endOfText = "<|endoftext|>";

/**
 * `tokenizer.json` as HF `tokenizers` writes it, key for key and space for space, and the two small files that
 * `transformers` reads beside it.
 */
export function huggingfaceFiles({ vocabulary, exportForm }: FinishedTokenizer): OutputFile[] {
  return [
    { name: "tokenizer.json", chunks: () => tokenizerJson(vocabulary, exportForm) },
    { name: "tokenizer_config.json", chunks: () => [tokenizerConfigJson(vocabulary)] },
    { name: "special_tokens_map.json", chunks: () => [specialTokensMapJson(vocabulary)] },
  ];
}

/** Parts of bounded size are written by JSON.stringify, the vocabulary and the merges row by row. */
function* tokenizerJson(vocabulary: Vocabulary, exportForm: PatternExport): Generator<Uint8Array> {
  const head = {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: idsAscending(vocabulary).map((s) => ({
      id: vocabulary.specialIds[s]!,
      content: vocabulary.specialTokens[s]!,
      ...addedTokenTraits,
    })),
    normalizer: null,
    pre_tokenizer: preTokenizer(exportForm),
    post_processor: null,
    decoder: byteLevel({ addPrefixSpace: true, useRegex: true }),
    model: {
      type: "BPE",
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
    },
  };
  const text = new TextEncoder();
  // `head` ends in "ignore_merges": false⏎  }⏎}. The end is cut off, because the model goes on.
  yield text.encode(`${JSON.stringify(head, null, 2).slice(0, -"\n  }\n}".length)},\n    "vocab": {`);
  yield* withoutFirstByte(idRows(vocabulary, [',\n      "', '": ', ""]));
  yield text.encode('\n    },\n    "merges": [');
  const separators = [',\n      [\n        "', '",\n        "', '"\n      ]'] as const;
  yield* withoutFirstByte(mergeRows(vocabulary, separators, jsonSpelling));
  yield text.encode(`${vocabulary.mergeCount === 0 ? "" : "\n    "}]\n  }\n}`);
}

/** HF's ByteLevel step cuts by the gpt2 pattern. Any other pattern is a list of Split steps before it. */
function preTokenizer(form: PatternExport): object {
  if (form.kind === "byte-level") return byteLevel({ addPrefixSpace: false, useRegex: true });
  const splits = form.regexes.map((regex) => ({
    type: "Split",
    pattern: { Regex: regex },
    behavior: "Isolated",
    invert: false,
  }));
  return {
    type: "Sequence",
    pretokenizers: [...splits, byteLevel({ addPrefixSpace: false, useRegex: false })],
  };
}

function byteLevel(options: { addPrefixSpace: boolean; useRegex: boolean }): object {
  return {
    type: "ByteLevel",
    add_prefix_space: options.addPrefixSpace,
    trim_offsets: true,
    use_regex: options.useRegex,
  };
}

function tokenizerConfigJson(vocabulary: Vocabulary): Uint8Array {
  const decoders = idsAscending(vocabulary).map((s) => [
    vocabulary.specialIds[s]!,
    { content: vocabulary.specialTokens[s]!, ...addedTokenTraits },
  ]);
  return jsonFile({
    added_tokens_decoder: Object.fromEntries(decoders),
    ...specialTokenRoles(vocabulary),
    clean_up_tokenization_spaces: false,
    tokenizer_class: "PreTrainedTokenizerFast",
  });
}

function specialTokensMapJson(vocabulary: Vocabulary): Uint8Array {
  return jsonFile(specialTokenRoles(vocabulary));
}

function specialTokenRoles({ specialTokens }: Vocabulary): object {
  const roles = specialTokens.includes(endOfText)
    ? { bos_token: endOfText, eos_token: endOfText, unk_token: endOfText }
    : {};
  return { ...roles, additional_special_tokens: specialTokens };
}

const addedTokenTraits = {
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
  special: true,
};

/** The special tokens' indices in the order of their ids, as HF lists them. */
function idsAscending({ specialIds }: Vocabulary): number[] {
  return Array.from(specialIds.keys()).sort((a, b) => specialIds[a]! - specialIds[b]!);
}

function jsonFile(value: object): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(value, null, 2)}\n`);
}
