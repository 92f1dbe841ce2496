import { exitCode, outOfMemory, UserError } from "../errors.ts";
import { PatternLimit } from "../pattern/pattern.ts";

/** An error as it crosses threads. */
export type Failure = {
  readonly isUserError: boolean;
  readonly message: string;
  readonly hint: string | undefined;
  readonly exitCode: number;
};

/** `place` says where a bug or a limit of the pattern showed; a user's error says so itself. */
export function describeFailure(error: unknown, place: string): Failure {
  const told = error instanceof UserError ? error : outOfMemory(error);
  if (told !== undefined) {
    const message =
      told instanceof PatternLimit ? `${told.message},${place.replace(/^ at/, " from")} on` : told.message;
    return { isUserError: true, message, hint: told.hint, exitCode: told.exitCode };
  }
  const reason = error instanceof Error ? error.message : String(error);
  return { isUserError: false, message: `${reason}${place}`, hint: undefined, exitCode: exitCode.failed };
}

export function reviveFailure({ isUserError, message, hint, exitCode }: Failure): Error {
  if (!isUserError) return new Error(message);
  return new UserError(message, hint === undefined ? { exitCode } : { hint, exitCode });
}
