import { asOption, phrase, UserError } from "#runtime";

/** Thrown when a text, a pretoken or a tokenizer does not fit into the kernel's memory. */
export class NoMemory extends UserError {
  constructor(what: string) {
    super(`no memory for ${what}`, {
      kind: "memory",
      hint: phrase`raise ${asOption("memory-limit")}, or use fewer workers (${asOption("workers", 1, "w")}); text that the pattern does not split needs about 40 bytes of memory per byte, 4 GB at most`,
    });
  }
}

export const noMemoryForTokenizer = () => new NoMemory("the tokenizer");
