/**
 * Start tokens: what words are made of before the first merge. Their ids are 0 .. count - 1; merge k makes token count + k.
 * Usually they are the 256 bytes. They may be the tokens of a vocabulary that is to grow, whole pretokens, or symbols that
 * have no bytes at all.
 */
export type StartTokens = {
  readonly count: number;
  /** Their bytes: token t is bytes[starts[t] .. starts[t + 1]). Absent: they have none, and a limit of length counts tokens. */
  readonly spelling?: { readonly bytes: Uint8Array; readonly starts: Uint32Array };
  /**
   * Where ids decide ties: the id of each as the rule has it, below `count`. Absent: its own. A new token has its own in
   * any case.
   */
  readonly ranks?: Int32Array;
  /** Tokens that exist already and that no word holds: a merge that spells one adds no entry to the vocabulary. */
  readonly known?: readonly KnownToken[];
};

/** `rank`: its id in ties, where ids decide. */
export type KnownToken = { readonly bytes: Uint8Array; readonly rank: number };

const byteCount = 256;

/** The 256 bytes: the id of a token is the byte. */
export const byteTokens: StartTokens = {
  count: byteCount,
  spelling: {
    bytes: Uint8Array.from({ length: byteCount }, (_, byte) => byte),
    starts: Uint32Array.from({ length: byteCount + 1 }, (_, byte) => byte),
  },
};

/** Whether some have more bytes than one; only then the size of a token is not how many start tokens it holds. */
export function haveSizes({ count, spelling }: StartTokens): boolean {
  if (spelling === undefined) return false;
  for (let id = 0; id < count; id++) if (spelling.starts[id + 1]! - spelling.starts[id]! !== 1) return true;
  return false;
}
