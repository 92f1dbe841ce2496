import type { chatTemplateNames } from "./chat-template-names.ts";

/**
 * A named chat template, in Jinja as `transformers` renders it. Its `generation` blocks contain what a model learns:
 * the assistant's text, its tool calls, and the end of its turn.
 */
export type ChatTemplate = {
  readonly template: string;
  /** Special tokens that the template writes, other than `bos`. */
  readonly specialTokens: readonly string[];
  /** The special token that ends a turn, and with it the generation. */
  readonly endOfTurn: string;
  /** The token at the start of the template's output; null if there is none. */
  readonly bos: string | null;
  /** The token that ends documents in models of this family. */
  readonly documentEnd: string;
  /** The token that pads batches in models of this family. */
  readonly pad: string;
};

/** Jinja that unwraps `call`, a tool call of the assistant, if it is in a `function` object. */
const setCall = "{%- set call = call.function if call.function is defined else call -%}";
/** Jinja that writes the arguments of `call` as JSON, whether they are a JSON string or an object. */
const callArguments = "(call.arguments if call.arguments is string else call.arguments | tojson)";
/** Jinja that is true for the system message if it was already rendered, together with the tools. */
const saysSystem = "tools and loop.first and message['role'] == 'system'";

/** Tools, calls and answers are in the tags that the parsers for Hermes and Qwen expect. */
const chatml: ChatTemplate = {
  template: [
    "{%- if tools -%}",
    "{{ '<|im_start|>system\\n' }}",
    "{%- if messages[0]['role'] == 'system' -%}{{ messages[0]['content'] ~ '\\n\\n' }}{%- endif -%}",
    "{{ '# Tools\\n\\nEach line is a function that you can call, as JSON:\\n<tools>\\n' }}",
    "{%- for tool in tools -%}{{ tool | tojson ~ '\\n' }}{%- endfor -%}",
    "{{ '</tools>\\n\\nTo call one, write its name and its arguments as JSON:\\n<tool_call>\\n' }}",
    `{{- '{"name": <name>, "arguments": <arguments>}\\n</tool_call><|im_end|>\\n' }}`,
    "{%- endif -%}",
    "{%- for message in messages -%}",
    `{%- if ${saysSystem} -%}`,
    "{%- elif message['role'] == 'assistant' -%}",
    "{{ '<|im_start|>assistant\\n' }}",
    "{%- generation -%}",
    "{{ message['content'] or '' }}",
    "{%- for call in message['tool_calls'] or [] -%}",
    setCall,
    "{%- if message['content'] or not loop.first -%}{{ '\\n' }}{%- endif -%}",
    `{{ '<tool_call>\\n{"name": ' ~ call.name | tojson ~ ', "arguments": ' ~ ${callArguments} ~ '}\\n</tool_call>' }}`,
    "{%- endfor -%}",
    "{{ '<|im_end|>' }}",
    "{%- endgeneration -%}",
    "{{ '\\n' }}",
    "{%- elif message['role'] == 'tool' -%}",
    "{%- if loop.first or messages[loop.index0 - 1]['role'] != 'tool' -%}{{ '<|im_start|>user' }}{%- endif -%}",
    "{{ '\\n<tool_response>\\n' ~ message['content'] ~ '\\n</tool_response>' }}",
    "{%- if loop.last or messages[loop.index0 + 1]['role'] != 'tool' -%}{{ '<|im_end|>\\n' }}{%- endif -%}",
    "{%- else -%}",
    "{{ '<|im_start|>' ~ message['role'] ~ '\\n' ~ message['content'] ~ '<|im_end|>\\n' }}",
    "{%- endif -%}",
    "{%- endfor -%}",
    "{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\\n' }}{%- endif -%}",
  ].join("\n"),
  specialTokens: ["<|im_start|>", "<|im_end|>"],
  endOfTurn: "<|im_end|>",
  bos: null,
  documentEnd: "<|endoftext|>",
  pad: "<|endoftext|>",
};

