import { expect, test } from "bun:test";
import { postProcessingOfRecord, readPostProcessor } from "../../../src/formats/post-processor.ts";
import { plainSpecial } from "../../../src/text/cutting.ts";

const none = { before: [], after: [], trims: [] };
const special = (id: string) => ({ SpecialToken: { id, type_id: 0 } });
const text = { Sequence: { id: "A", type_id: 0 } };
const template = (single: readonly object[]) => ({
  type: "TemplateProcessing",
  single,
  special_tokens: { "<s>": { ids: [7], tokens: ["<s>"] }, "</s>": { ids: [8, 9], tokens: ["<", "/s>"] } },
});
const byteLevel = (trims: boolean, addsSpace: boolean) => ({
  type: "ByteLevel",
  trim_offsets: trims,
  add_prefix_space: addsSpace,
});
const sequence = (...processors: readonly object[]) => ({ type: "Sequence", processors });

test("the tokens that a post-processor adds around a text, and the steps that trim offsets", () => {
  for (const [value, expected] of [
    [null, none],
    [undefined, none],
    [byteLevel(false, true), none],
    [byteLevel(true, true), { ...none, trims: [true] }],
    [
      template([special("<s>"), text, special("</s>"), special("<s>")]),
      { ...none, before: [7], after: [8, 9, 7] },
    ],
    [
      { type: "BertProcessing", cls: ["<s>", 3], sep: ["</s>", 4] },
      { ...none, before: [3], after: [4] },
    ],
    [
      { ...byteLevel(true, false), type: "RobertaProcessing", cls: ["<s>", 3], sep: ["</s>", 4] },
      { before: [3], after: [4], trims: [false] },
    ],
    [
      sequence(byteLevel(true, false), template([special("<s>"), text]), byteLevel(true, true)),
      { before: [7], after: [], trims: [false, true] },
    ],
    [sequence(template([text]), template([text, special("<s>")])), { ...none, after: [7] }],
  ] as const) {
    expect(readPostProcessor(value)).toEqual(expected as never);
  }
});

test("an unsupported step is refused by name", () => {
  for (const [value, obstacle] of [
    [sequence(template([special("<s>"), text]), template([special("<s>"), text])), "two steps"],
    [sequence(byteLevel(true, true), { type: "Unheard" }), "unknown step, Unheard"],
    [template([special("<s>")]), "does not contain the text exactly once"],
    [template([text, special("<s>"), text]), "does not contain the text exactly once"],
    [template([special("<pad>"), text]), 'no "special_tokens.<pad>"'],
    [{ type: "BertProcessing", cls: ["<s>"], sep: ["</s>", 4] }, "not a pair of token and id"],
    [{ type: "BertProcessing", cls: ["<s>", -1], sep: ["</s>", 4] }, "not a whole number"],
    [{ ...byteLevel(true, true), trim_offsets: "yes" }, "neither true nor false"],
    [{ type: "ByteLevel", trim_offsets: true }, 'no "ByteLevel.add_prefix_space"'],
    [sequence(7 as never), "not an object"],
    ["ByteLevel", "not an object"],
    [{}, 'no "post_processor.type"'],
  ] as const) {
    expect(readPostProcessor(value).obstacle).toContain(obstacle);
  }
});

test("a record states whether bos is in front, if there is such a token", () => {
  const tokens = [{ ...plainSpecial, id: 5, content: "<s>" }];
  expect(postProcessingOfRecord({ bosInFront: "<s>" }, tokens)).toEqual({
    postProcessing: { ...none, before: [5] },
  });
  for (const recorded of [null, { bosInFront: undefined }, { bosInFront: "<x>" }])
    expect(postProcessingOfRecord(recorded, tokens)).toEqual({});
});
