/**
 * Replaces named-masks.ts in the library for browsers, which scans with tables only, because browsers have no
 * synchronous hash to recognize an automaton.
 */
export const namedMasks: Readonly<Record<string, string>> | null = null;
