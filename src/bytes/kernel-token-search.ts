import { type Kernel, putArray } from "../runtime/kernel.ts";
import { groupBy } from "./group-by.ts";
import { longestBlockBytes, prefixCountMax, sharedPrefix } from "./special-token-finder.ts";
import { buildTokenTrie } from "./token-trie.ts";

/** A prefix in memory: its length, where it occurs next, and from 16 on its bytes (src/kernel/special-token-search.ts). */
const prefixSlotBytes = 32;
const prefixBytesMax = 16;

/** Has the kernel look for these tokens (src/kernel/special-token-search.ts); false where its memory has no room for them. */
export function setUpTokens(kernel: Kernel, specialTokens: readonly Uint8Array[]): boolean {
  const { exports } = kernel;
  const tokens = specialTokens.filter((token) => token.length > 0);
  const longestBytes = tokens.reduce((longest, token) => Math.max(longest, token.length), 0);
  const groups = [...groupBy(tokens, (token) => token[0]!).values()];
  const areWhole =
    groups.length <= prefixCountMax &&
    longestBytes <= prefixBytesMax &&
    groups.every((group) => group.length === 1);
  const prefixes =
    groups.length > prefixCountMax ? [] : groups.map((group) => sharedPrefix(group, prefixBytesMax));
  const slots = new Uint8Array(prefixSlotBytes * prefixes.length);
  prefixes.forEach((prefix, i) => {
    new Int32Array(slots.buffer, i * prefixSlotBytes, 2).set([prefix.length, -1]);
    slots.set(prefix, i * prefixSlotBytes + 16);
  });
  const prefixesAddress = putArray(kernel, slots);
  if (prefixesAddress === 0) return false;
  exports.usePrefixes(prefixesAddress, prefixes.length, Number(areWhole), longestBytes);
  if (areWhole) return true;

  const trie = buildTokenTrie(tokens);
  const { labels, firstChildren, fallbacks, tokenLengths, rootChildren } = trie;
  const arrays = [labels, firstChildren, fallbacks, tokenLengths, rootChildren];
  const addresses = arrays.map((array) => putArray(kernel, array));
  const places = exports.reserveFixed(8 * Math.max(longestBlockBytes, longestBytes)) >>> 0;
  if (addresses.includes(0) || places === 0) return false;
  exports.useTokenTrie(addresses[0]!, addresses[1]!, addresses[2]!, addresses[3]!, addresses[4]!, places);
  return true;
}
