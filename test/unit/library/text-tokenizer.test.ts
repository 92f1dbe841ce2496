import { expect, test } from "bun:test";
import { inspect } from "node:util";
import { runInNewContext } from "node:vm";
import { Tokenizer as HuggingFace } from "tokenizers";
import { TextTokenizer } from "../../../src/library/text-tokenizer.ts";
import { Tokenizer } from "../../../src/library/tokenizer.ts";
import { TextEncoding } from "../../../src/tokenizer/text-encoding.ts";
import { nameObstacle } from "../../../src/tokenizer/token-table.ts";
import { rounds } from "../../rounds.ts";
import { errorOf, refusalOf } from "../../thrown.ts";
import { madeTrial } from "../text/made-trials.ts";
import { madeText } from "../tokenizer/made-merges.ts";
import { jsonOf, specialTokens, writeTokenizer } from "../tokenizer/made-tokenizer.ts";

const seed = Number(process.env.TEST_SEED ?? 67);
const base = jsonOf(writeTokenizer("gpt2"));
const tokenizer = TextTokenizer.from(base);

/** Returns the tokenizer, or null if its file is refused. */
function made(json: object): TextTokenizer | null {
  try {
    return TextTokenizer.from(json);
  } catch {
    return null;
  }
}

test("count returns how many ids encode gives, and with a limit whether there are more", () => {
  let moreCount = 0;
  for (let trial = 0; trial < rounds(75); trial++) {
    const { json, texts } = madeTrial(base, seed * 1_000_003 + trial);
    const tokenizer = made(json);
    if (tokenizer === null) continue;
    for (const [turn, text] of [...texts, texts.join(" ").repeat(10)].entries()) {
      const options = { specialTokensAsText: turn % 2 === 0 };
      const { length } = tokenizer.encode(text, options);
      const limits = [0, 1, length - 1, length, length + 1, (trial * 7) % 40].filter((limit) => limit >= 0);
      const about = { seed, trial, text, limits };
      const counted = limits.map((limit) => tokenizer.count(Buffer.from(text), { ...options, limit }));
      expect({ about, counted }).toEqual({
        ...{ about, counted: limits.map((limit) => Math.min(length, limit + 1)) },
      });
      expect(tokenizer.count(text, options)).toBe(length);
      moreCount += counted.filter((count, i) => count > limits[i]!).length;
    }
  }
  expect(moreCount).toBeGreaterThan(rounds(300));
});

test("with a limit only the necessary part of a text is read, and no state of it remains", () => {
  const encoding = new TextEncoding(tokenizer.parts);
  const text = madeText(3, 20_000);
  const readTo = (limit: number) => encoding.pushUntil(text, limit, false);
  expect(readTo(0)).toBeLessThan(200);
  expect(encoding.out.count).toBe(0);
  expect(readTo(10)).toBeLessThan(300);
  const end = readTo(1000);
  expect(tokenizer.encode(text.slice(0, end)).length).toBeLessThan(2000);
  expect(readTo(Number.POSITIVE_INFINITY)).toBe(text.length);
  expect([encoding.pendingBytes, encoding.out.count]).toEqual([0, 0]);
  expect(tokenizer.count("a", { limit: 5 })).toBe(1);
  // A character of a string is never split between two steps.
  expect(tokenizer.count("🦊".repeat(100), { limit: 1000 })).toBe(tokenizer.encode("🦊".repeat(100)).length);
});

test("a text is read up to four bytes for each id, and then by quarters of the part read", () => {
  const encoding = new TextEncoding(tokenizer.parts);
  expect(encoding.pushUntil("a!".repeat(1000), 63, false)).toBe(256);
  // 64 bytes contain two whole tokens of 26 bytes, so more than one id is certain.
  expect(encoding.pushUntil(specialTokens[1]!.repeat(10), 1, false)).toBe(64);
  expect(encoding.pushUntil(specialTokens[1]!.repeat(10), 2, false)).toBe(128);
  let pushCount = 0;
  const push = encoding.push.bind(encoding);
  encoding.push = (...bytes) => {
    pushCount++;
    push(...bytes);
  };
  encoding.pushUntil("a".repeat(100_000), 0, false);
  expect(pushCount).toBeWithin(30, 45);
});

