import { UserError } from "../errors.ts";
import { codeOf, reasonOf } from "../runtime/system-error.ts";

/** Does what may fail at the system's will, and says of which path it failed and why. */
export function onPath<T>(path: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof UserError || codeOf(error) === "") throw error;
    throw new UserError(`"${path}" cannot be written: ${reasonOf(error)}`);
  }
}
