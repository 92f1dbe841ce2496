/** Text that would do harm if it were not escaped: it closes elements and attributes, runs scripts, and hides what follows. */
export const hostileTexts = [
  "</script><script>globalThis.harmed=1</script>",
  '"><img src=x onerror="globalThis.harmed=1">',
  "</title></style><svg onload=globalThis.harmed=1>",
  "<!--<script>",
  "]]>&lt;&#60;",
  "\u202ereversed\u2066\u2069",
  "nul\u0000 \u001b[31m\u2028\u2029",
];
