/** In the place of named-masks.ts in the library for browsers, which cannot hash an automaton: tables have to do. */
export const namedMasks: Readonly<Record<string, string>> | null = null;
