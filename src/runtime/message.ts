// Messages as data. Lower modules name options in them, and each caller (command line, library, Python) spells the
// options in its own way.

type OptionParts = {
  /** The option's long name on the command line, without dashes. */
  readonly option: string;
  readonly value?: string;
  /** The option's one-letter name, if the command line should show that. */
  readonly letter?: string;
};

/**
 * An option in a message, with the value to show, if any. No option is a symbol: the intersection is only for the type
 * checker, which then refuses options in template strings and next to `+`, where they would become "[object Object]".
 */
export type NamedOption = OptionParts & symbol;

type ConditionalParts = {
  /** An option, as in `input-format` and `input-format text`; or `standardInput`. */
  readonly ifHas: string;
  readonly text: Message;
  readonly otherwise: Message;
};

/** Text that depends on what the caller has. */
export type Conditional = ConditionalParts & symbol;

type Part = string | NamedOption | Conditional;

/**
 * Text for people, in parts, some of which are options. The command line spells an option as `--vocab-size 300`, the
 * library as `vocabSize 300`, and Python as `vocab_size=300`.
 */
export type Message = Part | readonly Part[];

/** How a caller writes an option. `has` says which options it can give; without `has`, it can give all. */
export type Spelling = ((option: NamedOption) => string) & {
  readonly has?: (option: string, value?: string) => boolean;
};

const branded = (parts: OptionParts) => parts as NamedOption;

/** Names an option in a message. */
export const asOption = (option: string, value?: string | number, letter?: string): NamedOption =>
  branded({
    option,
    ...(value !== undefined && { value: String(value) }),
    ...(letter !== undefined && { letter }),
  });

/** For `ifHas`: callers that can pipe text into `bpe … -`. */
export const standardInput = "-";

/** Returns text for callers that can give `option`, and other text for those that cannot. */
export const ifHas = (option: string, text: Message, otherwise: Message = ""): Conditional =>
  ({ ifHas: option, text, otherwise }) as ConditionalParts as Conditional;

const partsOf = (message: Message): readonly Part[] =>
  typeof message === "string" || "option" in message || "ifHas" in message ? [message] : message;

/** Builds a message from a template in which options and other messages are embedded. */
export const phrase = (texts: TemplateStringsArray, ...embedded: readonly (Message | number)[]): Message =>
  joined(texts.flatMap((text, i) => (i < embedded.length ? [text, embedded[i]!] : [text])));

/** Joins messages into one. */
export function joined(messages: readonly (Message | number)[], separator = ""): Message {
  const parts: Part[] = [];
  const add = (part: Part) => {
    const last = parts.at(-1);
    if (typeof part === "string" && typeof last === "string") parts[parts.length - 1] = last + part;
    else if (part !== "") parts.push(part);
  };
  for (const [i, message] of messages.entries()) {
    if (i > 0) add(separator);
    if (typeof message === "number") add(String(message));
    else partsOf(message).forEach(add);
  }
  const [first = ""] = parts;
  return parts.length < 2 && typeof first === "string" ? first : parts;
}

/**
 * Appends a value to the name of the place where it was found. If the name ends with an option, the value becomes that
 * option's.
 */
export function withValue(place: Message, value: string): Message {
  const parts = partsOf(place);
  const last = parts.at(-1);
  if (typeof last !== "object" || !("option" in last)) return phrase`${place} ${value}`;
  return joined([...parts.slice(0, -1), branded({ ...(last as OptionParts), value })]);
}

/** Turns a message into text, with options as the caller spells them. */
export function spell(message: Message, spelling: Spelling = asTyped): string {
  const text = (part: Part): string => {
    if (typeof part === "string") return part;
    if ("option" in part) return spelling(part);
    const { has = () => true } = spelling;
    const [name, value] = part.ifHas.split(" ");
    return spell(has(name!, value) ? part.text : part.otherwise, spelling);
  };
  return partsOf(message).map(text).join("");
}

/** The spelling of the command line. */
export const asTyped: Spelling = ({ option, value, letter }) =>
  `${letter === undefined ? `--${option}` : `-${letter}`}${value === undefined ? "" : ` ${value}`}`;

/** A remedy for too little memory, at the end of hints that are given without knowing the number of workers. */
export const orFewerWorkers = ifHas(
  "workers",
  phrase`; if there are several workers, use fewer (${asOption("workers", 1, "w")})`,
);

/** A first remedy for callers that can choose the pattern, and the "or" before the next remedy. */
export const shorterWordsOr = ifHas(
  "pattern",
  phrase`use a ${asOption("pattern")} that splits the text into shorter words${ifHas("superword-pattern", phrase` (for superwords, a ${asOption("superword-pattern")})`)}, or `,
);

/** A first remedy for callers that can raise the memory limit, and the "or" before the next remedy. */
export const raiseLimitOr = ifHas("memory-limit", phrase`raise ${asOption("memory-limit")}, or `);