test("a batch has the ids of each text, end to end, and their offsets", () => {
  const texts = ["", "low lower", specialTokens[0]!, "", Buffer.from([0xff, 0x41]), madeText(5, 2000)];
  for (const specialTokensAsText of [false, true]) {
    const { ids, offsets } = tokenizer.encodeBatch(texts, { specialTokensAsText });
    expect(offsets.length).toBe(texts.length + 1);
    texts.forEach((text, i) => {
      const wanted = [...tokenizer.encode(text, { specialTokensAsText })];
      expect([...ids.slice(offsets[i], offsets[i + 1])]).toEqual(wanted);
    });
    expect(ids.length).toBe(offsets.at(-1)!);
  }
  expect(tokenizer.encodeBatch([])).toEqual({ ids: new Uint32Array(0), offsets: new Int32Array(1) });
  expect(() => tokenizer.encodeBatch(["a", 5 as never])).toThrow("encodeBatch: texts[1] is 5");
  expect(() => tokenizer.encodeBatch("a" as never)).toThrow(
    'encodeBatch: texts is "a", but must be an array',
  );
  // No state of the failed encoding remains.
  expect([...tokenizer.encode("a")]).toEqual([..."a"].map((letter) => base.model.vocab[letter]!));
});

test("mistakes are reported with their value", () => {
  const wrong = (call: () => unknown, message: string) => expect(call).toThrow(message);
  wrong(
    () => tokenizer.count("a", { limit: -1 }),
    "count: limit is -1, but must be a whole number of 0 or more",
  );
  wrong(() => tokenizer.count("a", { limit: Number.NaN }), "count: limit is NaN");
  wrong(() => tokenizer.count("a", { limits: 1 } as never), 'count has no option "limits"');
  wrong(() => tokenizer.truncate("a", 0.5), "truncate: limit is 0.5");
  wrong(() => tokenizer.truncate("a", undefined as never), "truncate: limit is missing");
  wrong(() => tokenizer.truncate("a", 1, { keep: "middle" as never }), "must be one of start, end");
  wrong(() => tokenizer.chunks("a", 0), "chunks: size is 0, but must be a whole number of 1 or more");
  wrong(
    () => tokenizer.chunks("a", 5, { overlap: 5 }),
    "chunks: overlap is 5, but must be a whole number from 0 to 4",
  );
  wrong(() => tokenizer.chunks(5 as never, 5), "chunks: text is 5");
  expect(tokenizer.chunks("", 5)).toEqual([]);
  expect(tokenizer.truncate("", 0)).toBe("");
  expect(tokenizer.count("")).toBe(0);
});

test("tokens have HF's names, including added ones; two tokens with one id are an error", async () => {
  for (let trial = 0; trial < rounds(30); trial++) {
    const { json, texts } = madeTrial(base, seed * 2_000_003 + trial);
    const tokenizer = made(json);
    if (tokenizer === null) continue;
    if (nameObstacle(tokenizer.parts.tokens) !== undefined) {
      expect(() => tokenizer.tokenToId("a")).toThrow("two tokens of the files have the same id");
      continue;
    }
    const theirs = HuggingFace.fromString(JSON.stringify(json));
    for (const [token, id] of Object.entries(theirs.getVocab(true))) {
      expect([trial, token, tokenizer.tokenToId(token)]).toEqual([trial, token, id]);
      expect([trial, id, tokenizer.idToToken(id)]).toEqual([trial, id, token]);
    }
    const [text] = texts;
    const { length } = tokenizer.encode(text!);
    const tokens = tokenizer.tokenize(text!);
    expect(tokens.map((token) => tokenizer.tokenToId(token)!)).toEqual([...tokenizer.encode(text!)]);
    expect(tokens).toHaveLength(length);
  }
  expect(tokenizer.tokenToId("no such token")).toBeUndefined();
  expect(tokenizer.idToToken(tokenizer.idLimit)).toBeUndefined();
  expect(tokenizer.tokenize(" the")[0]).toStartWith("Ġ");
  expect(tokenizer.vocabSize).toBe(tokenizer.size);
});

test("preTokenize cuts like the pattern, and at added tokens; a byte order mark stays", () => {
  const [special] = specialTokens;
  const gpt2 = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;
  for (const text of ["I'm  here, 42é 日本!\n\n x", madeText(4, 50), "\ufeffa b", ""])
    expect(tokenizer.preTokenize(text)).toEqual([...text.matchAll(gpt2)].map(([piece]) => piece));
  expect(tokenizer.preTokenize(`a b${special}c`)).toEqual(["a", " b", special!, "c"]);
});

