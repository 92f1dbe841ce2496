import { exitCode, UserError } from "#runtime";

/** Makes the error for an id without a token. */
export function unknownId(id: number, position: number, idLimit: number): UserError {
  return new UserError(`id ${id} at position ${position} is not in the vocabulary`, {
    hint: `the tokenizer's ids end at ${idLimit - 1}; these may be ids of another tokenizer`,
    exitCode: exitCode.failed,
  });
}
