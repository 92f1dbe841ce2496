/**
 * Usual values. Those for intermediate tokens were measured by training 1,000 to 64,000 tokens on 30 MB of English
 * books, 20 MB of web pages, 20 MB of texts in 46 languages and 12 MB of code (pattern o200k); the others with GPT-2,
 * GPT-4, GPT-4o, Llama 3, Qwen 3 and DeepSeek V3 on 1 MB each of such books, web pages and code (November 2026).
 */
export const usual = {
  intermediates: "6 to 20 %",
  intermediatesMax: 0.2,
  notUtf8: "up to 1.1 %",
  notUtf8Max: 0.011,
  published: "Published tokenizers average 3.6 to 4.5 bytes per token in English, 3.3 to 4.1 in code.",
  usedShare: "4 to 33 % in 1 MB of text",
};
