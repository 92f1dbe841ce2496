import { expect, test } from "bun:test";
import type { AskedModelSettings } from "../../../src/tokenizer/model-settings.ts";
import * as modelSettings from "../../../src/tokenizer/model-settings.ts";
import { errorOf } from "../../thrown.ts";

const rolesOf = (specialTokens: string[], asked: AskedModelSettings = {}) =>
  modelSettings.settleAsked(specialTokens, asked).roles;

test("roles are proposed from well-known names, except for unk", () => {
  expect(rolesOf([])).toEqual({});
  expect(rolesOf(["<sep>", "<unk>"])).toEqual({});
  expect(rolesOf(["<|endoftext|>"])).toEqual({ bos: "<|endoftext|>", eos: "<|endoftext|>" });
  expect(rolesOf(["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|pad|>"])).toEqual({
    bos: "<|endoftext|>",
    eos: "<|im_end|>",
    pad: "<|pad|>",
  });
  expect(rolesOf(["<|eot_id|>", "<|end_of_text|>", "<|begin_of_text|>"])).toEqual({
    bos: "<|begin_of_text|>",
    eos: "<|eot_id|>",
  });
  expect(rolesOf(["<s>", "</s>", "<pad>"])).toEqual({ bos: "<s>", eos: "</s>", pad: "<pad>" });
});

test("a named chat template determines which token ends a turn", () => {
  const specials = ["<|im_start|>", "<|im_end|>", "<start_of_turn>", "<end_of_turn>", "<bos>"];
  expect(rolesOf(specials, { chatTemplate: "gemma" })).toEqual({ bos: "<bos>", eos: "<end_of_turn>" });
  expect(rolesOf(specials, { chatTemplate: "chatml" })).toEqual({ bos: "<bos>", eos: "<|im_end|>" });
  expect(rolesOf(specials, { chatTemplate: "{{ x }}" })).toEqual({ bos: "<bos>", eos: "<|im_end|>" });
});

test("a named chat template adds the tokens of its models, if no token has their roles", () => {
  const chatml = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"];
  expect(modelSettings.templateTokens({ chatTemplate: "chatml" }, [])).toEqual(chatml);
  expect(rolesOf(chatml, { chatTemplate: "chatml" })).toEqual({
    bos: "<|endoftext|>",
    eos: "<|im_end|>",
    pad: "<|endoftext|>",
  });
  expect(modelSettings.templateTokens({ chatTemplate: "chatml" }, ["<|im_end|>", "<|pad|>", "</s>"])).toEqual(
    ["<|im_start|>"],
  );
  const llama3 = ["<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|finetune_right_pad_id|>"];
  const first = ["<|begin_of_text|>", "<|end_of_text|>"];
  expect(modelSettings.templateTokens({ chatTemplate: "llama3" }, [])).toEqual([...first, ...llama3]);
  expect(modelSettings.templateTokens({ chatTemplate: "llama3" }, ["<|endoftext|>"])).toEqual([
    first[0]!,
    ...llama3,
  ]);
  expect(
    modelSettings.templateTokens({ chatTemplate: "llama3", roles: { bos: "<x>", pad: "" } }, ["</s>"]),
  ).toEqual(llama3.slice(0, 3));
  expect(rolesOf(["<|endoftext|>", ...first, ...llama3], { chatTemplate: "llama3" })).toEqual({
    bos: "<|begin_of_text|>",
    eos: "<|eot_id|>",
    pad: "<|finetune_right_pad_id|>",
  });
  for (const chatTemplate of [undefined, "{{ x }}"])
    expect(modelSettings.templateTokens({ chatTemplate }, [])).toEqual([]);
});

test("a token that ends a text is never proposed as pad by a template", () => {
  const asked = { chatTemplate: "chatml", roles: { eos: "<|endoftext|>" } };
  expect(rolesOf(["<|endoftext|>", "<|im_start|>", "<|im_end|>"], asked).pad).toBeUndefined();
});

test("requested roles are used, and an empty text means that no token has the role", () => {
  const specials = ["<|endoftext|>", "<x>"];
  const settings = modelSettings.settleAsked(specials, { roles: { pad: "<x>", unk: "<x>", bos: "" } });
  expect(settings.roles).toEqual({ eos: "<|endoftext|>", pad: "<x>", unk: "<x>" });
  expect(settings.proposed).toEqual(["eos"]);
});

test("settings that do not fit the special tokens are usage errors that name the option", () => {
  const refused = (asked: AskedModelSettings, specials = ["<x>"]) =>
    errorOf(() => modelSettings.settleAsked(specials, asked)).message;
  expect(refused({ roles: { pad: "<pad>" } })).toBe('--pad "<pad>" is not a special token');
  expect(refused({ addsBos: true })).toBe("--add-bos needs a bos token, but there is none");
  expect(refused({ chatTemplate: "chatml" })).toBe(
    "--chat-template chatml needs the special token <|im_start|>",
  );
  const llama = ["<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"];
  expect(refused({ chatTemplate: "llama3" }, llama)).toBe("--chat-template llama3 needs a bos token");
  for (const chatTemplate of ["", "chatlm", "plain text"]) {
    expect(refused({ chatTemplate })).toBe(
      `--chat-template ${JSON.stringify(chatTemplate)} is neither a known name nor a Jinja template`,
    );
  }
  expect(refused({ tokenizerClass: "a b" })).toBe('--class "a b" is not the name of a class');
});