/** The templates of Gemma 1 to 3 do not support tools, so this one refuses them, too. */
const gemma: ChatTemplate = {
  template: [
    "{%- if tools -%}{{ raise_exception('the chat template gemma has no tools') }}{%- endif -%}",
    "{{- bos_token -}}",
    "{%- for message in messages -%}",
    "{%- if message['role'] == 'assistant' -%}",
    "{{ '<start_of_turn>model\\n' }}",
    "{%- generation -%}{{ message['content'] | trim ~ '<end_of_turn>' }}{%- endgeneration -%}",
    "{{ '\\n' }}",
    "{%- else -%}",
    "{{ '<start_of_turn>' ~ message['role'] ~ '\\n' ~ message['content'] | trim ~ '<end_of_turn>\\n' }}",
    "{%- endif -%}",
    "{%- endfor -%}",
    "{%- if add_generation_prompt -%}{{ '<start_of_turn>model\\n' }}{%- endif -%}",
  ].join("\n"),
  specialTokens: ["<start_of_turn>", "<end_of_turn>"],
  endOfTurn: "<end_of_turn>",
  bos: "<bos>",
  documentEnd: "<eos>",
  pad: "<pad>",
};

/** Tool calls are rendered as in Llama 3.1, where a message calls at most one tool. */
const llama3: ChatTemplate = {
  template: [
    "{{- bos_token -}}",
    "{%- if tools -%}",
    "{{ '<|start_header_id|>system<|end_header_id|>\\n\\nEnvironment: ipython\\n\\n' }}",
    "{%- if messages[0]['role'] == 'system' -%}{{ messages[0]['content'] | trim ~ '\\n\\n' }}{%- endif -%}",
    "{{ 'You can call these functions. To call one, answer only with JSON: ' }}",
    `{{- '{"name": <name>, "parameters": <arguments>}\\n\\n' }}`,
    "{%- for tool in tools -%}{{ tool | tojson ~ '\\n' }}{%- endfor -%}",
    "{{ '<|eot_id|>' }}",
    "{%- endif -%}",
    "{%- for message in messages -%}",
    `{%- if ${saysSystem} -%}`,
    "{%- elif message['role'] == 'assistant' -%}",
    "{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}",
    "{%- generation -%}",
    "{%- if message['tool_calls'] -%}",
    "{%- if message['tool_calls'] | length > 1 -%}",
    "{{ raise_exception('the chat template llama3 has one tool call a message') }}",
    "{%- endif -%}",
    "{%- set call = message['tool_calls'][0] -%}",
    setCall,
    `{{ '{"name": ' ~ call.name | tojson ~ ', "parameters": ' ~ ${callArguments} ~ '}' }}`,
    "{%- else -%}{{ message['content'] | trim }}{%- endif -%}",
    "{{ '<|eot_id|>' }}",
    "{%- endgeneration -%}",
    "{%- else -%}",
    "{%- set role = 'ipython' if message['role'] == 'tool' else message['role'] -%}",
    "{{ '<|start_header_id|>' ~ role ~ '<|end_header_id|>\\n\\n' ~ message['content'] | trim ~ '<|eot_id|>' }}",
    "{%- endif -%}",
    "{%- endfor -%}",
    "{%- if add_generation_prompt -%}{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{%- endif -%}",
  ].join("\n"),
  specialTokens: ["<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"],
  endOfTurn: "<|eot_id|>",
  bos: "<|begin_of_text|>",
  documentEnd: "<|end_of_text|>",
  pad: "<|finetune_right_pad_id|>",
};

const templates: Readonly<Record<(typeof chatTemplateNames)[number], ChatTemplate>> = {
  chatml,
  gemma,
  llama3,
};

/** Returns the name of a template; undefined if it is not one of these. */
export const nameOfTemplate = (text: string): string | undefined =>
  Object.entries(templates).find(([, { template }]) => template === text)?.[0];

export const namedTemplate = (asked: string | undefined): ChatTemplate | undefined =>
  asked !== undefined && Object.hasOwn(templates, asked)
    ? templates[asked as keyof typeof templates]
    : undefined;
