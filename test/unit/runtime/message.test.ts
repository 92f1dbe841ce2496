import { expect, test } from "bun:test";
import { spellInLibrary } from "../../../src/library/library.ts";
import { pythonSpelling } from "../../../src/options/python-spelling.ts";
import { UserError } from "../../../src/runtime/errors.ts";
import * as messages from "../../../src/runtime/message.ts";
import { asOption, type Message, phrase } from "../../../src/runtime/message.ts";

const small = phrase`${asOption("vocab-size", 300)} is too small: ${phrase`with ${asOption("bos")}`} it is ${400}`;

test("the type checker refuses a message that would become [object Object]", () => {
  const texts: Message[] = [small, asOption("bos")];
  // @ts-expect-error
  expect(texts.map((message) => `bad: ${message}`).join()).toContain("[object Object]");
  expect(texts.map((message) => messages.spell(phrase`good: ${message}`)).join()).not.toContain("object");
});

test("each caller spells the options of a message, and the rest is the same", () => {
  expect(messages.spell(small)).toBe("--vocab-size 300 is too small: with --bos it is 400");
  expect(messages.spell(small, spellInLibrary)).toBe(
    "vocabSize 300 is too small: with model.roles.bos it is 400",
  );
  expect(messages.spell(small, pythonSpelling(true))).toBe("vocab_size=300 is too small: with bos it is 400");
  const quoted = phrase`"--pad-to" is no ${asOption("pad-to")}`;
  expect(messages.spell(quoted)).toBe('"--pad-to" is no --pad-to');
  expect(messages.spell(quoted, spellInLibrary)).toBe('"--pad-to" is no padTo');
});

test("the command line prints a letter if the message has one", () => {
  const fewer = phrase`use fewer workers (${asOption("workers", 1, "w")})`;
  expect(messages.spell(fewer)).toBe("use fewer workers (-w 1)");
  expect(messages.spell(fewer, spellInLibrary)).toBe("use fewer workers (workers 1)");
  expect(messages.spell(fewer, pythonSpelling(true))).toBe("use fewer workers (workers=1)");
});

test("Python's values are those of the parameter", () => {
  const spelled = (option: string, value: string, hasParameters = true) =>
    messages.spell(asOption(option, value), pythonSpelling(hasParameters));
  expect(spelled("special-token", "'<|pad|>'")).toBe("special_tokens=['<|pad|>']");
  expect(spelled("special-token", "'<|end|>=7'")).toBe("special_tokens={'<|end|>': 7}");
  expect(spelled("special-token", "'<|end|>=7'", false)).toBe("special_token='<|end|>=7'");
  expect(spelled("memory-limit", "115MB")).toBe('memory_limit="115MB"');
  expect(spelled("vocab-size", "300")).toBe("vocab_size=300");
  expect(spelled("special-token", "'<|pad|>'", false)).toBe("special_token='<|pad|>'");
  expect(spelled("language", "en=corpus/en")).toBe('languages={"en": "corpus/en"}');
  expect(spelled("compat", "rustbpe")).toBe('compat="rustbpe"');
  expect(spelled("vocab-size", "+8k")).toBe('vocab_size="+8k"');
  expect(spelled("seed-tokens", '"a.txt"')).toBe('seed_tokens_file="a.txt"');
  expect(spelled("ids-format", "part")).toBe('ids_format="part"');
});

test("the library leaves unknown options as typed", () => {
  expect(messages.spell(asOption("shard-size", "100M"), spellInLibrary)).toBe("--shard-size 100M");
});

test("text may depend on what the caller has, and an empty hint is none", () => {
  const has = (spelling: messages.Spelling | undefined, option: string) =>
    messages.spell(
      phrase`a${messages.ifHas(option, phrase` with ${asOption("bos")}`, " without")}`,
      spelling,
    );
  expect(has(undefined, "-")).toBe("a with --bos");
  expect(has(spellInLibrary, "memory-limit")).toBe("a with model.roles.bos");
  expect(has(spellInLibrary, "input-format text")).toBe("a with model.roles.bos");
  for (const option of ["-", "shard-size", "ranges"]) expect(has(spellInLibrary, option)).toBe("a without");
  const onlyText = Object.assign(() => "x", {
    has: (name: string, value?: string) => `${name}=${value}` === "f=text",
  });
  expect([has(onlyText, "f text"), has(onlyText, "f json")]).toEqual(["a with x", "a without"]);
  const memory = phrase`${messages.raiseLimitOr}split the text${messages.orFewerWorkers}`;
  const none = Object.assign(() => "x", { has: () => false });
  expect([spellInLibrary, none].map((spelling) => messages.spell(memory, spelling))).toEqual([
    "raise memoryLimitBytes, or split the text; if there are several workers, use fewer (workers 1)",
    "split the text",
  ]);
  const error = new UserError("wrong", { hint: messages.ifHas("-", "pipe it") });
  expect([error.hint, error.spelled(spellInLibrary).hint]).toEqual(["pipe it", undefined]);
});

test("text without options is a string", () => {
  expect(phrase`a ${1} ${"b"} ${phrase`c`}`).toBe("a 1 b c");
  expect(phrase``).toBe("");
  expect(messages.joined(["a", phrase`b`], "; ")).toBe("a; b");
  expect(messages.spell(messages.joined([asOption("a"), asOption("b", 2)], ", "))).toBe("--a, --b 2");
});

test("a value is attached to the option before it, or else to the text", () => {
  expect(messages.withValue(asOption("cache"), '"c"')).toEqual([asOption("cache", '"c"')]);
  expect(
    messages.spell(messages.withValue(phrase`see ${asOption("cache")}`, "c"), pythonSpelling(true)),
  ).toBe('see cache="c"');
  expect(messages.withValue("texts", "3")).toBe("texts 3");
});

test("an error has its texts as typed, and as spelled by a caller", () => {
  const error = new UserError(small, { hint: phrase`give ${asOption("pad-to", 8)}` });
  expect([error.message, error.hint]).toEqual([messages.spell(small), "give --pad-to 8"]);
  expect(error.spelled(spellInLibrary)).toEqual({
    message: messages.spell(small, spellInLibrary),
    hint: "give padTo 8",
  });
  expect(new UserError("plain").spelled()).toEqual({ message: "plain", hint: undefined });
});
