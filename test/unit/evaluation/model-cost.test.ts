import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import * as modelCosts from "../../../src/evaluation/model-cost.ts";
import { modelCost } from "../../../src/evaluation/model-cost.ts";

const ofConfig = (config: unknown, ...more: string[]) =>
  modelCosts.readShape(["config.json", ...more], "--model", (value) =>
    value === "config.json" ? JSON.stringify(config) : undefined,
  );
const ofList = (...values: string[]) => modelCosts.readShape(values, "--model", () => undefined);

/** Each model's config.json, vocabulary size, and number of parameters that its authors state. */
const published = {
  "GPT-2": [{ model_type: "gpt2", n_embd: 768, n_layer: 12, n_head: 12, n_inner: null }, 50257, 124_439_808],
  "Llama 3 8B": [llama({ d: 4096, ffn: 14336, layers: 32, heads: 32, kv: 8 }), 128256, 8_030_261_248],
  "Qwen 2.5 0.5B": [
    {
      ...llama({ d: 896, ffn: 4864, layers: 24, heads: 14, kv: 2 }),
      ...{ model_type: "qwen2", tie_word_embeddings: true, use_sliding_window: false, sliding_window: 32768 },
    },
    ...[151936, 494_032_768],
  ],
  "Gemma 2 2B": [
    {
      ...llama({ d: 2304, ffn: 9216, layers: 26, heads: 8, kv: 4 }),
      ...{ model_type: "gemma2", head_dim: 256, sliding_window: 4096, tie_word_embeddings: undefined },
    },
    ...[256000, 2_614_341_888],
  ],
  "Falcon 7B": [
    {
      model_type: "falcon",
      hidden_size: 4544,
      num_hidden_layers: 32,
      num_attention_heads: 71,
      multi_query: true,
    },
    ...[65024, 6_921_720_704],
  ],
  "StarCoder2 3B": [
    {
      ...llama({ d: 3072, ffn: 12288, layers: 30, heads: 24, kv: 2 }),
      model_type: "starcoder2",
      tie_word_embeddings: undefined,
    },
    ...[49152, 3_030_371_328],
  ],
  "Pythia 160M": [
    { ...llama({ d: 768, ffn: 3072, layers: 12, heads: 12, kv: 12 }), model_type: "gpt_neox" },
    ...[50304, 162_322_944],
  ],
  "Mixtral 8x7B": [
    {
      ...llama({ d: 4096, ffn: 14336, layers: 32, heads: 32, kv: 8 }),
      ...{ model_type: "mixtral", num_local_experts: 8, num_experts_per_tok: 2, sliding_window: null },
    },
    ...[32000, 46_702_792_704],
  ],
  "Qwen 3 30B-A3B": [
    {
      ...llama({ d: 2048, ffn: 6144, layers: 48, heads: 32, kv: 4 }),
      ...{ model_type: "qwen3_moe", head_dim: 128, num_experts: 128, num_experts_per_tok: 8 },
      ...{ moe_intermediate_size: 768, decoder_sparse_step: 1, mlp_only_layers: [] },
    },
    ...[151936, 30_532_122_624],
  ],
  "DeepSeek MoE 16B": [
    {
      ...llama({ d: 2048, ffn: 10944, layers: 28, heads: 16, kv: 16 }),
      ...{ model_type: "deepseek", n_routed_experts: 64, n_shared_experts: 2, num_experts_per_tok: 6 },
      ...{ moe_intermediate_size: 1408, first_k_dense_replace: 1, moe_layer_freq: 1 },
    },
    ...[102400, 16_375_728_128],
  ],
} as unknown as Record<string, readonly [object, number, number]>;

function llama(of: { d: number; ffn: number; layers: number; heads: number; kv: number }) {
  return {
    ...{ model_type: "llama", hidden_size: of.d, intermediate_size: of.ffn, num_hidden_layers: of.layers },
    ...{ num_attention_heads: of.heads, num_key_value_heads: of.kv, tie_word_embeddings: false },
  };
}

