import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bpe, put, scratch } from "../binary.ts";
import { rowsOf } from "../rows.ts";

const home = scratch();
const corpus = put(home, "corpus.txt", "low lower lowest new newer ".repeat(20));
const chat = ["-s", "<|im_start|>", "-s", "<|im_end|>", "-s", "<|endoftext|>"];

function train(...options: string[]) {
  const output = join(home, "tokenizer");
  const { code, stderr } = bpe(["train", corpus, "-n", "270", "-o", output, ...options]);
  const read = (name: string) => JSON.parse(readFileSync(join(output, name), "utf8"));
  return { code, stderr, read };
}

test("named roles are in the summary and in the files", () => {
  const { stderr, read } = train(...chat, "--chat-template", "chatml", "--model-max-length", "2048");
  expect(stderr).toContain(
    "\nroles       <|endoftext|> is bos and pad, <|im_end|> is eos (by their names)\n",
  );
  expect(read("tokenizer_config.json")).toMatchObject({
    bos_token: "<|endoftext|>",
    eos_token: "<|im_end|>",
    chat_template: expect.stringContaining("<|im_start|>"),
    model_max_length: 2048,
  });
  expect(read("training.json").options.model).toMatchObject({ eos: "<|im_end|>", modelMaxLength: 2048 });
  expect(train(...chat, "--pad", "<|endoftext|>", "--bos", "").stderr).toContain(
    "\nroles       <|im_end|> is eos, <|endoftext|> is pad (eos by name)\n",
  );
  expect(train().stderr).not.toContain("\nroles ");
});

test("a named chat template adds its special tokens, with their ids, and the summary lists them", () => {
  const { code, stderr, read } = train("--chat-template", "chatml", "--model-max-length", "2048");
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(stderr).toContain("\nadded       <|endoftext|> <|im_start|> <|im_end|> (by the chat template)\n");
  const given = train(...["<|endoftext|>", "<|im_start|>", "<|im_end|>"].flatMap((token) => ["-s", token]));
  expect(read("training.json").options.specialTokens).toEqual([
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
  ]);
  expect(read("training.json").options.model.brought).toBeUndefined();
  expect(given.stderr).not.toContain("by the chat template");
  expect(train(...chat, "--chat-template", "chatml").stderr).not.toContain("by the chat template");
  // These word counts were made without the template's tokens.
  const counts = join(home, "words.tsv");
  bpe(["count", corpus, "-o", counts]);
  const counted = bpe([
    "train",
    "--counts",
    counts,
    "-n",
    "270",
    "-o",
    join(home, "c"),
    "--chat-template",
    "chatml",
  ]);
  expect(counted).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--chat-template chatml needs the special token <|im_start|>"),
  });
});

test("a chat template without a pad token is warned of", () => {
  const template = put(home, "own.jinja", "{{ messages }}");
  const said = "warning: no special token has the role pad";
  expect(train("--chat-template", template).stderr).toContain(`${said}, so transformers cannot`);
  for (const options of [
    ["-s", "<|pad|>"],
    ["--pad", ""],
  ])
    expect(train("--chat-template", template, ...options).stderr).not.toContain(said);
});

test("a chat template may be a file", () => {
  const template = put(home, "chat.jinja", "{{ messages[0]['content'] }}é");
  const { read } = train("--chat-template", template);
  expect(read("tokenizer_config.json").chat_template).toBe("{{ messages[0]['content'] }}é");
});

test("inspect reports that a tokenizer puts bos in front; encode does not, because its user asked for that", () => {
  const { read } = train("-s", "<s>", "--add-bos");
  expect(read("tokenizer.json").post_processor.type).toBe("TemplateProcessing");
  const { code, stderr } = bpe(["encode", corpus, "--tokenizer", join(home, "tokenizer")]);
  expect([code, stderr]).toEqual([0, expect.not.stringContaining("warning")]);
  expect(bpe(["inspect", join(home, "tokenizer")]).stdout).toContain(
    "\npost-processor  <s> the text (TemplateProcessing); bpe encode does not add these tokens\n",
  );
});

test("a class of one model is written, and warned of", () => {
  const { stderr, read } = train("--class", "GPT2Tokenizer");
  expect(stderr).toContain("warning: --class GPT2Tokenizer: transformers may split text as this class does");
  expect(read("tokenizer_config.json").tokenizer_class).toBe("GPT2Tokenizer");
  expect(train("--class", "PreTrainedTokenizerFast").stderr).not.toContain("warning");
  expect(train().stderr).not.toContain("warning");
});

