/** Returns results of a tokenizer other than ids, which must be the same in Node, Bun and browsers. */
export function cutsOf(tokenizer, text) {
  const stream = tokenizer.stream();
  const { ids, offsets } = tokenizer.encodeBatch([text, "", text.slice(0, 1000)]);
  return {
    count: [tokenizer.count(text), tokenizer.count(text, { limit: 99 })],
    truncated: [tokenizer.truncate(text, 500), tokenizer.truncate(text, 500, { keep: "end" })],
    chunks: tokenizer.chunks(text.slice(0, 20_000), 100, { overlap: 7 }),
    streamed: Array.from(ids.slice(0, 2000), (id) => stream.push(id)).join("|") + stream.end(),
    offsets: offsets.join(),
  };
}
