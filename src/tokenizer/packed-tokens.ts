/**
 * WholeTokens: tokens at which merging their bytes does not arrive, of two bytes or more. A pretoken that is one of them
 * gets its id; a part of a pretoken never does. That is the rule of HF's `ignore_merges`, and of tiktoken.
 *
 *   ARRAY    TYPE         LENGTH          MEANING
 *   bytes    Uint8Array   starts[count]   the tokens end to end
 *   starts   Int32Array   count + 1       token t is bytes[starts[t] .. starts[t + 1])
 *   ids      Int32Array   count           their ids
 */
export type WholeTokens = {
  readonly bytes: Uint8Array;
  readonly starts: Int32Array;
  readonly ids: Int32Array;
};

/** From ids by the tokens' bytes as Latin-1 text. */
export function packTokens(idsByText: ReadonlyMap<string, number>): WholeTokens {
  const starts = new Int32Array(idsByText.size + 1);
  let token = 0;
  for (const text of idsByText.keys()) {
    starts[token + 1] = starts[token]! + text.length;
    token++;
  }
  return {
    bytes: new Uint8Array(Buffer.from([...idsByText.keys()].join(""), "latin1")),
    starts,
    ids: Int32Array.from(idsByText.values()),
  };
}
