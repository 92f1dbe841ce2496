import { compiledPatterns, patterns } from "#pattern";
import type { Normalization } from "#text";
import type { TokenizerParts } from "#tokenizer";
import { type Finding, finding } from "./checks.ts";
import { differenceOnProbe } from "./file-checks.ts";
import type { Loaded, Subject } from "./subject.ts";

// How transformers 5.24 changes a byte-level tokenizer.json, found by loading one with each of its 178 classes.

/** How a class normalizes and cuts text, instead of as tokenizer.json says. */
type Steps = {
  readonly sources: readonly string[];
  readonly normalization: Normalization | null;
  /** Whether the class adds a space before a text, if the configuration does not say whether it should. */
  readonly addsPrefixSpace: boolean;
};

const gpt2: Steps = { sources: patterns.gpt2.sources, normalization: null, addsPrefixSpace: false };
const gpt2WithNfc: Steps = { ...gpt2, normalization: "NFC" };

const likeGpt2 = "Bart CodeGen Deberta GPT2 LED Longformer Luke Mvp Roberta Whisper".split(" ");

/** The classes that rebuild byte-level tokenizers, by their names without the ending `Tokenizer` or `TokenizerFast`. */
const rebuildingClasses: ReadonlyMap<string, Steps> = new Map([
  ...likeGpt2.map((name) => [name, gpt2] as const),
  ["Blenderbot", { ...gpt2, addsPrefixSpace: true }],
  ["GPTNeoX", gpt2WithNfc],
  ["Cohere", { ...gpt2WithNfc, sources: ["\\p{N}", ...gpt2.sources] }],
  ["Qwen2", { ...gpt2WithNfc, sources: patterns.qwen2.sources }],
  ["Qwen3_5", { ...gpt2WithNfc, sources: patterns["qwen3.5"].sources }],
]);

/** The class that transformers uses for a value of `model_type` in config.json, whatever `tokenizer_class` says. */
const classesOfModels: ReadonlyMap<string, string> = new Map([
  ["qwen2", "Qwen2Tokenizer"],
  ...["qwen3_5", "qwen3_5_moe", "qwen3_5_moe_text", "qwen4_exp"].map(
    (model) => [model, "Qwen3_5Tokenizer"] as const,
  ),
]);

/** Values of `model_type` for which transformers uses tokenizer.json unchanged, whatever the class. */
const unchangedModels = new Set(
  `EvollaModel arctic aria beam bigbird_pegasus camembertv2-base canary chatlm cohere_asr ernie4_5 ernie4_5_moe
  flex_olmo fuyu glm glm4 glm4_moe glm4_moe_lite glm4v glm4v_moe glm_image glmasr got_ocr2 gpt_bigcode
  gradium_phonon_tts granite granitemoe granitemoehybrid granitemoeshared h2ovl_chat hyperclovax hyperclovax_vlm
  internlm2 internlm3 iquestcoder jamba kimi_k25 kimi_linear kosmos-2 llava llava_next mimo_v2_flash minicpm3
  minicpm_ocr minicpmv minicpmv4_6 minicpmv4_7 minimax_m2 ministral ministral3 mistral mistral3 mistral_large4
  mixtral modernbert modernbert-decoder molmo molmo2 nemo_speechlm nemotron nvfp4 nystromformer olmo2 olmo3
  olmo_hybrid omniasr opencua openvla paddleocr_vl pegasus_x persimmon phi3 phi3_v phimoe pix2struct pixtral
  pocket_tts smolvlm stablelm step3_vl umt5 vipllava voxtral voxtral_realtime xlm-roberta-xl`.split(/\s+/),
);

/** The classes of transformers that use tokenizer.json unchanged, unless `classesOfModels` replaces them. */
const neutralClasses = new Set(["PreTrainedTokenizerFast", "TokenizersBackend", "PreTrainedTokenizer"]);

const stepsOfClass = (name: string) => rebuildingClasses.get(name.replace(/Tokenizer(Fast)?$/, ""));

/**
 * Whether transformers 5 is known to rebuild byte-level tokenizers of this class. If it does, it follows
 * `add_prefix_space` in tokenizer_config.json.
 */
export const rebuildsTokenizer = (name: string): boolean => stepsOfClass(name) !== undefined;

/** Checks whether transformers rebuilds the tokenizer because of its class, and whether that changes ids. */
export function checkClass({ config, model, json }: Subject, loaded: Loaded | null): Finding[] {
  if (json === null || loaded?.parts.model.beginning !== undefined) return [];
  const modelType = typeof model?.model_type === "string" ? model.model_type : "";
  const ofModel = classesOfModels.get(modelType);
  const name = ofModel ?? config?.tokenizer_class ?? model?.tokenizer_class;
  if (typeof name !== "string" || neutralClasses.has(name) || unchangedModels.has(modelType)) return [];
  const source =
    ofModel !== undefined
      ? `config.json has the model_type ${modelType}, for which transformers 5 uses ${name}`
      : `${config?.tokenizer_class === undefined ? "config.json" : "tokenizer_config.json"} has the tokenizer_class ${name}`;
  const steps = stepsOfClass(name);
  if (steps === undefined || loaded === null || config?.auto_map !== undefined)
    return [finding("class-override", "note", source, { why: unknownClass, fix: neutralFix })];
  const difference = differenceOnProbe(loaded, rebuilt(loaded.parts, steps, config?.add_prefix_space));
  if (difference === null) return [];
  return [
    finding("class-override", "error", source, {
      evidence: difference,
      fix:
        ofModel === undefined
          ? neutralFix
          : "load it with PreTrainedTokenizerFast.from_pretrained, which follows tokenizer.json",
    }),
  ];
}

const neutralFix =
  'set "tokenizer_class" to "PreTrainedTokenizerFast" in tokenizer_config.json, unless the pattern is that of the class';
const unknownClass = "Some versions of transformers 5 rebuild such a class with its own steps.";

/** Returns the tokenizer that a class builds: the vocabulary and merges of the file, with the steps of the class. */
const rebuilt = (
  { model, description, ...parts }: TokenizerParts,
  { sources, normalization, addsPrefixSpace }: Steps,
  asked: unknown,
): TokenizerParts => ({
  ...parts,
  // The class drops `ignore_merges`, so no pretoken becomes a token without merging.
  model: { ...model, wholeTokens: null },
  pattern: compiledPatterns.compile(sources),
  normalization,
  addsPrefixSpace: typeof asked === "boolean" ? asked : addsPrefixSpace,
  description: { ...description, path: "transformers 5.24" },
});
