/** Whether the `length` bytes at two places are the same. Up to 7 bytes behind them are read. */
export function equalBytes(a: usize, b: usize, length: u32): bool {
  const wholeEnd = a + (length & ~7);
  for (; a < wholeEnd; a += 8, b += 8) if (load<u64>(a) !== load<u64>(b)) return false;
  const restBits = <u64>(8 * (length & 7));
  return ((load<u64>(a) ^ load<u64>(b)) & (((<u64>1) << restBits) - 1)) === 0;
}