test("impossible combinations are refused before anything is read", () => {
  const cases = rowsOf(`
    --add-bos | --add-bos needs a bos token, but there is none
    --chat-template chatlm | --chat-template: unknown name "chatlm"
    --class a-b | --class "a-b" is not the name of a class
  `);
  for (const [options, error] of cases) {
    const { code, stderr } = train(...options!.split(" "));
    expect(stderr).toStartWith(`bpe: error: ${error}`);
    expect(code).toBe(2);
  }
  for (const [path, error] of [
    [home, "is a directory, not a file"],
    [put(home, "wrong.jinja", Uint8Array.of(0xff)), "is not valid UTF-8"],
  ] as const) {
    const { code, stderr } = train("--chat-template", `${path}`);
    expect(stderr).toContain(error);
    expect(code).toBe(1);
  }
});

const secretCorpus = put(home, "secret-name.txt", "low lower lowest new newer\n".repeat(20));

function trainCard(...options: string[]) {
  const output = join(home, "tokenizer");
  const { code, stderr } = bpe(["train", secretCorpus, "-n", "275", "-o", output, ...options]);
  expect(code).toBe(0);
  const path = join(output, "README.md");
  return { stderr, card: existsSync(path) ? readFileSync(path, "utf8") : undefined };
}

test("a model card is written on request, and names no file", () => {
  expect(trainCard().card).toBeUndefined();
  const specials = ["-s", "<|endoftext|>", "-s", "a`b``c", "-s", "line\nend"];
  const { card, stderr } = trainCard("--model-card", "--pad-to", "64", ...specials);
  expect(card).toStartWith("---\nlibrary_name: transformers\n");
  expect(card).toContain("- **Vocabulary**: 320 tokens: 256 bytes, ");
  expect(card).toContain("- **Special tokens**: `<|endoftext|>` (bos, eos), ```a`b``c```, `line\\nend`.\n");
  expect(card).toContain("- **Reserved**: `<|reserved_special_token_0|>` to `<|reserved_special_token_");
  expect(card).toContain("- **Pretokenizer**: `gpt2`.\n- **llama.cpp**: pre-tokenizer gpt-2.\n");
  expect(card).toContain("- **Trained on**: 540 bytes of text in 1 document, ");
  expect(card).not.toContain("secret");
  // Invisible characters must be escaped, because some of them end a line or change the direction of writing.
  const marks = ["\u202e", "\u2066", "\u2028", "\u2029", "\u0085", "\u200b", "\u061c"];
  const marked = trainCard("--model-card", "-s", `<${marks.join("")}>`, "-p", `${marks.join("")}|.`).card!;
  for (const mark of marks) expect(marked).not.toContain(mark);
  expect(marked).toContain("`<\\u202e\\u2066\\u2028\\u2029\\u0085\\u200b\\u061c>`");
  expect(card).not.toContain("chat");
  expect(stderr).toContain("tokenizer.json and 8 more\n");
});

test("a chat template and a custom pattern are in the model card", () => {
  const { card } = trainCard("--model-card", ...chat, "--chat-template", "chatml");
  expect(card).toContain("tokenizer.apply_chat_template(chat)");
  const own = trainCard("--model-card", "-p", " ?[a-z]+|[^a-z]").card;
  expect(own).toContain(
    "- **Pretokenizer**: ` ?[a-z]+|[^a-z]`.\n- **llama.cpp**: has no pre-tokenizer for this pattern.\n",
  );
});

test("the summary and inspect name llama.cpp's pre-tokenizer", () => {
  for (const [pattern, said] of [
    ["llama3", "pre-tokenizer llama-bpe"],
    ["o200k", "pre-tokenizer gpt-4o; it cuts differently at marks, and cases beyond ASCII"],
    ["nanochat", "has no pre-tokenizer for this pattern"],
  ]) {
    expect(trainCard("-p", pattern!, "--summary", "full").stderr).toContain(`\nllama.cpp   ${said}\n`);
    expect(bpe(["inspect", join(home, "tokenizer")]).stdout).toContain(`\nllama.cpp       ${said}\n`);
  }
});
