/** The results of a tokenizer besides its ids: the same under Node, Bun and in browsers. */
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
