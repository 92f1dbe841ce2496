import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Template } from "@huggingface/jinja";
import { Tokenizer as JsTokenizer } from "@huggingface/tokenizers";
import { Tokenizer } from "tokenizers";
import { trainTokenizer } from "../../../src/library/train-tokenizer.ts";
import { put, scratch } from "../../binary.ts";
import { randomNumbers } from "../../random.ts";
import { triedPatterns } from "../pattern/names.ts";

const home = scratch();
const read = (path: string) => JSON.parse(readFileSync(path, "utf8"));

/** Texts that patterns cut in different ways. */
const parts = [
  ...[
    "it's",
    "IT'S",
    " don'T",
    "'ll",
    "'",
    "word",
    " Word",
    "camelCase",
    "ABCdef",
    "é",
    "e\u0301",
    "ǅ",
    "Привет",
  ],
  ...[
    "हिन्दी",
    "日本語",
    "한국",
    "ไทย",
    " العربية",
    "١٢٣",
    "½",
    "1",
    "12",
    "12345678",
    "²",
    " ",
    "  ",
    "\t",
    "\n",
  ],
  ...[
    "\n\n",
    "\r\n",
    "\u00a0",
    "\u3000",
    "\u0085",
    "\ufeff",
    "!",
    "...",
    " //",
    "/",
    "_",
    "$",
    "<a>",
    "🙂",
    "👨‍👩‍👧",
    "\u200d",
  ],
];
const random = randomNumbers(11);
const texts = Array.from({ length: 150 }, () =>
  Array.from({ length: 1 + random(14) }, () => parts[random(parts.length)]).join(""),
);
const corpus = put(home, "corpus.txt", texts.join("<|end|>"));

describe("transformers.js, HF and we give the same ids", () => {
  for (const pattern of triedPatterns) {
    test(pattern, async () => {
      const output = join(home, pattern);
      const specialTokens = ["<|end|>"];
      const ours = await trainTokenizer({
        files: corpus,
        vocabSize: 500,
        pattern,
        specialTokens,
        output,
        workers: 1,
      });
      const path = join(output, "tokenizer.json");
      const theirs = new JsTokenizer(read(path), read(join(output, "tokenizer_config.json")));
      const huggingface = Tokenizer.fromFile(path);
      // transformers.js's expression for gpt2 has JavaScript's white space, which lacks U+0085 and includes U+FEFF, so
      // these two characters are removed from the texts.
      const isGpt2 = pattern === "gpt2";
      const known = isGpt2 ? texts.map((text) => text.replace(/[\u0085\ufeff]/g, "")) : texts;
      const isSame = (text: string) => theirs.encode(text).ids.join() === [...ours.encode(text)].join();
      expect(texts.every(isSame)).toBe(!isGpt2);
      for (const text of [...known.filter((each) => each !== ""), "a<|end|>b <|end|>"]) {
        const ids = theirs.encode(text).ids;
        expect([text, ids]).toEqual([text, [...ours.encode(text)]]);
        expect((await huggingface.encode(text)).getIds()).toEqual(ids);
        expect(theirs.decode(ids)).toBe(text);
      }
    });
  }
});

test("chat templates render in transformers.js as in transformers", async () => {
  const chat = [
    { role: "user", content: " Hi! " },
    { role: "assistant", content: "Hello" },
    { role: "user", content: "Bye" },
  ];
  // The output of transformers (test/python/test_transformers.py).
  const rendered = {
    chatml:
      "<|im_start|>user\n Hi! <|im_end|>\n<|im_start|>assistant\nHello<|im_end|>\n<|im_start|>user\nBye<|im_end|>\n<|im_start|>assistant\n",
    llama3:
      "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nHi!<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nHello<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nBye<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
    gemma:
      "<bos><start_of_turn>user\nHi!<end_of_turn>\n<start_of_turn>model\nHello<end_of_turn>\n<start_of_turn>user\nBye<end_of_turn>\n<start_of_turn>model\n",
  };
  for (const [chatTemplate, wanted] of Object.entries(rendered)) {
    const output = join(home, `chat-${chatTemplate}`);
    await trainTokenizer({ files: corpus, vocabSize: 300, model: { chatTemplate }, output, workers: 1 });
    const { chat_template, bos_token } = read(join(output, "tokenizer_config.json"));
    const text = new Template(chat_template).render({
      messages: chat,
      add_generation_prompt: true,
      bos_token,
    });
    expect(text).toBe(wanted);
    const render = () =>
      new Template(chat_template).render({ messages: toolChat, tools: [tool], bos_token: "" });
    if (chatTemplate === "gemma") expect(render).toThrow("the chat template gemma has no tools");
    else expect(render()).toBe(withTools[chatTemplate as keyof typeof withTools]);
  }
});

const tool = { type: "function", function: { name: "add", parameters: { type: "object" } } };
const toolChat = [
  { role: "system", content: "Be brief." },
  { role: "user", content: "1 + 2?" },
  {
    role: "assistant",
    content: "",
    tool_calls: [{ type: "function", function: { name: "add", arguments: { a: 1, b: "é" } } }],
  },
  { role: "tool", content: "3" },
  { role: "assistant", content: "3" },
];
/** The tool as transformers writes it into a prompt (test/python/test_transformers.py). */
const shownTool = '{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}';
const turn = (role: string, content: string) =>
  `<|start_header_id|>${role}<|end_header_id|>\n\n${content}<|eot_id|>`;
const withTools = {
  chatml: `<|im_start|>system
Be brief.

# Tools

Each line is a function that you can call, as JSON:
<tools>
${shownTool}
</tools>

To call one, write its name and its arguments as JSON:
<tool_call>
{"name": <name>, "arguments": <arguments>}
</tool_call><|im_end|>
<|im_start|>user
1 + 2?<|im_end|>
<|im_start|>assistant
<tool_call>
{"name": "add", "arguments": {"a": 1, "b": "é"}}
</tool_call><|im_end|>
<|im_start|>user
<tool_response>
3
</tool_response><|im_end|>
<|im_start|>assistant
3<|im_end|>
`,
  llama3: [
    turn(
      "system",
      `Environment: ipython\n\nBe brief.\n\nYou can call these functions. To call one, answer only with JSON: {"name": <name>, "parameters": <arguments>}\n\n${shownTool}\n`,
    ),
    turn("user", "1 + 2?"),
    turn("assistant", '{"name": "add", "parameters": {"a": 1, "b": "é"}}'),
    turn("ipython", "3"),
    turn("assistant", "3"),
  ].join(""),
};
