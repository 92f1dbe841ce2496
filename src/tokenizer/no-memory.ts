import { asOption, type Message, messages, phrase, UserError } from "#runtime";

/** Thrown when something does not fit into the kernel's memory. */
export class NoMemory extends UserError {
  constructor(
    what: string,
    hint: Message = "free memory on this machine, or split the text into shorter texts",
  ) {
    super(`not enough memory for ${what}`, { kind: "memory", hint });
  }
}

export const noMemoryForTokenizer = () =>
  new NoMemory(
    "the tokenizer",
    phrase`free memory on this machine${messages.ifHas("memory-limit", phrase`; if ${asOption("memory-limit")} is set, raise it`)}`,
  );