test("names from other packages are refused with our names", () => {
  const call = (name: string) => () => (tokenizer as unknown as Record<string, () => void>)[name]!();
  expect(call("add_special_tokens")).toThrow("a Tokenizer has no method add_special_tokens");
  expect(errorOf(call("encode_ordinary")).hint).toContain("specialTokensAsText: true");
  expect(errorOf(call("apply_chat_template")).hint).toContain("AutoTokenizer");
  expect(Object.keys(tokenizer)).not.toContain("free");
});

test("returned arrays belong to the caller: writing to them or transferring them changes no later answer", () => {
  const text = "low lower lowest";
  const answers = () => [
    tokenizer.decode(tokenizer.encode(text)),
    tokenizer.tokenBytes(97),
    tokenizer.encode(text),
    tokenizer.encodeBatch([text]),
    tokenizer.notes,
    tokenizer.specialTokens,
    tokenizer.truncate(Buffer.from(text), 2),
    tokenizer.chunks(Buffer.from(text), 2),
    tokenizer.stream().push([...tokenizer.encode(text)]),
  ];
  const before = structuredClone(answers());
  const given = answers();
  const arrays = given.flatMap((answer) =>
    ArrayBuffer.isView(answer) ? [answer as Uint8Array] : Array.isArray(answer) ? answer : [],
  );
  for (const array of arrays.filter((one) => ArrayBuffer.isView(one))) {
    (array as Uint8Array).fill(7);
    structuredClone(array, { transfer: [(array as Uint8Array<ArrayBuffer>).buffer] });
  }
  (given[4] as string[]).push("a note");
  (given[5] as Map<string, number>).clear();
  expect(answers()).toEqual(before);
});

test("a caller's bytes are not changed, and returned parts do not change with them", () => {
  const bytes = Buffer.from("low lower lowest");
  const whole = tokenizer.truncate(bytes, 100);
  const cut = tokenizer.truncate(bytes, 2);
  const [piece] = tokenizer.chunks(bytes, 2);
  const [uncut] = tokenizer.chunks(bytes, 100);
  expect(bytes.toString()).toBe("low lower lowest");
  bytes.fill(0);
  for (const array of [whole, cut, piece!, uncut!]) expect(array[0]).toBe("l".charCodeAt(0));
  expect(whole).toEqual(uncut!);
});

test("an id without a token, whole or not, has no bytes and no name", () => {
  const all = tokenizer.idLimit;
  for (const id of [
    0.5,
    1.5,
    -1,
    -0.5,
    all,
    all + 0.5,
    2 ** 32,
    2 ** 53,
    Number.NaN,
    Number.POSITIVE_INFINITY,
  ]) {
    expect([id, tokenizer.tokenBytes(id).length, tokenizer.idToToken(id)]).toEqual([id, 0, undefined]);
    const message = `id ${id} at position 1 is not in the vocabulary`;
    expect(() => tokenizer.decode([97, id])).toThrow(message);
    expect(() => tokenizer.stream().push([97, id])).toThrow(message);
  }
  expect([...tokenizer.tokenBytes(-0)]).toEqual([...tokenizer.tokenBytes(0)]);
  for (const id of ["1", 1n, null, {}, [1]] as never[]) {
    expect(() => tokenizer.tokenBytes(id)).toThrow("tokenBytes: id is");
    expect(() => tokenizer.idToToken(id)).toThrow("idToToken: id is");
    expect(() => tokenizer.decode([97, id])).toThrow("decode: ids[1] is");
  }
});

