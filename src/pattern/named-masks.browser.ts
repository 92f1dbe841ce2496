/**
 * Replaces named-masks.ts in the library for browsers. Masks are looked up by a digest of the automaton, which browsers
 * cannot compute synchronously. So in a browser the scanner uses only its tables.
 */
export const namedMasks: Readonly<Record<string, string>> | null = null;
