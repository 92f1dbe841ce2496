import { UserError } from "../src/runtime/errors.ts";

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

/** The UserError that the promise is rejected with. */
export const refusalOf = async (promise: Promise<unknown>): Promise<UserError> => {
  const error = await promise.then(() => undefined).catch((reason) => reason);
  return errorOf(() => {
    if (error !== undefined) throw error;
  });
};
