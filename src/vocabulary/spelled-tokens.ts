/**
 * Tokens that are told apart by their bytes, however they were made: first some with bytes of their own, then those that are
 * made of two others. The bytes of the latter are nowhere whole: each has two hashes of them, which two halves give without
 * a look at a byte. Where both are equal, the bytes are compared.
 *
 *   ARRAY     MEANING
 *   lengths   bytes of each token
 *   hashes    two numbers below 2^26: the bytes as digits of a number, to two moduli
 *   powers    the place value of such a digit before this token, to the same moduli
 *   halves    two token numbers, or -1 and an offset for a token with bytes of its own
 */
export class SpelledTokens {
  private readonly lengths: number[] = [];
  private readonly hashes: [number, number][] = [];
  private readonly powers: [number, number][] = [];
  private readonly halves: [left: number, right: number][] = [];
  private readonly known = new Map<string, number[]>();

  /** @param bytes the first tokens: token t is bytes[starts[t] .. starts[t + 1]), no two are equal */
  constructor(
    private readonly bytes: Uint8Array,
    starts: ArrayLike<number>,
  ) {
    for (let t = 0; t + 1 < starts.length; t++) {
      const [start, end] = [starts[t]!, starts[t + 1]!];
      const hash: [number, number] = [0, 0];
      const power: [number, number] = [1, 1];
      for (let pos = start; pos < end; pos++) {
        for (const m of [0, 1] as const) {
          hash[m] = (hash[m] * base + bytes[pos]! + 1) % moduli[m];
          power[m] = (power[m] * base) % moduli[m];
        }
      }
      this.add(end - start, hash, power, [-1, start]);
    }
  }

  get count(): number {
    return this.lengths.length;
  }

  /** Bytes of a token. */
  lengthOf(token: number): number {
    return this.lengths[token]!;
  }

  /** The token that has the bytes of these two, one behind the other: a new one, if there is none. */
  join(left: number, right: number): number {
    const { hashes, powers, lengths } = this;
    const of = (values: [number, number][], a: number, m: 0 | 1) => values[a]![m];
    const both = (make: (m: 0 | 1) => number): [number, number] => [make(0), make(1)];
    const length = lengths[left]! + lengths[right]!;
    const hash = both((m) => (of(hashes, left, m) * of(powers, right, m) + of(hashes, right, m)) % moduli[m]);
    const power = both((m) => (of(powers, left, m) * of(powers, right, m)) % moduli[m]);
    const found = this.known.get(keyOf(length, hash))?.find((token) => this.isJoined(token, left, right));
    return found ?? this.add(length, hash, power, [left, right]);
  }

  /** A copy of the token's bytes. */
  bytesOf(token: number): Uint8Array {
    const copy = new Uint8Array(this.lengths[token]!);
    let pos = 0;
    const stack = [token];
    while (stack.length > 0) {
      const top = stack.pop()!;
      const [left, right] = this.halves[top]!;
      if (left >= 0) {
        stack.push(right, left);
        continue;
      }
      for (let i = 0; i < this.lengths[top]!; i++) copy[pos++] = this.bytes[right + i]!;
    }
    return copy;
  }

  /** All of them, end to end: token t is bytes[starts[t] .. starts[t + 1]). */
  packed(): { bytes: Uint8Array; starts: Uint32Array } {
    const starts = new Uint32Array(this.count + 1);
    for (let t = 0; t < this.count; t++) starts[t + 1] = starts[t]! + this.lengths[t]!;
    const bytes = new Uint8Array(starts[this.count]!);
    for (let t = 0; t < this.count; t++) bytes.set(this.bytesOf(t), starts[t]!);
    return { bytes, starts };
  }

  private isJoined(token: number, left: number, right: number): boolean {
    const [a, b] = this.halves[token]!;
    if (a === left && b === right) return true;
    const bytes = this.bytesOf(token);
    const first = this.bytesOf(left);
    const second = this.bytesOf(right);
    return bytes.every((byte, i) => byte === (i < first.length ? first[i] : second[i - first.length]));
  }

  private add(
    length: number,
    hash: [number, number],
    power: [number, number],
    halves: [number, number],
  ): number {
    const token = this.lengths.push(length) - 1;
    this.hashes.push(hash);
    this.powers.push(power);
    this.halves.push(halves);
    const key = keyOf(length, hash);
    const same = this.known.get(key);
    if (same === undefined) this.known.set(key, [token]);
    else same.push(token);
    return token;
  }
}

/** Digits are 1 to 256, so that zero bytes count. Products of two numbers below the moduli are exact. */
const base = 263;
const moduli = [67_108_859, 67_108_837] as const;

const keyOf = (length: number, hash: readonly [number, number]) => `${length} ${hash[0]} ${hash[1]}`;
