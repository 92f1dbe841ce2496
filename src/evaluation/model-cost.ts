import { countNoun, describeValue, groupDigits } from "#bytes";
import { asOption, type Message, messages, nearest, phrase, UserError, usageError } from "#runtime";

// What a vocabulary costs a model: the shape of the model's layers, from options or a config.json, and the
// formulas of docs/evaluate.md.

/**
 * The shape of a decoder model. It leaves out normalization, biases and position embeddings, which usually have less
 * than 1 % of the weights.
 */
export type Shape = {
  /** Width of the residual stream, the embedding and the head. */
  readonly d: number;
  readonly layers: number;
  /** Inner width of the feed-forward block of a layer without experts. */
  readonly ffn: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  /** 1: a feed-forward block has three matrices, as in SwiGLU; 0: it has two. */
  readonly gated: number;
  /** The number of experts in a layer; 1: no layer has experts. */
  readonly experts: number;
  readonly expertsPerToken: number;
  readonly expertFfn: number;
  /** Inner width of the experts that every token passes through. */
  readonly sharedFfn: number;
  /** The number of layers without experts, in a model that has experts. */
  readonly denseLayers: number;
  /** How many tokens a layer with a window attends to; 0: no layer has a window. */
  readonly window: number;
  readonly fullLayers: number;
  /** 1: embedding and head are one matrix. */
  readonly tied: number;
  /** How many tokens a token attends to in a layer without a window. */
  readonly context: number;
};

type Given = { -readonly [Name in keyof Shape]?: number };

/** What a vocabulary costs a model. */
export type ModelCost = {
  readonly embeddingParameters: number;
  /** The weights of the head; 0 if head and embedding are one matrix. */
  readonly headParameters: number;
  readonly layerParameters: number;
  /** Embedding and head, as a share of all parameters. */
  readonly vocabularyShare: number;
  /** FLOPs of a forward pass. */
  readonly flopsPerToken: number;
  /** The head's share of these FLOPs. */
  readonly headFlopsShare: number;
};

/**
 * Computes the costs. A matrix costs twice its number of weights in FLOPs per token; the embedding costs none, because
 * it is a lookup.
 */
export function modelCost(shape: Shape, idCount: number): ModelCost {
  const { d, layers, heads, headDim, experts, window, context, fullLayers, tied } = shape;
  const attention = 2 * d * headDim * (heads + shape.kvHeads);
  const feedForward = (width: number) => (2 + shape.gated) * d * width;
  const dense = experts > 1 ? shape.denseLayers : layers;
  const shared = feedForward(shape.sharedFfn) + d * experts;
  const layerWeights = (expertCount: number) =>
    layers * attention +
    dense * feedForward(shape.ffn) +
    (layers - dense) * (expertCount * feedForward(shape.expertFfn) + shared);
  const lookedAt = (span: number) => span * heads * (4 * headDim + 3);
  const attended =
    window === 0
      ? layers * lookedAt(context)
      : fullLayers * lookedAt(context) + (layers - fullLayers) * lookedAt(Math.min(window, context));
  const embeddingParameters = d * idCount;
  const headParameters = tied === 1 ? 0 : embeddingParameters;
  const layerParameters = layerWeights(experts);
  const flopsPerToken = 2 * layerWeights(shape.expertsPerToken) + attended + 2 * embeddingParameters;
  const vocabulary = embeddingParameters + headParameters;
  return {
    embeddingParameters,
    headParameters,
    layerParameters,
    vocabularyShare: vocabulary / (vocabulary + layerParameters),
    flopsPerToken,
    headFlopsShare: (2 * embeddingParameters) / flopsPerToken,
  };
}

/** Maps names in the option to fields: `kv_heads` to `kvHeads`. */
const names = {
  d: "d",
  layers: "layers",
  ffn: "ffn",
  heads: "heads",
  kv_heads: "kvHeads",
  head_dim: "headDim",
  gated: "gated",
  experts: "experts",
  experts_per_token: "expertsPerToken",
  expert_ffn: "expertFfn",
  shared_ffn: "sharedFfn",
  dense_layers: "denseLayers",
  window: "window",
  full_layers: "fullLayers",
  tied: "tied",
  context: "context",
} as const satisfies Record<string, keyof Shape>;