test("holes in arrays are mistakes, and an array or options that change while they are read are read once", () => {
  const withHole = <T>(...list: T[]) => {
    delete list[1];
    return list;
  };
  expect(() => tokenizer.encodeBatch(withHole("a", "-", "b"))).toThrow("encodeBatch: texts[1] is missing");
  expect(() => tokenizer.decode(withHole(97, 1, 98))).toThrow(
    "decode: ids[1] is missing; it must be a number",
  );
  const wanted = tokenizer.encodeBatch(["a", "b"]);
  class Odd<T> extends Array<T> {
    override forEach(): void {}
    override every(): this is never {
      return true;
    }
  }
  expect(tokenizer.encodeBatch(Odd.of("a", "b"))).toEqual(wanted);
  expect(() => tokenizer.encodeBatch(Odd.from<unknown>(["a", 5]) as never)).toThrow("texts[1] is 5");
  expect(() => tokenizer.decode(Odd.from<unknown>([97, "a"]) as never)).toThrow('decode: ids[1] is "a"');
  const reads = new Map<string, number>();
  const changing = new Proxy(["a", "b"], {
    get(target, key, receiver) {
      const count = (reads.get(String(key)) ?? 0) + 1;
      reads.set(String(key), count);
      return count > 1 && /^[01]$/.test(String(key)) ? 5 : Reflect.get(target, key, receiver);
    },
  });
  expect(tokenizer.encodeBatch(changing)).toEqual(wanted);
  const [special] = specialTokens;
  let readCount = 0;
  const options = {
    get specialTokensAsText() {
      return ++readCount > 1 ? (5 as never) : true;
    },
  };
  const asText = tokenizer.encode(special!, { specialTokensAsText: true });
  expect(tokenizer.encode(special!, options)).toEqual(asText);
  expect(readCount).toBe(1);
});

test("a mistake keeps the tokenizer's memory: the next text needs no new one", () => {
  const tokenizer = TextTokenizer.from(base);
  tokenizer.encode("a");
  const instanceCount = countMade("Instance", () => {
    const wrong = [
      () => tokenizer.encodeBatch(["a", 5 as never]),
      () => tokenizer.encode(5 as never),
      () => tokenizer.count("a", { limit: -1 }),
      () => tokenizer.chunks("a", 0),
      () => tokenizer.truncate("a", -1),
    ];
    for (const call of wrong) {
      expect(call).toThrow();
      tokenizer.encode("a");
    }
  });
  expect(instanceCount).toBe(0);
});

/** Returns how many objects of a WebAssembly class the work makes. With `error`, making one throws it. */
function countMade(name: "Instance" | "Memory", work: () => void, error?: Error): number {
  const given = WebAssembly[name];
  let count = 0;
  WebAssembly[name] = new Proxy(given as never, {
    construct(target, args) {
      count++;
      if (error !== undefined) throw error;
      return Reflect.construct(target, args);
    },
  });
  try {
    work();
  } finally {
    WebAssembly[name] = given as never;
  }
  return count;
}

test("special tokens are found, or are text, with one memory, in any order of such calls", () => {
  const [special] = specialTokens;
  const text = `low${special}lower ${special}`;
  const tokensIn = (ids: Uint32Array) =>
    ids.reduce((count, id) => count + Number(id === base.added_tokens[0]!.id), 0);
  for (const order of [
    [false, true, true, false, true],
    [true, false, true, true, false],
  ]) {
    const tokenizer = TextTokenizer.from(base);
    const memoryCount = countMade("Memory", () => {
      for (const specialTokensAsText of order) {
        for (const part of [text, text.repeat(20_000), ""]) {
          const alone = new TextEncoding({ ...tokenizer.parts, specialTokensAsText });
          alone.pushText(Buffer.from(part), 0, part.length);
          const ids = tokenizer.encode(part, { specialTokensAsText });
          expect(
            Buffer.compare(Buffer.from(ids.buffer), Buffer.from(new Uint32Array(alone.out.flush()).buffer)),
          ).toBe(0);
          expect(tokensIn(ids) > 0).toBe(!specialTokensAsText && part !== "");
          expect(tokenizer.count(part, { specialTokensAsText, limit: 5 })).toBe(Math.min(6, ids.length));
          expect(tokenizer.chunks(part.slice(0, 500), 7, { specialTokensAsText }).join("")).toBe(
            part.slice(0, 500),
          );
        }
      }
    });
    // Each encoder `alone` makes one memory. The tokenizer makes two: one for texts, and one for the tokens of texts
    // that it cuts.
    expect(memoryCount).toBe(order.length * 3 + 2);
  }
});

