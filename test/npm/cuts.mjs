/** Calls methods of a tokenizer with a text. The results must be the same in Node, Bun and browsers. */
export function cutsOf(tokenizer, text) {
  const stream = tokenizer.stream();
  const session = tokenizer.session();
  const kept = ["", ...text.slice(0, 20_000).split(/(?<=<\|)/)].map((part) => session.append(part));
  kept.push(session.replace(3, 9, "<|x é"), session.truncate(15_000), session.fork().append("z"));
  const { ids, offsets } = tokenizer.encodeBatch([text, "", text.slice(0, 1000)]);
  return {
    count: [tokenizer.count(text), tokenizer.count(text, { limit: 99 })],
    truncated: [tokenizer.truncate(text, 500), tokenizer.truncate(text, 500, { keep: "end" })],
    chunks: tokenizer.chunks(text.slice(0, 20_000), 100, { overlap: 7 }),
    streamed: Array.from(ids.slice(0, 2000), (id) => stream.push(id)).join("|") + stream.end(),
    offsets: offsets.join(),
    session: [kept, session.ids, session.stable, session.encodedBytes].join(),
  };
}