describe("a config.json", () => {
  for (const [name, [config, ids, parameters]] of Object.entries(published))
    test(`of ${name} gives its parameters, without norms, biases and positions`, () => {
      const cost = modelCost(ofConfig(config), ids);
      const found = cost.embeddingParameters + cost.headParameters + cost.layerParameters;
      expect(found / parameters).toBeGreaterThan(0.992);
      expect(found / parameters).toBeLessThanOrEqual(1);
    });

  test("may have the text model inside, with windows by a list of layers or by a period", () => {
    const text = {
      ...llama({ d: 2560, ffn: 10240, layers: 34, heads: 8, kv: 4 }),
      model_type: "gemma3_text",
    };
    const nested = (more: object) =>
      ofConfig({ model_type: "gemma3", text_config: { ...text, sliding_window: 1024, ...more } });
    expect(nested({ sliding_window_pattern: 6 })).toMatchObject({ window: 1024, fullLayers: 5, tied: 0 });
    const types = Array.from({ length: 34 }, (_, i) =>
      i % 6 === 5 ? "full_attention" : "sliding_attention",
    );
    expect(nested({ layer_types: types })).toEqual(nested({}));
    expect(
      ofConfig({ tie_word_embeddings: true, text_config: { ...text, tie_word_embeddings: undefined } }).tied,
    ).toBe(1);
  });

  test("of Qwen 2 has a window only if stated, after its first layers", () => {
    const config = {
      ...llama({ d: 64, ffn: 64, layers: 10, heads: 1, kv: 1 }),
      model_type: "qwen2",
      sliding_window: 32,
    };
    expect(ofConfig(config).window).toBe(0);
    const used = { ...config, use_sliding_window: true, max_window_layers: 7 };
    expect(ofConfig(used)).toMatchObject({ window: 32, fullLayers: 7 });
  });

  const layered = llama({ d: 64, ffn: 256, layers: 8, heads: 8, kv: 2 });
  for (const [name, config, shape] of [
    [
      "one head of keys",
      { model_type: "gpt_bigcode", n_embd: 64, n_layer: 8, n_head: 8 },
      { kvHeads: 1, ffn: 256 },
    ],
    [
      "heads of keys that are counted elsewhere",
      {
        ...layered,
        num_key_value_heads: undefined,
        model_type: "falcon",
        new_decoder_architecture: true,
        num_kv_heads: 4,
      },
      { kvHeads: 4, gated: 0, tied: 0 },
    ],
    [
      "experts in each second layer but one, and one expert for all",
      {
        ...layered,
        ...{ model_type: "qwen2_moe", num_experts: 6, num_experts_per_tok: 2, moe_intermediate_size: 32 },
        ...{ decoder_sparse_step: 2, mlp_only_layers: [3], shared_expert_intermediate_size: 48 },
      },
      { experts: 6, expertsPerToken: 2, expertFfn: 32, sharedFfn: 48, denseLayers: 5 },
    ],
    [
      "experts by another name",
      { ...layered, model_type: "gpt_oss", num_local_experts: 4, experts_per_token: 2, head_dim: 16 },
      { experts: 4, expertsPerToken: 2, expertFfn: 256, headDim: 16, denseLayers: 0 },
    ],
    [
      "a window in each layer",
      { ...layered, model_type: "mistral", sliding_window: 40 },
      { window: 40, fullLayers: 0 },
    ],
    [
      "a window in each second layer",
      { ...layered, model_type: "gemma2", sliding_window: 40 },
      { window: 40, fullLayers: 4 },
    ],
    [
      "a window that is none",
      { ...layered, model_type: "mistral", sliding_window: null },
      { window: 0, fullLayers: 0 },
    ],
  ] as const)
    test(`may have ${name}`, () => {
      expect(ofConfig(config)).toMatchObject(shape);
    });

  test("and a following list: the list wins", () => {
    const config = llama({ d: 4096, ffn: 14336, layers: 32, heads: 32, kv: 8 });
    expect(ofConfig(config, "context=16384,tied=1")).toMatchObject({
      d: 4096,
      kvHeads: 8,
      context: 16384,
      tied: 1,
    });
  });

  const plain = llama({ d: 64, ffn: 256, layers: 2, heads: 2, kv: 2 });
  const mixture = { ...plain, model_type: "qwen2_moe", num_experts: 4 };
  for (const [config, message] of [
    [[], "it is not a config.json: it does not contain a JSON object"],
    [{ hidden_size: 3 }, "it has no model_type"],
    [{ ...plain, model_type: "mamba" }, 'model_type "mamba" is not known'],
    [{ ...plain, model_type: "deepseek_v3" }, 'model_type "deepseek_v3" is not known'],
    [{ ...plain, model_type: ["llama"] }, 'model_type ["llama"] is not known'],
    [{ model_type: "llava", text_config: { model_type: "llama", vocab_size: 3 } }, "it lacks hidden_size"],
    [{ ...plain, num_hidden_layers: undefined }, "it lacks num_hidden_layers"],
    [{ ...plain, num_attention_heads: null }, "it lacks num_attention_heads"],
    [{ ...plain, hidden_size: "64" }, 'hidden_size is "64", but must be a whole number'],
    [{ ...plain, hidden_size: 0 }, "d is 0"],
    [{ ...plain, hidden_size: 64.5 }, "hidden_size is 64.5, but must be a whole number"],
    [{ ...plain, num_key_value_heads: 3 }, "heads=2 is not a multiple of kv_heads=3"],
    [mixture, "it has experts, but lacks num_experts_per_tok"],
    [{ ...mixture, num_experts_per_tok: 5 }, "experts_per_token=5 is more than experts=4"],
    [{ ...mixture, num_experts_per_tok: 2, moe_layer_freq: 2 }, "moe_layer_freq is 2"],
    [
      { ...plain, model_type: "opt", word_embed_proj_dim: 32 },
      "word_embed_proj_dim differs from hidden_size, which is not supported",
    ],
    [
      { ...plain, layer_types: ["full_attention", "linear_attention"] },
      'its layer_types contain "linear_attention"',
    ],
    [{ ...plain, layer_types: ["full_attention"] }, "layer_types has 1 layer, but num_hidden_layers is 2"],
  ] as const)
    test(`is refused, with its name: ${message}`, () => {
      expect(() => ofConfig(config)).toThrow(`--model "config.json": ${message}`);
    });
});