test("texts with and without special tokens have the ids of separate encoders, whatever the tokens are", () => {
  for (let trial = 0; trial < rounds(40); trial++) {
    const { json, texts } = madeTrial(base, seed * 3_000_017 + trial);
    const tokenizer = made(json);
    if (tokenizer === null) continue;
    for (const [turn, text] of [...texts, ...texts].entries()) {
      const specialTokensAsText = (turn * 7 + trial) % 3 !== 0;
      const alone = new TextEncoding({ ...tokenizer.parts, specialTokensAsText });
      const bytes = Buffer.from(text);
      alone.pushText(bytes, 0, bytes.length);
      const about = { seed, trial, turn, specialTokensAsText };
      const ids = [...tokenizer.encode(text, { specialTokensAsText })];
      expect({ about, ids }).toEqual({ about, ids: [...alone.out.flush()] });
    }
  }
});

test("where the engine refuses WebAssembly, or memory for it, the error says what to do", () => {
  const refusals: [error: Error, message: RegExp, hint: RegExp][] = [
    [
      new WebAssembly.CompileError("disallowed by embedder"),
      /^WebAssembly is not allowed here: dis/,
      /'wasm-unsafe-eval'/,
    ],
    [new EvalError("Refused"), /^WebAssembly is not allowed here: Refused/, /Content-Security-Policy/],
    [
      new RangeError("WebAssembly.Memory(): could not allocate memory"),
      /cannot allocate another WebAssembly memory/,
      /one tokenizer for many/,
    ],
  ];
  for (const [refusal, message, hint] of refusals) {
    for (const name of ["Instance", "Memory"] as const) {
      const tokenizer = TextTokenizer.from(base);
      countMade(
        name,
        () => {
          const error = errorOf(() => tokenizer.encode("a"));
          expect([error.name, error.message, error.hint]).toEqual([
            "UserError",
            expect.stringMatching(message),
            expect.stringMatching(hint),
          ]);
        },
        refusal,
      );
      expect(tokenizer.encode("a")).toHaveLength(1);
    }
  }
});

test("bytes, ids and options of another realm, such as a frame, are accepted", () => {
  const there = runInNewContext(
    `({ bytes: new Uint8Array([108, 111, 119]), ids: new Uint32Array([97]), narrow: new Uint16Array([97]), list: [97],
    options: { specialTokensAsText: true }, texts: ["low"], map: new Map(), wrong: new Uint8ClampedArray([97]),
    bytesOf: (bytes) => new Uint8Array(bytes) })`,
  );
  expect(there.bytes).not.toBeInstanceOf(Uint8Array);
  const ids = tokenizer.encode("low");
  expect(tokenizer.encode(there.bytes, there.options)).toEqual(ids);
  expect(tokenizer.count(there.bytes)).toBe(ids.length);
  expect(Buffer.from(tokenizer.truncate(there.bytes as Uint8Array, 100)).toString()).toBe("low");
  expect(tokenizer.preTokenize(there.bytes)).toEqual(["low"]);
  expect(tokenizer.encodeBatch(there.texts).ids).toEqual(ids);
  for (const ids of [there.ids, there.narrow, there.list])
    expect([...tokenizer.decodeBytes(ids)]).toEqual([...tokenizer.decodeBytes([97])]);
  const file = there.bytesOf(Buffer.from(JSON.stringify(base)));
  expect(TextTokenizer.from(file).encode("low")).toEqual(ids);
  expect(() => tokenizer.encode("low", there.map)).toThrow("encode: options is an object of Map");
  expect(() => tokenizer.encode(there.wrong)).toThrow("encode: text is an object of Uint8ClampedArray");
});

test("an array whose memory was transferred is refused, not treated as empty", () => {
  const gone = <T extends Uint8Array | Uint32Array>(array: T): T => {
    structuredClone(array, { transfer: [array.buffer as ArrayBuffer] });
    return array;
  };
  const calls = [
    () => tokenizer.encode(gone(new Uint8Array(3))),
    () => tokenizer.count(gone(new Uint8Array(3))),
    () => tokenizer.truncate(gone(new Uint8Array(3)), 5),
    () => tokenizer.chunks(gone(new Uint8Array(3)), 5),
    () => tokenizer.preTokenize(gone(new Uint8Array(3))),
    () => tokenizer.encodeBatch(["a", gone(new Uint8Array(3))]),
    () => tokenizer.decode(gone(new Uint32Array(3))),
    () => TextTokenizer.from(gone(new Uint8Array(3))),
  ];
  for (const call of calls)
    expect(errorOf(call).message).toContain("is a detached array: its buffer was transferred");
  expect(tokenizer.encode(new Uint8Array(0))).toHaveLength(0);
});

