/**
 * Replaces named-masks.ts in the library for browsers. Masks are looked up by a digest of the automaton, which browsers
 * cannot compute synchronously. In a browser the scanner therefore uses only its tables.
 */
export const namedMasks: Readonly<Record<string, string>> | null = null;