describe("a list", () => {
  test("needs the width and the layers; a feed-forward has eight times the square of the width", () => {
    expect(ofList("d=768,layers=12")).toEqual({
      ...{ d: 768, layers: 12, ffn: 2048, heads: 6, kvHeads: 6, headDim: 128, gated: 1, experts: 1 },
      ...{ expertsPerToken: 1, expertFfn: 2048, sharedFfn: 0, denseLayers: 0, window: 0, fullLayers: 0 },
      ...{ tied: 0, context: 4096 },
    });
    expect(ofList("d=768, layers=12", "gated=0")).toMatchObject({ ffn: 3072 });
    expect(ofList("d=10,layers=1")).toMatchObject({ heads: 1, headDim: 10 });
  });

  for (const [list, message] of [
    ["", "--model is empty"],
    ["d=4", "--model: layers is missing"],
    ["layers=4", "--model: d is missing"],
    ["d=4,layer=2", '--model: unknown name "layer"'],
    ["d=4,constructor=2", '--model: unknown name "constructor"'],
    ["d=4,,layers=2", '--model: unknown name ""'],
    ["d=4k,layers=2", '--model: d is "4k", but must be a whole number from 1 to 100,000,000'],
    ["d,layers=2", '--model: d is "", but must be a whole number'],
    ["d=4,layers=2,tied=2", '--model: tied is "2", but must be 0 or 1'],
    ["d=4,layers=2,ffn=0", '--model: ffn is "0", but must be a whole number from 1'],
    ["d=4,layers=200000000", '--model: layers is "200000000", but must be a whole number from 1'],
    ["d=4,layers=2,experts=4", "--model: experts=4 needs experts_per_token"],
    ["d=4,layers=2,shared_ffn=4", "--model: expert_ffn, shared_ffn and dense_layers need experts"],
    [
      "d=4,layers=2,experts=4,experts_per_token=1,dense_layers=3",
      "--model: dense_layers=3 is more than layers=2",
    ],
    ["d=4,layers=2,window=9,full_layers=3", "--model: full_layers=3 is more than layers=2"],
    ["d=4,layers=2,full_layers=1", "--model: full_layers needs window"],
  ] as const)
    test(`is refused: ${message}`, () => {
      expect(() => ofList(list)).toThrow(message);
    });

  test("that follow a config.json are refused without its name", () => {
    const config = llama({ d: 8, ffn: 16, layers: 2, heads: 2, kv: 2 });
    expect(() => ofConfig(config, "layer=2")).toThrow('--model: unknown name "layer"');
  });
});

