/**
 * Replaces named-masks.ts in the library for browsers, which cannot hash an automaton, and so scans with tables only.
 */
export const namedMasks: Readonly<Record<string, string>> | null = null;
