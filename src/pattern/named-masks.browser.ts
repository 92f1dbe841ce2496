/**
 * Replaces named-masks.ts in the library for browsers. Masks are looked up by a digest of the automaton, and browsers
 * have no synchronous hash; so there the scanner uses only tables.
 */
export const namedMasks: Readonly<Record<string, string>> | null = null;
