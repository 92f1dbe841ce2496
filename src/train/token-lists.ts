import { json, schema, showValue } from "#bytes";
import { kinds, optionTables, trainingOptions } from "#options";
import { asOption, type Message, messages, phrase, UserError, usageError } from "#runtime";
import type { TypedOptions } from "#terminal";
import { vocabularies } from "#tokenizer";

// Files that list tokens: one in each line, or as a JSON list. For special tokens, also a tokenizer.json.

/** A token, with its place for errors: `line 3 of --seed-tokens "terms.txt"`. */
type ListedToken = { readonly token: string; readonly place: Message };

/** Returns the tokens in the file that an option names. */
export const readTokenList = (option: Message, path: string): string[] =>
  listedIn(option, path, kinds.readTextFile(option, path)).map(({ token }) => token);

/**
 * Whether a file is JSON: its name ends in .json, or its content begins like an object or a list of strings. A file
 * that begins with `[PAD]` does not, so it is read as lines.
 */
const isJson = (path: string, content: string) =>
  /\.json$/i.test(path) || /^\s*(\[\s*["\]]|\{\s*["}])/.test(content);

/** Returns the tokens of a file with their places. Lines may end in CRLF, and empty lines are skipped. */
function listedIn(option: Message, path: string, content: string): ListedToken[] {
  const file = messages.withValue(option, `"${path}"`);
  const listed = isJson(path, content)
    ? textsIn(file, json.parse(content, path)).map((token, i) => ({
        token,
        place: phrase`item ${i + 1} of ${file}`,
      }))
    : content
        .split(/\r?\n/)
        .map((token, i) => ({ token, place: phrase`line ${i + 1} of ${file}` }))
        .filter(({ token }) => token !== "");
  if (listed.length === 0)
    throw new UserError(phrase`${file} has no token`, { hint: "write one token on each line" });
  const zero = listed.find(({ token }) => token.includes("\0"));
  if (zero !== undefined && !isJson(path, content)) {
    throw new UserError(phrase`${zero.place}: there is a zero byte`, {
      hint: "save the file as UTF-8, not as UTF-16",
    });
  }
  return listed;
}

/** Returns the texts of a JSON list. In messages, items count from 1, as lines do. */
function textsIn(file: Message, value: unknown): string[] {
  if (!Array.isArray(value))
    throw new UserError(phrase`${file} is not a list of texts: it is ${showValue(value)}`, {
      hint: 'write a JSON list, such as ["one", "two"]',
    });
  const wrong = value.findIndex((item) => typeof item !== "string" || !item.isWellFormed());
  if (wrong < 0) return value;
  const [item, isText] = [showValue(value[wrong]), typeof value[wrong] === "string"];
  throw new UserError(
    phrase`${file} is not a list of texts: item ${wrong + 1} is ${item}${isText ? ", which contains half of a surrogate pair" : ""}`,
    { hint: isText ? "write the whole character" : "put each token in quotation marks" },
  );
}

const specialOption = asOption("special-tokens");
/** The place of tokens that were typed. */
const typedPlace: Message = asOption("special-token");

/**
 * Sets the values of `--special-token` to those typed and the tokens in the files of `--special-tokens`, in the order
 * in which both options were typed. If `takesIds` is true, a token whose file states its id becomes `TEXT=ID`.
 */
export function takeSpecialTokens(
  options: TypedOptions,
  takesIds: boolean,
  warn: (message: Message) => void,
): void {
  const taken = new Map<string, Message>();
  const all: string[] = [];
  for (const [name, value] of options.inOrder) {
    const isFile = name === "special-tokens";
    if (!isFile && name !== "special-token") continue;
    const listed = isFile ? readSpecialTokens(value, takesIds, warn) : [{ token: value, place: typedPlace }];
    for (const { token, place } of listed) {
      const before = taken.get(token);
      // If both tokens were typed, the command itself reports that a token is given twice.
      if (before !== undefined && (isFile || before !== place)) {
        throw usageError(
          phrase`${place}: special token "${token}" is given twice`,
          phrase`remove one of the two; the other is ${before === typedPlace ? "a value of" : "in"} ${before}`,
        );
      }
      if (isFile && !takesIds) checkAt(place, token, options);
      taken.set(token, place);
      all.push(token);
    }
  }
  options.set("special-token", all);
}

