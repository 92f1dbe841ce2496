import { assert } from "../../errors.ts";
import type { PatternExport } from "../../pattern/pattern.ts";
import { type ModelSettings, roleNames } from "../model-settings.ts";
import type { FinishedTokenizer, Vocabulary } from "../vocabulary.ts";
import type { OutputFile } from "./output-file.ts";
import { idRows, mergeRows, withoutFirstByte } from "./rows.ts";
import { jsonSpelling } from "./token-spelling.ts";

/**
 * `tokenizer.json` as HF `tokenizers` writes it, key for key and space for space, and the two small files that
 * `transformers` reads beside it.
 */
export function huggingfaceFiles(tokenizer: FinishedTokenizer): OutputFile[] {
  return [
    { name: "tokenizer.json", chunks: () => tokenizerJson(tokenizer) },
    { name: "tokenizer_config.json", chunks: () => [tokenizerConfigJson(tokenizer)] },
    { name: "special_tokens_map.json", chunks: () => [jsonFile(roleFields(tokenizer))] },
  ];
}

/** Parts of bounded size are written by JSON.stringify, the vocabulary and the merges row by row. */
function* tokenizerJson({ vocabulary, exportForm, model }: FinishedTokenizer): Generator<Uint8Array> {
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
    post_processor: model.addsBos ? bosInFront(vocabulary, model.roles.bos!) : null,
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
  assert(form.kind === "splits", "a tokenizer whose pattern no expressions say is not written here");
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

/** HF's step that puts bos in front of a text, and of each of a pair. */
function bosInFront({ specialTokens, specialIds }: Vocabulary, bos: string): object {
  const special = { SpecialToken: { id: bos, type_id: 0 } };
  const pairSpecial = { SpecialToken: { id: bos, type_id: 1 } };
  const text = (id: string, type: number) => ({ Sequence: { id, type_id: type } });
  return {
    type: "TemplateProcessing",
    single: [special, text("A", 0)],
    pair: [special, text("A", 0), pairSpecial, text("B", 1)],
    special_tokens: { [bos]: { id: bos, ids: [specialIds[specialTokens.indexOf(bos)]], tokens: [bos] } },
  };
}

function tokenizerConfigJson({ vocabulary, model }: FinishedTokenizer): Uint8Array {
  const decoders = idsAscending(vocabulary).map((s) => [
    vocabulary.specialIds[s]!,
    { content: vocabulary.specialTokens[s]!, ...addedTokenTraits },
  ]);
  return jsonFile({
    added_tokens_decoder: Object.fromEntries(decoders),
    ...roleFields({ vocabulary, model }),
    ...(model.chatTemplate !== null && { chat_template: model.chatTemplate }),
    clean_up_tokenization_spaces: false,
    ...(model.modelMaxLength !== null && { model_max_length: model.modelMaxLength }),
    tokenizer_class: model.tokenizerClass,
  });
}

/** `bos_token` and the like, and all special tokens as additional ones. */
function roleFields({ vocabulary, model }: { vocabulary: Vocabulary; model: ModelSettings }): object {
  const given = roleNames.filter((role) => model.roles[role] !== undefined);
  const roles = Object.fromEntries(given.map((role) => [`${role}_token`, model.roles[role]]));
  return { ...roles, additional_special_tokens: vocabulary.specialTokens };
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
