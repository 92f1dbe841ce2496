/**
 * Chat templates that have names: Jinja, as `transformers` renders it, with `messages`, `add_generation_prompt` and
 * `bos_token`. Each renders what the models of that family were published with, for messages of text.
 */
export type ChatTemplate = {
  readonly template: string;
  /** Special tokens that the template writes. */
  readonly specialTokens: readonly string[];
  /** The one of them that ends a turn: where generating stops. */
  readonly endOfTurn: string;
  /** Whether it begins with the token whose role is `bos`. */
  readonly needsBos: boolean;
};

export const chatTemplates: Readonly<Record<string, ChatTemplate>> = {
  chatml: {
    template: [
      "{%- for message in messages -%}",
      "{{ '<|im_start|>' ~ message['role'] ~ '\\n' ~ message['content'] ~ '<|im_end|>\\n' }}",
      "{%- endfor -%}",
      "{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\\n' }}{%- endif -%}",
    ].join("\n"),
    specialTokens: ["<|im_start|>", "<|im_end|>"],
    endOfTurn: "<|im_end|>",
    needsBos: false,
  },
  gemma: {
    template: [
      "{{- bos_token -}}",
      "{%- for message in messages -%}",
      "{%- set role = 'model' if message['role'] == 'assistant' else message['role'] -%}",
      "{{ '<start_of_turn>' ~ role ~ '\\n' ~ message['content'] | trim ~ '<end_of_turn>\\n' }}",
      "{%- endfor -%}",
      "{%- if add_generation_prompt -%}{{ '<start_of_turn>model\\n' }}{%- endif -%}",
    ].join("\n"),
    specialTokens: ["<start_of_turn>", "<end_of_turn>"],
    endOfTurn: "<end_of_turn>",
    needsBos: true,
  },
  llama3: {
    template: [
      "{{- bos_token -}}",
      "{%- for message in messages -%}",
      "{{ '<|start_header_id|>' ~ message['role'] ~ '<|end_header_id|>\\n\\n' ~ message['content'] | trim ~ '<|eot_id|>' }}",
      "{%- endfor -%}",
      "{%- if add_generation_prompt -%}{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{%- endif -%}",
    ].join("\n"),
    specialTokens: ["<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"],
    endOfTurn: "<|eot_id|>",
    needsBos: true,
  },
};
