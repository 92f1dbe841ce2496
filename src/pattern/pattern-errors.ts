/** Thrown where a pattern is right but asks for more than an automaton can do; the backtracking matcher takes it. */
export class BeyondAutomaton extends Error {}

/** Thrown where a pattern is no way to cut a text: it can match the empty string, or it matches nothing at all. */
export class Unusable extends Error {
  constructor(
    message: string,
    readonly hint?: string,
  ) {
    super(message);
  }
}
