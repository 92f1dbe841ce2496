import { UserError } from "../src/errors.ts";

/** The UserError that the function ends with; anything else is thrown on. */
export function errorOf(run: () => unknown): UserError {
  try {
    run();
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
  throw new Error("no error was thrown");
}
