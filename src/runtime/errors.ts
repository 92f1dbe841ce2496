/** @internal The exit codes of the process. */
export const exitCode = {
  done: 0,
  failed: 1,
  usage: 2,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

/**
 * A mistake of the user, or a failure outside of the program. It is shown as `bpe: error: <message>` and, if a remedy is
 * known, `hint: <hint>`; never with a stack trace. Everything else that is thrown is a bug.
 */
export class UserError extends Error {
  override readonly name = "UserError";
  readonly hint: string | undefined;
  /** `exitCode.usage` if the command line alone shows the mistake, else `exitCode.failed`. */
  readonly exitCode: number;

  constructor(message: string, options: { hint?: string | undefined; exitCode?: number } = {}) {
    super(shorten(message));
    this.hint = options.hint === undefined ? undefined : shorten(options.hint);
    this.exitCode = options.exitCode ?? exitCode.failed;
  }
}

/** A message of more characters has a value in it that nobody reads. The longest path of a file fits. */
const messageMax = 5000;
const [shownFirst, shownLast] = [600, 200];

/** @internal A message whose middle is left out if it repeats something very long, as a pattern of 100 kB. */
export function shorten(message: string): string {
  if (message.length <= messageMax) return message;
  // Half a character at an edge is left out, too.
  const first = message.slice(0, shownFirst).replace(/[\ud800-\udbff]$/, "");
  const last = message.slice(-shownLast).replace(/^[\udc00-\udfff]/, "");
  return `${first} … (${message.length - first.length - last.length} characters) … ${last}`;
}

/** @internal A mistake that the command line alone shows. */
export const usageError = (message: string, hint?: string) =>
  new UserError(message, { hint, exitCode: exitCode.usage });

/** @internal The error for the user if the system refused an allocation; undefined for any other error. */
export function outOfMemory(error: unknown): UserError | undefined {
  if (!(error instanceof Error) || error instanceof UserError) return undefined;
  const isRefused =
    (error instanceof RangeError && /memory|allocat|length/i.test(error.message)) ||
    error.message.startsWith("Failed to spawn worker") ||
    (error as { code?: unknown }).code === "ENOMEM";
  if (!isRefused) return undefined;
  return new UserError(`out of memory: ${error.message}`, {
    hint: "use fewer workers (-w 1); with a lower --memory-limit, counting keeps more words on disk",
  });
}

/**
 * @internal The error for a caller of the library if the engine does not allow WebAssembly, or has no more memory for it; undefined
 * for any other error.
 */
export function engineRefusal(error: unknown): UserError | undefined {
  if (!(error instanceof Error) || error instanceof UserError) return undefined;
  if (typeof WebAssembly === "undefined")
    return new UserError("this engine has no WebAssembly, which tokenizers need", {
      hint: "browsers have none in a lockdown mode, and Node has none with --jitless",
    });
  const { name, message } = error;
  if (name === "CompileError" || name === "EvalError")
    return new UserError(`WebAssembly is not allowed here: ${message}`, {
      hint: "a page with a Content-Security-Policy needs 'wasm-unsafe-eval' in its script-src; a service that compiles no code at run time (Cloudflare Workers) cannot run a tokenizer",
    });
  if (name !== "RangeError" || !/memory|allocat/i.test(message)) return undefined;
  return new UserError(`the engine has no WebAssembly memory for one more: ${message}`, {
    hint: "it has some hundred memories at a time: use one tokenizer for many texts, and keep no reference to one that is not used any more",
  });
}

/** @internal Does the work; what the engine refuses is an error that says how to allow it. */
export function withEngineErrors<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw engineRefusal(error) ?? error;
  }
}

/** @internal Ends the program if an invariant does not hold; `invariant` says it in words. */
export function assert(holds: boolean, invariant: string): asserts holds {
  if (!holds) throw new Error(`bug: ${invariant}`);
}
