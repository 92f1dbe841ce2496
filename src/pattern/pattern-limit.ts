import { UserError } from "../errors.ts";

/** A pattern asks for more steps or memory than it is given; whoever knows it adds the place in the text. */
export class PatternLimit extends UserError {
  constructor(source: string, what: string) {
    super(`the pattern ${what}: ${source}`, {
      hint: "write it so that it fails sooner: without repeats inside repeats, without references to groups",
    });
  }
}
