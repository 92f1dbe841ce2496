import { asOption, messages, phrase, UserError } from "#runtime";

/** Thrown when something does not fit into the kernel's memory. */
export class NoMemory extends UserError {
  constructor(what: string) {
    super(`not enough memory for ${what}`, {
      kind: "memory",
      hint: phrase`raise ${asOption("memory-limit")}; ${messages.fewerWorkers}; if the text has long stretches that the pattern does not split, split them (each needs about 40 times its size, and 4 GB at most)`,
    });
  }
}

export const noMemoryForTokenizer = () => new NoMemory("the tokenizer");
