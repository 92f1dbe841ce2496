/**
 * Tables of four ASCII bytes a step, as src/pattern/four-byte-tables.ts has them; JavaScript puts its arrays into memory.
 *
 *   ARRAY         TYPE   MEANING
 *   pairs         u8     pair of two bytes, at first | second << 8
 *   quads         u16    quad of two pairs, at first << 8 | second
 *   quadEntries   u32    entry of state s and quad q at s << quadBits | q:
 *                        (next state << quadBits) << 15 | commits << 12 | four slots of 3 bits (7: none)
 */
export let pairsStart: usize = 0;
export let quadsStart: usize = 0;
export let quadEntriesStart: usize = 0;
export let quadBits: u32 = 0;

/** Takes the addresses of the arrays; all are 0 where a pattern has none. */
export function useFourByteTables(pairs: usize, quads: usize, quadEntries: usize, bits: u32): void {
  pairsStart = pairs;
  quadsStart = quads;
  quadEntriesStart = quadEntries;
  quadBits = bits;
}

export function hasFourByteTables(): bool {
  return quadEntriesStart !== 0;
}

/** The quad of four ASCII bytes. A loop hands over the addresses, so that they stay in registers. */
export function quadOf(pairs: usize, quads: usize, word: u32): u32 {
  const first = <u32>load<u8>(pairs + (word & 0xffff));
  const second = <u32>load<u8>(pairs + (word >> 16));
  return load<u16>(quads + (((first << 8) | second) << 1));
}