test("shared and resizable memory is read like other bytes, but a proxy is not", () => {
  const bytes = Buffer.from("low lower");
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  const growing = new Uint8Array(new ArrayBuffer(bytes.length, { maxByteLength: 100 }));
  for (const given of [shared, growing]) {
    given.set(bytes);
    expect(tokenizer.encode(given)).toEqual(tokenizer.encode(bytes));
    expect(tokenizer.preTokenize(given)).toEqual(["low", " lower"]);
    const cut = tokenizer.truncate(given, 2);
    expect(cut).toEqual(tokenizer.truncate(bytes, 2));
    expect(cut.buffer).toBeInstanceOf(ArrayBuffer);
  }
  const message = "encode: text is an object of Uint8Array, but must be a string or bytes";
  expect(() => tokenizer.encode(new Proxy(bytes, {}))).toThrow("encode: text is");
  expect(() => tokenizer.encode(new Proxy(new Uint8Array(3), {}))).toThrow(message);
});

test("consoles and JSON show a short description of a tokenizer, not its contents", () => {
  const facts = { kind: "tokenizer.json", vocabSize: tokenizer.size, specialTokenCount: 2, pattern: "gpt2" };
  expect(tokenizer.toJSON()).toEqual({ ...facts, specialTokenCount: tokenizer.specialTokens.size });
  const shown = `Tokenizer ${JSON.stringify(tokenizer)}`;
  expect(inspect(tokenizer)).toBe(shown);
  expect(Bun.inspect(tokenizer)).toBe(shown);
  const there = tokenizer as unknown as Record<symbol, () => string>;
  expect(there[Symbol.for("Deno.customInspect")]!()).toBe(shown);
  expect(inspect(tokenizer.stream()).length).toBeLessThan(100);
  // Node also inspects the prototype.
  expect(inspect(TextTokenizer.prototype).length).toBeLessThan(100);
});

test("decode omits special tokens on request, and replaces bytes that are not UTF-8", () => {
  const [special] = specialTokens;
  const ids = [...tokenizer.encode(`\ufefflow${special}lower`), 0xff];
  expect(tokenizer.decode(ids)).toBe(`\ufefflow${special}lower\ufffd`);
  expect(tokenizer.decode(ids, { skipSpecialTokens: true })).toBe("\ufefflowlower\ufffd");
  expect([...tokenizer.decodeBytes(Uint16Array.from(ids), { skipSpecialTokens: true })]).toEqual([
    ...Buffer.concat([Buffer.from("\ufefflowlower"), Buffer.of(0xff)]),
  ]);
  const id = tokenizer.specialTokens.get(special!)!;
  for (const wrong of [Number.NaN, -1, tokenizer.idLimit]) {
    const call = () => tokenizer.decode([id, 97, wrong, wrong], { skipSpecialTokens: true });
    expect(call).toThrow(`id ${wrong} at position 2 is not in the vocabulary`);
  }
  // An added token that is not special is text.
  const json = structuredClone(base);
  json.added_tokens.push({ ...json.added_tokens[0]!, id: tokenizer.idLimit, content: "[x]", special: false });
  const other = TextTokenizer.from(json);
  expect(other.decode(other.encode(`[x]${special}`), { skipSpecialTokens: true })).toBe("[x]");
});

test("a stream may begin after other ids, omit special tokens, and skip unknown ids", () => {
  const [special] = specialTokens;
  const id = tokenizer.specialTokens.get(special!)!;
  const [a, b, ...rest] = Buffer.from("🦊");
  const stream = tokenizer.stream({ ids: [97, a!, b!], skipSpecialTokens: true, skipUnknownIds: true });
  expect(stream.push([id, -1, Number.NaN, ...rest, tokenizer.idLimit])).toBe("🦊");
  expect(stream.push(id)).toBe("");
  expect(tokenizer.stream({ ids: Uint32Array.of(97) }).push(98)).toBe("b");
  expect(() => tokenizer.stream({ skipSpecialTokens: true }).push([id, -1])).toThrow("id -1 at position 1");
  expect(() => tokenizer.stream({ ids: "a" as never })).toThrow('ids is "a"');
  expect(() => tokenizer.stream({ skip: true } as never)).toThrow('stream has no option "skip"');
});