/**
 * Throws an error that names the place of a special token that the trainer forbids. If `--like` or `--extend` will
 * choose the trainer, huggingface's rule is used here, because it forbids least.
 */
function checkAt(place: Message, token: string, options: TypedOptions): void {
  const isRuleElsewhere = ["like", "extend"].some((name) => options.has(name));
  const asked =
    optionTables.readTyped({ compat: trainingOptions.compat }, options).compat ??
    (isRuleElsewhere ? "huggingface" : "cs336");
  try {
    vocabularies.checkSpecialTokens([token], asked === "extension" ? "huggingface" : asked);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw usageError(phrase`${place}: ${error.parts.message}`, error.parts.hint);
  }
}

function readSpecialTokens(
  path: string,
  takesIds: boolean,
  warn: (message: Message) => void,
): readonly ListedToken[] {
  const content = kinds.readTextFile(specialOption, path);
  if (/^\s*\{/.test(content) && isJson(path, content)) return specialTokensOf(path, content, takesIds, warn);
  const listed = listedIn(specialOption, path, content);
  const isList = isJson(path, content);
  for (const { token, place } of listed) {
    if (token === "")
      throw new UserError(phrase`${place}: the special token is empty`, { hint: "remove it from the list" });
    if (!isList && token !== token.trim()) {
      throw new UserError(
        phrase`${place}: "${token}" has white space at its ${/^\s/.test(token) ? "start" : "end"}`,
        {
          hint: `remove the white space; if it belongs to the token, write a JSON list: [${JSON.stringify(token)}]`,
        },
      );
    }
  }
  return listed;
}

/** The fields to read from a tokenizer.json in HF's form. */
const addedTokens = schema.object({
  added_tokens: schema.list(
    schema.object({
      id: schema.wholeNumber(),
      content: schema.text,
      special: schema.flag,
      lstrip: schema.optional(schema.flag),
      rstrip: schema.optional(schema.flag),
      single_word: schema.optional(schema.flag),
      normalized: schema.optional(schema.flag),
    }),
  ),
});
const lostFlags = ["lstrip", "rstrip", "single_word", "normalized"] as const;

/** Returns the special tokens of a tokenizer.json, in the order of their ids. Their other settings are dropped. */
function specialTokensOf(
  path: string,
  content: string,
  takesIds: boolean,
  warn: (message: Message) => void,
): ListedToken[] {
  const file = messages.withValue(specialOption, `"${path}"`);
  const { added_tokens } = schema.checkOr(addedTokens, json.parse(content, path), (what) => {
    throw new UserError(phrase`${file} is not a tokenizer.json: ${what}`, {
      hint: "name a tokenizer.json, or write a JSON list or a file with one special token on each line",
    });
  });
  const special = added_tokens.filter(({ special }) => special).sort((a, b) => a.id - b.id);
  if (special.length === 0)
    throw new UserError(phrase`${file} has no special token`, {
      hint: "name a tokenizer.json with special tokens, or a file with one on each line",
    });
  const lost = special.flatMap((token) => {
    const flags = lostFlags.filter((name) => token[name]);
    return flags.length === 0 ? [] : `"${token.content}" ${flags.join(", ")}`;
  });
  if (lost.length > 0)
    warn(phrase`${file}: these settings of its special tokens are dropped: ${lost.join("; ")}`);
  return special.map(({ id, content }) => {
    if (content === "")
      throw new UserError(phrase`${file}: the special token with the id ${id} is empty`, {
        hint: "remove it from added_tokens in that file",
      });
    return { token: takesIds ? `${content}=${id}` : content, place: phrase`id ${id} of ${file}` };
  });
}
