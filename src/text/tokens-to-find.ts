import { kernels } from "#runtime";
import { describeSections, type TokenToFind } from "./text-sections.ts";

export type { TokenToFind };

// The tokens that a kernel searches for while it cuts a text.

/** Returns the size in bytes of the longest token; 0 if there is none. */
export const longestOf = (tokens: readonly TokenToFind[]) =>
  tokens.reduce((longest, { bytes }) => Math.max(longest, bytes.length), 0);

/**
 * Makes a kernel search for tokens while it cuts a text. Returns false if the tokens do not fit into its memory, or
 * throws a RangeError (`putArray`).
 */
export function use(kernel: kernels.Kernel, tokens: readonly TokenToFind[]): boolean {
  if (longestOf(tokens) === 0) return true;
  const address = kernels.putArray(kernel, describeSections({ early: tokens }));
  return address !== 0 && kernel.exports.useTokens(address) !== 0;
}

/**
 * Returns an upper bound of the memory in bytes that `use` takes for added tokens in the kernel
 * (src/kernel/token-search.ts).
 */
export function tablesBytes(tokens: readonly { readonly content: string }[]): number {
  const sizes = tokens.map(({ content }) => new TextEncoder().encode(content).length);
  const byteCount = sizes.reduce((sum, size) => sum + size, 0);
  const longestBytes = sizes.reduce((longest, size) => Math.max(longest, size), longestBlockBytes);
  return bytesPerByte * byteCount + bytesPerToken * tokens.length + 8 * longestBytes + 4096;
}

const longestBlockBytes = 1 << 14;
/** Bytes of memory for each byte of a token: a state of the automaton, and the byte itself. */
const bytesPerByte = 14;
/** Bytes of memory for each token: its record, and 8 bytes that are used only while the automaton is built. */
const bytesPerToken = 24;
