// Messages as data: lower modules name options, and each caller spells them.

/** An option that a message names, with the value that it shows, as a shell would take it. */
export type NamedOption = {
  /** Its long name on the command line, without dashes. */
  readonly option: string;
  readonly value?: string;
  /** The letter by which the command line shows it. */
  readonly letter?: string;
};

/**
 * Text for people, in parts. The command line writes `--vocab-size 300` for an option in it, the library `vocabSize 300`, and
 * Python `vocab_size=300`.
 */
export type Message = string | NamedOption | readonly (string | NamedOption)[];

/** How a caller writes an option. */
export type Spelling = (option: NamedOption) => string;

/** Names an option in a message. */
export const asOption = (option: string, value?: string | number, letter?: string): NamedOption => ({
  option,
  ...(value !== undefined && { value: String(value) }),
  ...(letter !== undefined && { letter }),
});

/** Makes a message of a template in which options and other messages are embedded. */
export const phrase = (texts: TemplateStringsArray, ...embedded: readonly (Message | number)[]): Message =>
  joined(texts.flatMap((text, i) => (i < embedded.length ? [text, embedded[i]!] : [text])));

/** Joins messages to one. */
export function joined(messages: readonly (Message | number)[], separator = ""): Message {
  const parts: (string | NamedOption)[] = [];
  const add = (part: string | NamedOption) => {
    const last = parts.at(-1);
    if (typeof part === "string" && typeof last === "string") parts[parts.length - 1] = last + part;
    else if (part !== "") parts.push(part);
  };
  for (const [i, message] of messages.entries()) {
    if (i > 0) add(separator);
    if (typeof message === "number") add(String(message));
    else if (typeof message === "string" || "option" in message) add(message);
    else message.forEach(add);
  }
  const [first = ""] = parts;
  return parts.length < 2 && typeof first === "string" ? first : parts;
}

/** Says which value was found at a place: an option is named together with it. */
export function withValue(place: Message, value: string): Message {
  const parts = typeof place === "string" || "option" in place ? [place] : place;
  const last = parts.at(-1);
  if (typeof last !== "object") return phrase`${place} ${value}`;
  return joined([...parts.slice(0, -1), { ...last, value }]);
}

/** Writes a message for a caller. */
export function spell(message: Message, spelling: Spelling = asTyped): string {
  if (typeof message === "string") return message;
  const parts = "option" in message ? [message] : message;
  return parts.map((part) => (typeof part === "string" ? part : spelling(part))).join("");
}

/** The spelling of the command line. */
export const asTyped: Spelling = ({ option, value, letter }) =>
  `${letter === undefined ? `--${option}` : `-${letter}`}${value === undefined ? "" : ` ${value}`}`;
