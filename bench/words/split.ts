/** Splits text in a simple way, which approximates the gpt2 pattern. Bytes from 128 on count as letters. */
export function splitPlainly(bytes: Uint8Array): Int32Array {
  const letter = 1;
  const digit = 2;
  const space = 3;
  const classes = Uint8Array.from({ length: 256 }, (_, byte) => {
    if (byte >= 128 || ((byte | 32) - 97) >>> 0 < 26) return letter;
    if ((byte - 48) >>> 0 < 10) return digit;
    return byte === 32 || (byte >= 9 && byte <= 13) ? space : 0;
  });
  const ends = new Int32Array(bytes.length + 1);
  let endCount = 1;
  for (let pos = 0; pos < bytes.length; ) {
    const begin = pos;
    if (bytes[pos] === 32 && pos + 1 < bytes.length && classes[bytes[pos + 1]!] !== space) pos++;
    const kind = classes[bytes[pos]!]!;
    while (pos < bytes.length && classes[bytes[pos]!] === kind) pos++;
    // The last space of a run belongs to the word after it.
    if (kind === space && pos < bytes.length && bytes[pos - 1] === 32 && pos - begin > 1) pos--;
    ends[endCount++] = pos;
  }
  return ends.slice(0, endCount);
}
