/** Texts that would do harm if they were not escaped. */
export const hostileTexts = [
  "</script><script>globalThis.harmed=1</script>",
  '"><img src=x onerror="globalThis.harmed=1">',
  "</title></style><svg onload=globalThis.harmed=1>",
  "<!--<script>",
  "]]>&lt;&#60;",
  "\u202ereversed\u2066\u2069",
  "nul\u0000 \u001b[31m\u2028\u2029",
];
