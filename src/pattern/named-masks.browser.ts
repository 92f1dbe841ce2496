/** Browsers cannot compute the digest of an automaton synchronously, by which masks are looked up. */
export const namedMasks: Readonly<Record<string, string>> | null = null;
