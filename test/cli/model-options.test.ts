import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bpe, put, scratch } from "../binary.ts";

const home = scratch();
const corpus = put(home, "corpus.txt", "low lower lowest new newer ".repeat(20));
const chat = ["-s", "<|im_start|>", "-s", "<|im_end|>", "-s", "<|endoftext|>"];

function train(...options: string[]) {
  const output = join(home, "tokenizer");
  const { code, stderr } = bpe(["train", corpus, "-n", "270", "-o", output, ...options]);
  const read = (name: string) => JSON.parse(readFileSync(join(output, name), "utf8"));
  return { code, stderr, read };
}

test("roles by name are said in the summary, and written", () => {
  const { stderr, read } = train(...chat, "--chat-template", "chatml", "--model-max-length", "2048");
  expect(stderr).toContain("\nroles       <|endoftext|> is bos, <|im_end|> is eos (by its name)\n");
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

test("a chat template may be a file", () => {
  const template = put(home, "chat.jinja", "{{ messages[0]['content'] }}é");
  const { read } = train("--chat-template", template);
  expect(read("tokenizer_config.json").chat_template).toBe("{{ messages[0]['content'] }}é");
});

test("a tokenizer with bos in front says so when it is used", () => {
  const { read } = train("-s", "<s>", "--add-bos");
  expect(read("tokenizer.json").post_processor.type).toBe("TemplateProcessing");
  const { code, stderr } = bpe(["encode", corpus, "--tokenizer", join(home, "tokenizer")]);
  expect(code).toBe(0);
  expect(stderr).toContain("ids are as with add_special_tokens=False");
});

test("what does not fit is refused before anything is read", () => {
  for (const [options, error] of [
    [
      ["--pad", "<pad>"],
      "--pad \"<pad>\" is no special token\nhint: give it as one, too: --special-token '<pad>'",
    ],
    [["--add-bos"], "--add-bos: no special token is bos"],
    [["--chat-template", "chatlm"], '--chat-template: unknown name "chatlm"\nhint: did you mean chatml?'],
    [["--chat-template", "chatml"], "--chat-template chatml: <|im_start|> is no special token"],
    [["--model-max-length", "0"], "--model-max-length: 0 is too small"],
    [["--class", "a-b"], '--class "a-b" is no name of a class'],
  ] as const) {
    const { code, stderr } = train(...options);
    expect(stderr).toStartWith(`bpe: error: ${error}`);
    expect(code).toBe(2);
  }
  for (const [path, error] of [
    [join(home, "none.jinja"), "no such file"],
    [home, "is a directory, not a file"],
    [put(home, "wrong.jinja", Uint8Array.of(0xff)), "is not valid UTF-8"],
  ] as const) {
    const { code, stderr } = train("--chat-template", `${path}`);
    expect(stderr).toContain(error);
    expect(code).toBe(1);
  }
});