/** Fields that may be 0. */
const mayBeZero = new Set<keyof Shape>(["gated", "sharedFfn", "denseLayers", "window", "fullLayers", "tied"]);
const mayBeOne = new Set<keyof Shape>(["gated", "tied"]);
/** The largest number accepted. The numbers of models are smaller, and their products are exact enough to show. */
const largest = 100_000_000;

/**
 * Combines the values of an option into a shape; later values take precedence. Each value is a list of NAME=N, or the
 * path of a config.json, whose text `readFile` returns.
 */
export function readShape(
  values: readonly string[],
  option: Message,
  readFile: (value: string) => string | undefined,
): Shape {
  const given: Given = {};
  const refusePair: Refuse = (what, hint) => usageError(phrase`${option}: ${what}`, hint);
  let refuse = refusePair;
  for (const value of values) {
    if (value === "") throw usageError(phrase`${option} is empty`, example);
    const json = readFile(value);
    if (json === undefined) {
      for (const pair of value.split(",")) readPair(pair, refusePair, given);
      continue;
    }
    refuse = (what, hint) =>
      new UserError(
        phrase`${messages.withValue(option, `"${value}"`)}: ${what}`,
        hint === undefined ? {} : { hint },
      );
    Object.assign(given, shapeOfConfig(json, refuse));
  }
  return settle(given, refuse);
}

/** Makes an error about the option, or about the file that it names. */
type Refuse = (what: string, hint?: Message) => UserError;

const example = phrase`give the numbers of a model, e.g. ${asOption("model", "d=4096,layers=32,ffn=14336,heads=32,kv_heads=8")}, or the path of a config.json`;
const giveNumbers = phrase`give the model's numbers instead, e.g. ${asOption("model", "d=4096,layers=32")}; bpe help docs/evaluate.md lists their names`;

function readPair(pair: string, refuse: Refuse, given: Given): void {
  const [, typed = "", text = ""] = /^\s*([^=]*?)\s*(?:=\s*(.*?)\s*)?$/s.exec(pair) ?? [];
  const name = Object.hasOwn(names, typed) ? names[typed as keyof typeof names] : undefined;
  if (name === undefined) {
    const near = nearest(typed, Object.keys(names));
    const hint = near === undefined ? `names are ${Object.keys(names).join(", ")}` : `did you mean ${near}?`;
    throw refuse(`unknown name "${typed}"`, hint);
  }
  const [least, most] = [mayBeZero.has(name) ? 0 : 1, mayBeOne.has(name) ? 1 : largest];
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most))
    throw refuse(
      `${typed} is "${text}", but must be ${most === 1 ? "0 or 1" : `a whole number from ${least} to ${groupDigits(most)}`}`,
    );
  given[name] = value;
}

/**
 * Fills in defaults. Throws a UserError if `d`, `layers`, or a value that another one needs is missing, if a value is 0
 * that must not be, or if values contradict each other.
 */
