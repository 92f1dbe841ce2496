import * as messages from "./message.ts";
import { asOption, type Message, phrase } from "./message.ts";

/** @internal The exit codes of the process. */
export const exitCode = {
  /** Success; also if the reader of stdout closes it (`run` in src/main/run.ts). */
  done: 0,
  failed: 1,
  usage: 2,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

/** A mistake of the user, or a failure outside the program. Any other exception that is not caught is a bug. */
export class UserError extends Error {
  override readonly name = "UserError";
  readonly hint: string | undefined;
  /** `exitCode.usage` for a wrong use of the command, such as an unknown option; otherwise `exitCode.failed`. */
  readonly exitCode: number;
  /**
   * @internal `memory` if the run had too little memory, and might succeed with more.
   */
  readonly kind: "memory" | undefined;
  /** @internal The message and the hint as data. `message` and `hint` are their texts on the command line. */
  readonly parts: { readonly message: Message; readonly hint: Message | undefined };

  constructor(
    message: Message,
    options: { hint?: Message | undefined; exitCode?: number; kind?: "memory" | undefined } = {},
  ) {
    super(shorten(messages.spell(message)));
    this.parts = { message, hint: options.hint };
    this.hint = this.spelled().hint;
    this.exitCode = options.exitCode ?? exitCode.failed;
    this.kind = options.kind;
  }

  /**
   * @internal Returns the message and the hint, with options written by `spelling`; by default as on the command line.
   */
  spelled(spelling?: messages.Spelling): { message: string; hint: string | undefined } {
    const { message, hint } = this.parts;
    const text = (part: Message) => shorten(messages.spell(part, spelling));
    // The hint is empty if it names only options that the caller lacks.
    return { message: text(message), hint: (hint && text(hint)) || undefined };
  }

  /**
   * @internal Returns the same error. If it is a UserError, the options in its message and its hint are then written by
   * `spelling`.
   */
  static respell(error: unknown, spelling: messages.Spelling): unknown {
    return error instanceof UserError ? Object.assign(error, error.spelled(spelling)) : error;
  }
}

/**
 * The maximum length of a message in characters. Longer messages are cut, because they repeat a value that nobody will
 * read to the end. A message with the longest path of a file is not cut.
 */
const messageMax = 5000;
const [shownFirst, shownLast] = [600, 200];

/**
 * @internal Cuts the middle out of a message that is too long. Such a message repeats a long value, for example a
 * pattern of 100 kB.
 */
export function shorten(message: string): string {
  if (message.length <= messageMax) return message;
  // Half a surrogate pair at a cut is dropped, too.
  const first = message.slice(0, shownFirst).replace(/[\ud800-\udbff]$/, "");
  const last = message.slice(-shownLast).replace(/^[\udc00-\udfff]/, "");
  return `${first} … (${message.length - first.length - last.length} characters) … ${last}`;
}

/** @internal Returns the error for a wrong use of the command or of a function: its exit code is `exitCode.usage`. */
export const usageError = (message: Message, hint?: Message) =>
  new UserError(message, { hint, exitCode: exitCode.usage });

/**
 * @internal Returns the UserError to show if an allocation failed or a worker could not be started; undefined for any
 * other error.
 */
export function outOfMemory(error: unknown): UserError | undefined {
  if (!(error instanceof Error) || error instanceof UserError) return undefined;
  const isRefused =
    (error instanceof RangeError && /memory|allocat|length/i.test(error.message)) ||
    error.message.startsWith("Failed to spawn worker") ||
    (error as { code?: unknown }).code === "ENOMEM";
  if (!isRefused) return undefined;
  return new UserError(`out of memory: ${error.message}`, {
    kind: "memory",
    hint: phrase`free memory on this machine${messages.orFewerWorkers}${messages.ifHas("memory-limit", phrase`; when training, lower ${asOption("memory-limit")}, so that more words are kept on disk`)}`,
  });
}

/** @internal Throws an error that reports a bug if an invariant does not hold. `invariant` describes the invariant. */
export function assert(holds: boolean, invariant: string): asserts holds {
  if (!holds) throw new Error(`bug: ${invariant}`);
}