test("ids around a text are those of HF's post-processors, or refused with the reason", async () => {
  const [cls, sep] = specialTokens.map((text) => [text, tokenizer.specialTokens.get(text)!] as const);
  const special = (text: string, id: number) => ({ [text]: { id: text, ids: [id], tokens: [text] } });
  const template = {
    type: "TemplateProcessing",
    single: [
      { SpecialToken: { id: cls![0], type_id: 0 } },
      { Sequence: { id: "A", type_id: 0 } },
      { SpecialToken: { id: sep![0], type_id: 0 } },
      { SpecialToken: { id: sep![0], type_id: 0 } },
    ],
    pair: [{ Sequence: { id: "A", type_id: 0 } }, { Sequence: { id: "B", type_id: 1 } }],
    special_tokens: { ...special(...cls!), ...special(...sep!) },
  };
  const roberta = { type: "RobertaProcessing", cls, sep, trim_offsets: true, add_prefix_space: false };
  const texts = ["", "low lower", specialTokens[0]!, "🦊"];
  for (const post_processor of [null, template, roberta]) {
    const json = { ...base, post_processor };
    const ours = TextTokenizer.from(json);
    const theirs = HuggingFace.fromString(JSON.stringify(json));
    const { ids, offsets } = ours.encodeBatch(texts, { addSpecialTokens: true });
    for (const [i, text] of texts.entries()) {
      const wanted = (await theirs.encode(text, null, { addSpecialTokens: true })).getIds();
      expect([...ours.encode(text, { addSpecialTokens: true })]).toEqual(wanted);
      expect([...ids.subarray(offsets[i], offsets[i + 1])]).toEqual(wanted);
    }
    expect(offsets.at(-1)).toBe(ids.length);
  }
  const twice = { ...template, single: [...template.single, template.single[1]!] };
  const odd = TextTokenizer.from({ ...base, post_processor: twice });
  expect(() => odd.encode("a", { addSpecialTokens: true })).toThrow(
    "special tokens cannot be added: the template",
  );
  expect([...odd.encode("a")]).toEqual([...tokenizer.encode("a")]);
});

test("a tokenizer.json is fetched by its URL, and errors name the URL and the reason", async () => {
  const server = Bun.serve({
    port: 0,
    fetch: ({ url }) => {
      if (url.endsWith("/tokenizer.json")) return new Response(JSON.stringify(base));
      if (url.endsWith("/late")) return new Promise<Response>(() => {});
      return url.endsWith("/text") ? new Response("a text") : new Response("none", { status: 404 });
    },
  });
  try {
    const at = (path: string) => new URL(path, server.url);
    const wanted = [...tokenizer.encode("low lower")];
    for (const { load } of [TextTokenizer, Tokenizer] as readonly (typeof TextTokenizer)[]) {
      expect([...(await load.call(TextTokenizer, at("tokenizer.json"))).encode("low lower")]).toEqual(wanted);
      await expect(load(at("none"))).rejects.toThrow(`"${at("none")}" cannot be fetched: 404 Not Found`);
      await expect(load(at("text"))).rejects.toThrow(`"${at("text")}"`);
      const late = load(at("late"), { signal: AbortSignal.timeout(20) });
      await expect(late).rejects.toMatchObject({ name: "TimeoutError" });
    }
    expect([...(await TextTokenizer.load(String(at("tokenizer.json")))).encode("low lower")]).toEqual(wanted);
    const { hint } = await refusalOf(Tokenizer.load(String(at("x"))));
    expect(hint).toContain("Tokenizer.load(new URL(");
  } finally {
    server.stop(true);
  }
  await expect(TextTokenizer.load("http://127.0.0.1:9/x")).rejects.toThrow(
    '"http://127.0.0.1:9/x" cannot be fetched: ',
  );
  await expect(TextTokenizer.load(5 as never)).rejects.toThrow("Tokenizer.load: url is 5, but must be a URL");
});

test("names of other packages lead to ours", () => {
  const hintOf = (name: string) =>
    errorOf(() => (tokenizer as unknown as Record<string, () => void>)[name]!()).hint;
  expect(hintOf("encodeOrdinary")).toBe("call encode(text, { specialTokensAsText: true })");
  expect(hintOf("countTokens")).toBe("call count(text)");
  expect(hintOf("isWithinTokenLimit")).toContain("count(text, { limit: n }) <= n");
  expect(hintOf("getVocab")).toContain("tokenToId(token)");
});
