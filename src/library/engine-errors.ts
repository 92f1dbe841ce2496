import { UserError } from "#runtime";

/**
 * @internal Returns a UserError if the engine has no WebAssembly, or if `error` says that the engine does not allow it
 * or has no more memory for it. Returns undefined otherwise, and if `error` is a UserError already or not an Error.
 */
export function engineRefusal(error: unknown): UserError | undefined {
  if (!(error instanceof Error) || error instanceof UserError) return undefined;
  if (typeof WebAssembly === "undefined")
    return new UserError("this JavaScript engine has no WebAssembly, which tokenizers need", {
      hint: "turn off the browser's lockdown mode for this page, or Node's option --jitless",
    });
  const { name, message } = error;
  if (name === "CompileError" || name === "EvalError")
    return new UserError(`WebAssembly is not allowed here: ${message}`, {
      hint: "add 'wasm-unsafe-eval' to the script-src of the page's Content-Security-Policy; services that compile no code at run time (Cloudflare Workers) cannot run a tokenizer",
    });
  if (name !== "RangeError" || !/memory|allocat/i.test(message)) return undefined;
  return new UserError(`the JavaScript engine cannot allocate another WebAssembly memory: ${message}`, {
    kind: "memory",
    hint: "use one tokenizer for many texts, and drop references to tokenizers that you no longer use; engines allow only a few hundred memories at a time",
  });
}

/** @internal Runs `work`. If it fails because the engine refuses WebAssembly or memory, throws `engineRefusal`. */
export function withEngineErrors<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw engineRefusal(error) ?? error;
  }
}