/**
 * The naive twin of the estimate. It adds up the cost matrix by matrix, with two FLOPs for each weight that a token
 * uses.
 */
function naiveCost(shape: modelCosts.Shape, ids: number) {
  const { d, heads, kvHeads, headDim, gated, experts } = shape;
  let [parameters, flops] = [0, 0];
  const matrix = (rows: number, columns: number, copies = 1, used = copies) => {
    parameters += copies * rows * columns;
    flops += used * 2 * rows * columns;
  };
  for (let layer = 0; layer < shape.layers; layer++) {
    matrix(d, heads * headDim);
    for (const _ of ["keys", "values"]) matrix(d, kvHeads * headDim);
    matrix(heads * headDim, d);
    const span =
      shape.window === 0 || layer < shape.fullLayers ? shape.context : Math.min(shape.window, shape.context);
    // Adds the FLOPs of the scores, of the softmax (three for each value), and of the weighted sum of values.
    for (let head = 0; head < heads; head++) flops += 2 * span * headDim + 3 * span + 2 * span * headDim;
    const matrices = gated === 1 ? ["gate", "up", "down"] : ["up", "down"];
    const hasExperts = experts > 1 && layer >= shape.denseLayers;
    if (hasExperts) matrix(d, experts);
    for (const _ of matrices) {
      if (!hasExperts) matrix(d, shape.ffn);
      else {
        matrix(d, shape.expertFfn, experts, shape.expertsPerToken);
        matrix(d, shape.sharedFfn);
      }
    }
  }
  const layerParameters = parameters;
  const headFlops = 2 * d * ids;
  const vocabulary = (shape.tied === 1 ? 1 : 2) * d * ids;
  return {
    ...{ embeddingParameters: d * ids, headParameters: vocabulary - d * ids, layerParameters },
    ...{ vocabularyShare: vocabulary / (layerParameters + vocabulary) },
    ...{ flopsPerToken: flops + headFlops, headFlopsShare: headFlops / (flops + headFlops) },
  };
}

test("random shapes cost as much as a count of layers and matrices", () => {
  const number = (max: number, min = 1) => fc.integer({ min, max });
  const shapes = fc.record({
    ...{
      d: number(99),
      layers: number(9),
      ffn: number(99),
      kv: number(4),
      group: number(4),
      headDim: number(16),
    },
    ...{
      gated: number(1, 0),
      experts: number(5),
      used: number(5),
      expertFfn: number(50),
      sharedFfn: number(50, 0),
    },
    ...{
      dense: number(9, 0),
      window: number(20, 0),
      full: number(9, 0),
      tied: number(1, 0),
      context: number(40),
    },
  });
  fc.assert(
    fc.property(shapes, number(3000), ({ kv, group, used, dense, full, ...of }, ids) => {
      const least = (value: number) => Math.min(value, of.layers);
      const shape: modelCosts.Shape = {
        ...of,
        ...{ heads: kv * group, kvHeads: kv, expertsPerToken: Math.min(used, of.experts) },
        ...{ denseLayers: of.experts > 1 ? least(dense) : 0, fullLayers: of.window > 0 ? least(full) : 0 },
      };
      expect(modelCost(shape, ids)).toEqual(naiveCost(shape, ids));
    }),
  );
});
