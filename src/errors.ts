/** What the process ends with; the whole list stands in the command line's contract. */
export const exitCode = {
  done: 0,
  failed: 1,
  usage: 2,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

/**
 * A mistake of the user's or of the world's: shown as `bpe: error: <message>` and, where a remedy is known,
 * `hint: <hint>`; never with a stack trace. Everything else that is thrown is a bug.
 */
export class UserError extends Error {
  override readonly name = "UserError";
  readonly hint: string | undefined;
  /** `exitCode.failed` for something in the world, `exitCode.usage` for something the command line alone shows. */
  readonly exitCode: number;

  constructor(message: string, options: { hint?: string | undefined; exitCode?: number } = {}) {
    super(message);
    this.hint = options.hint;
    this.exitCode = options.exitCode ?? exitCode.failed;
  }
}

/** A mistake that the command line alone shows. */
export const usageError = (message: string, hint?: string) =>
  new UserError(message, { hint, exitCode: exitCode.usage });

/** What the user is told of an allocation that the system refused; undefined of any other error. */
export function outOfMemory(error: unknown): UserError | undefined {
  if (!(error instanceof Error) || error instanceof UserError) return undefined;
  const isRefused =
    (error instanceof RangeError && /memory|allocat|length/i.test(error.message)) ||
    error.message.startsWith("Failed to spawn worker") ||
    (error as NodeJS.ErrnoException).code === "ENOMEM";
  if (!isRefused) return undefined;
  return new UserError(`out of memory: ${error.message}`, {
    hint: "use fewer workers (-w 1); with a lower --memory-limit, counting keeps more words on disk",
  });
}

/** Ends the program with the invariant in words: what it says was believed impossible. */
export function assert(holds: boolean, invariant: string): asserts holds {
  if (!holds) throw new Error(`bug: ${invariant}`);
}