function settle(given: Given, refuse: Refuse): Shape {
  const { d, layers } = given;
  for (const name of ["d", "layers"] as const)
    if (given[name] === undefined) throw refuse(`${name} is missing`, example);
  // Heads are usually 128 wide, and a feed-forward block usually has 8 d² weights.
  const heads = given.heads ?? Math.max(1, Math.round(d! / (given.headDim ?? 128)));
  const gated = given.gated ?? 1;
  const ffn = given.ffn ?? Math.round((8 * d!) / (2 + gated));
  const { experts = 1, window = 0 } = given;
  const shape: Shape = {
    ...{ d: d!, layers: layers!, ffn, heads, gated, experts, window },
    kvHeads: given.kvHeads ?? heads,
    headDim: given.headDim ?? Math.round(d! / heads),
    expertsPerToken: given.expertsPerToken ?? 1,
    expertFfn: given.expertFfn ?? ffn,
    sharedFfn: given.sharedFfn ?? 0,
    denseLayers: given.denseLayers ?? 0,
    fullLayers: given.fullLayers ?? 0,
    tied: given.tied ?? 0,
    context: given.context ?? 4096,
  };
  const { kvHeads, expertsPerToken, denseLayers, fullLayers } = shape;
  for (const [name, value] of Object.entries(shape))
    if (value < 1 && !mayBeZero.has(name as keyof Shape)) {
      const typed = Object.entries(names).find(([, field]) => field === name)![0];
      throw refuse(
        `${typed} is ${value}, but must be at least 1`,
        phrase`set it: ${asOption("model", `${typed}=N`)}`,
      );
    }
  if (heads % kvHeads !== 0) throw refuse(`heads=${heads} is not a multiple of kv_heads=${kvHeads}`);
  if (expertsPerToken > experts)
    throw refuse(`experts_per_token=${expertsPerToken} is more than experts=${experts}`);
  if (experts > 1 && given.expertsPerToken === undefined)
    throw refuse(`experts=${experts} needs experts_per_token`);
  if (experts === 1 && (given.expertFfn ?? given.sharedFfn ?? given.denseLayers) !== undefined)
    throw refuse("expert_ffn, shared_ffn and dense_layers need experts");
  if (denseLayers > layers!) throw refuse(`dense_layers=${denseLayers} is more than layers=${layers}`);
  if (fullLayers > layers!) throw refuse(`full_layers=${fullLayers} is more than layers=${layers}`);
  if (window === 0 && fullLayers > 0) throw refuse("full_layers needs window");
  return shape;
}

type Config = { readonly [name: string]: unknown };

/**
 * The supported values of `model_type`, each with what its config.json may leave out: whether feed-forward blocks are
 * gated, and whether embedding and head are one matrix.
 */
const kinds = new Map(
  [
    {
      gated: 1,
      tied: 0,
      types:
        "llama mistral mixtral qwen2 qwen2_moe qwen3 qwen3_moe phi3 phimoe olmo olmo2 olmo3 olmoe deepseek stablelm granite granitemoe glm glm4 gpt_oss internlm2 exaone4 seed_oss",
    },
    { gated: 1, tied: 1, types: "gemma gemma2 gemma3_text cohere cohere2 smollm3" },
    { gated: 0, tied: 0, types: "gpt_neox gptj codegen phi nemotron" },
    { gated: 0, tied: 1, types: "gpt2 gpt_bigcode opt bloom falcon starcoder2" },
  ].flatMap(({ types, ...kind }) => types.split(" ").map((type) => [type, kind] as const)),
);

/**
 * Reads a config.json of `transformers`. Throws a UserError if it is not a JSON object, if a required field is missing,
 * or if a value is not supported.
 */
function shapeOfConfig(json: string, refuse: Refuse): Given {
  const outer = parseObject(json);
  if (outer === null) throw refuse("it is not a config.json: it does not contain a JSON object", example);
  const inner = ["text_config", "llm_config", "language_config"].map((name) => outer[name]).find(isObject);
  const config = inner ?? outer;
  const type = config.model_type ?? (inner === undefined ? undefined : outer.model_type);
  const kind = typeof type === "string" ? kinds.get(type) : undefined;
  if (kind === undefined) {
    const what =
      type === undefined ? "it has no model_type" : `model_type ${describeValue(type)} is not known`;
    throw refuse(what, giveNumbers);
  }
  const reader = new ConfigReader(type as string, config, refuse);
  const d = reader.number("hidden_size", "n_embd", "d_model");
  const layers = reader.number("num_hidden_layers", "n_layer", "num_layers");
  const heads = reader.number("num_attention_heads", "n_head");
  if (d === undefined) throw reader.refusal("it lacks hidden_size");
  if (layers === undefined) throw reader.refusal("it lacks num_hidden_layers");
  if (heads === undefined) throw reader.refusal("it lacks num_attention_heads");
  if ((reader.number("word_embed_proj_dim") ?? d) !== d)
    throw reader.refusal("word_embed_proj_dim differs from hidden_size, which is not supported");
  const tied = config.tie_word_embeddings ?? outer.tie_word_embeddings ?? kind.tied;
  return {
    ...{ d, layers, heads, gated: kind.gated, tied: Number(tied === true || tied === 1) },
    ffn: reader.number("intermediate_size", "n_inner", "ffn_hidden_size", "ffn_dim") ?? 4 * d,
    kvHeads: reader.kvHeads(heads),
    headDim: reader.number("head_dim") ?? Math.round(d / heads),
    ...reader.experts(layers),
    ...reader.windows(layers),
  };
}

