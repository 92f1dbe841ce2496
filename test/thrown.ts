import { UserError } from "../src/runtime/errors.ts";

/** Returns the UserError that the function throws. Rethrows other errors, and throws if there is none. */
export function errorOf(run: () => unknown): UserError {
  try {
    run();
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
  throw new Error("no error was thrown");
}

/** Returns the UserError with which the promise is rejected. */
export const refusalOf = async (promise: Promise<unknown>): Promise<UserError> => {
  const error = await promise.then(() => undefined).catch((reason) => reason);
  return errorOf(() => {
    if (error !== undefined) throw error;
  });
};
