import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bpe, put, scratch } from "../binary.ts";

const home = scratch();
const corpus = put(home, "secret-name.txt", "low lower lowest new newer\n".repeat(20));

function train(...options: string[]) {
  const output = join(home, "tokenizer");
  const { code, stderr } = bpe(["train", corpus, "-n", "275", "-o", output, ...options]);
  expect(code).toBe(0);
  const path = join(output, "README.md");
  return { stderr, card: existsSync(path) ? readFileSync(path, "utf8") : undefined };
}

test("a model card is written on request, and names no file", () => {
  expect(train().card).toBeUndefined();
  const specials = ["-s", "<|endoftext|>", "-s", "a`b``c", "-s", "line\nend"];
  const { card, stderr } = train("--model-card", "--pad-to", "64", ...specials);
  expect(card).toStartWith("---\nlibrary_name: transformers\n");
  expect(card).toContain("- **Vocabulary**: 320 tokens: 256 bytes, ");
  expect(card).toContain("- **Special tokens**: `<|endoftext|>` (bos, eos), ```a`b``c```, `line\\nend`.\n");
  expect(card).toContain("- **Reserved**: `<|reserved_special_token_0|>` to `<|reserved_special_token_");
  expect(card).toContain("- **Pretokenizer**: `gpt2`.\n- **llama.cpp**: pre-tokenizer gpt-2.\n");
  expect(card).toContain("- **Trained on**: 540 bytes of text in 1 document, ");
  expect(card).not.toContain("secret");
  expect(card).not.toContain("chat");
  expect(stderr).toContain("README.md");
});

test("a chat template and a pattern of one's own are in it", () => {
  const { card } = train(
    "--model-card",
    "-s",
    "<|im_start|>",
    "-s",
    "<|im_end|>",
    "--chat-template",
    "chatml",
  );
  expect(card).toContain("tokenizer.apply_chat_template(chat)");
  const own = train("--model-card", "-p", " ?[a-z]+|[^a-z]").card;
  expect(own).toContain(
    "- **Pretokenizer**: ` ?[a-z]+|[^a-z]`.\n- **llama.cpp**: has no pre-tokenizer for this pattern.\n",
  );
});

test("the summary and inspect say which pre-tokenizer llama.cpp has", () => {
  for (const [pattern, said] of [
    ["llama3", "pre-tokenizer llama-bpe"],
    ["o200k", "pre-tokenizer gpt-4o; it cuts otherwise at marks, and cases beyond ASCII"],
    ["nanochat", "has no pre-tokenizer for this pattern"],
  ]) {
    expect(train("-p", pattern!).stderr).toContain(`\nllama.cpp   ${said}\n`);
    expect(bpe(["inspect", join(home, "tokenizer")]).stdout).toContain(`\nllama.cpp     ${said}\n`);
  }
});