const isObject = (value: unknown): value is Config =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function parseObject(json: string): Config | null {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Reads the parts of a config.json that differ between models. */
class ConfigReader {
  constructor(
    private readonly type: string,
    private readonly config: Config,
    private readonly refuse: Refuse,
  ) {}

  readonly refusal = (what: string) => this.refuse(what, giveNumbers);

  /**
   * Returns the value of the first of these fields that has one; undefined if none has. Throws a UserError unless the
   * value is a whole number from 0 to `largest`.
   */
  number(...fields: readonly string[]): number | undefined {
    const field = fields.find((name) => this.config[name] !== undefined && this.config[name] !== null);
    if (field === undefined) return undefined;
    const value = this.config[field];
    if (Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= largest)
      return value as number;
    throw this.refusal(
      `${field} is ${describeValue(value)}, but must be a whole number from 0 to ${groupDigits(largest)}`,
    );
  }

  kvHeads(heads: number): number {
    const isOne =
      (this.type === "gpt_bigcode" || this.type === "falcon") &&
      this.config.multi_query !== false &&
      this.config.new_decoder_architecture !== true;
    return isOne ? 1 : (this.number("num_key_value_heads", "num_kv_heads") ?? heads);
  }

  experts(layers: number): Given {
    const experts = this.number("num_local_experts", "num_experts", "n_routed_experts") ?? 1;
    if (experts <= 1) return {};
    const frequency = this.number("moe_layer_freq") ?? 1;
    if (frequency !== 1) throw this.refusal(`moe_layer_freq is ${frequency}, but only 1 is supported`);
    const expertsPerToken = this.number("num_experts_per_tok", "experts_per_token");
    if (expertsPerToken === undefined) throw this.refusal("it has experts, but lacks num_experts_per_tok");
    const expertFfn = this.number("moe_intermediate_size");
    const shared = (this.number("n_shared_experts") ?? 0) * (expertFfn ?? 0);
    return {
      ...{ experts, expertsPerToken },
      ...(expertFfn !== undefined && { expertFfn }),
      sharedFfn: this.number("shared_expert_intermediate_size") ?? shared,
      denseLayers: this.denseLayers(layers),
    };
  }

  private denseLayers(layers: number): number {
    const first = this.number("first_k_dense_replace") ?? 0;
    const step = this.number("decoder_sparse_step") || 1;
    const { mlp_only_layers: only = [] } = this.config;
    const isDense = (layer: number) =>
      layer < first || (layer + 1) % step !== 0 || (Array.isArray(only) && only.includes(layer));
    return Array.from({ length: layers }, (_, layer) => layer).filter(isDense).length;
  }

  /**
   * Returns the window of attention, and the number of layers that attend to the whole context; nothing if the model
   * has no window or does not use it.
   */
  windows(layers: number): Given {
    const { layer_types: types, use_sliding_window: isUsed } = this.config;
    if (Array.isArray(types)) {
      const other = types.find((name) => name !== "full_attention" && name !== "sliding_attention");
      if (other !== undefined)
        throw this.refusal(`its layer_types contain ${describeValue(other)}, which is not supported`);
      if (types.length !== layers)
        throw this.refusal(
          `layer_types has ${countNoun(types.length, "layer")}, but num_hidden_layers is ${layers}`,
        );
    }
    const window = this.number("sliding_window") ?? 0;
    if (window === 0 || isUsed === false || (isUsed === undefined && this.type.startsWith("qwen"))) return {};
    if (Array.isArray(types))
      return { window, fullLayers: types.filter((name) => name === "full_attention").length };
    if (isUsed === true)
      return { window, fullLayers: Math.min(layers, this.number("max_window_layers") ?? 0) };
    const usual = { gemma2: 2, gemma3_text: 6, cohere2: 4 }[this.type];
    const period = this.number("sliding_window_pattern") || usual;
    return { window, fullLayers: period === undefined ? 0 : Math.floor(layers / period) };
  }
}
