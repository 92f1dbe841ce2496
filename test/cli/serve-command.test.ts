import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Tokenizer } from "../../src/pipeline/tokenizer.ts";
import { binary, bpe, environment, processorMs, put, scratch, tokenizerFiles } from "../binary.ts";

const home = scratch();
const tokenizer = join(home, "tokenizer");
const corpus = put(home, "corpus.txt", "low lower lowest <|e|> new newer 你好 ".repeat(40));
bpe(["train", corpus, "-n", "270", "-s", "<|e|>", "-o", tokenizer, "-q"]);
const twin = await Tokenizer.load(tokenizer);

type Answer = { readonly status: number; readonly items: readonly Buffer[] };

const bytesOf = (ids: Iterable<number>) => Buffer.from(Uint32Array.from(ids).buffer);
const idsOf = (item: Buffer) => [...new Uint32Array(Uint8Array.from(item).buffer)];

function request(kind: number, items: readonly (string | Uint8Array)[]): Buffer {
  const bytes = items.map((item) => Buffer.from(item as string));
  return Buffer.concat([bytesOf([kind, bytes.length, ...bytes.map(({ length }) => length)]), ...bytes]);
}

const start = (path: string) =>
  Bun.spawn([binary, "serve", "--tokenizer", path], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
    env: environment,
  });

/** What is answered to all that is sent, and how it ends. */
async function serve(sent: Uint8Array, path = tokenizer) {
  const run = Bun.spawn([binary, "serve", "--tokenizer", path], {
    stdin: sent,
    stdout: "pipe",
    stderr: "pipe",
    env: environment,
  });
  const [out, stderr, code] = await Promise.all([run.stdout.bytes(), run.stderr.text(), run.exited]);
  return { answers: answersIn(Buffer.from(out)), stderr, code };
}

function answersIn(view: Buffer): Answer[] {
  const answers: Answer[] = [];
  for (let pos = 0; pos < view.length; ) {
    const [status, count] = [view.readUInt32LE(pos), view.readUInt32LE(pos + 4)];
    let end = pos + 8 + 4 * count;
    const items = Array.from({ length: count }, (_, i) => {
      const size = view.readUInt32LE(pos + 8 + 4 * i);
      end += size;
      return view.subarray(end - size, end);
    });
    answers.push({ status, items });
    pos = end;
  }
  return answers;
}

test("the first answer describes the tokenizer", async () => {
  const { answers, code, stderr } = await serve(Buffer.alloc(0));
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(answers).toHaveLength(1);
  expect(JSON.parse(answers[0]!.items[0]!.toString())).toEqual({
    version: expect.stringMatching(/^bpe \d/),
    idLimit: 270,
    tokenCount: 270,
    specialTokens: { "<|e|>": 269 },
    addedTokens: {},
    roles: {},
    around: { before: [], after: [] },
    fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
    notes: [],
  });
});

test("texts become the ids of the library, in order, whatever they hold", async () => {
  const texts = ["", "lower<|e|>lowest", "你好", "\0", "low ".repeat(200_000), "new"];
  const { answers } = await serve(
    Buffer.concat([
      request(0, texts),
      request(1, texts),
      request(0, []),
      request(0, [Buffer.of(0xff, 0x61)]),
    ]),
  );
  expect(answers.map(({ status }) => status)).toEqual([0, 0, 0, 0, 0]);
  expect(answers[1]!.items.map(idsOf)).toEqual(texts.map((text) => [...twin.encode(text)]));
  expect(answers[2]!.items.map(idsOf)).toEqual(
    texts.map((text) => [...twin.encode(text, { specialTokensAsText: true })]),
  );
  expect(answers[3]!.items).toEqual([]);
  expect(answers[4]!.items.map(idsOf)).toEqual([[...twin.encode(Uint8Array.of(0xff, 0x61))]]);
});

test("a text becomes the pieces that are merged, whatever is in it", async () => {
  const text = "lower\n\0 low<|e|>你 \x85";
  const { answers } = await serve(
    Buffer.concat([request(4, [text]), request(4, [""]), request(4, []), request(4, ["a", "b"])]),
  );
  expect(answers.slice(1, 3).map(({ status, items }) => [status, ...items.map(String)])).toEqual([
    [0, "lower", "\n", "\0", " low", "<|e|>", "你", " \x85"],
    [0],
  ]);
  for (const { status, items } of answers.slice(3))
    expect([status, String(items)]).toEqual([1, "a request for the pieces of a text has one text"]);
});

test("ids become bytes; a refused request leaves the next one alone", async () => {
  const ids = bytesOf(twin.encode("lower<|e|>"));
  const { answers, code } = await serve(
    Buffer.concat([
      request(2, [ids, bytesOf([])]),
      request(2, [bytesOf([97, 270])]),
      request(2, ["abc"]),
      request(9, ["x"]),
      request(0, ["low"]),
    ]),
  );
  expect(code).toBe(0);
  expect(answers.slice(1).map(({ status, items }) => [status, ...items.map(String)])).toEqual([
    [0, "lower<|e|>", ""],
    [
      1,
      "id 270 at position 1 stands for no token\nhint: the tokenizer's ids end at 269; these may be ids of another tokenizer",
    ],
    [1, "3 bytes are not a whole number of ids"],
    [1, "9 is not a kind of request"],
    [0, String(bytesOf(twin.encode("low")))],
  ]);
});

test("offsets follow each other in bytes, and share characters", async () => {
  const text = "lower<|e|>你é";
  const { answers } = await serve(
    Buffer.concat([
      request(16, [text, "", "<|e|>"]),
      request(17, [text]),
      request(32, [text, "low"]),
      request(32, [Buffer.of(0x61, 0xff)]),
      request(16, [Buffer.of(0x61, 0xff)]),
    ]),
  );
  const rows = (item: Buffer) => {
    const numbers = idsOf(item);
    const count = numbers.length / 3;
    return numbers.slice(0, count).map((id, i) => [id, numbers[count + i]!, numbers[2 * count + i]!]);
  };
  for (const [answer, specialTokensAsText] of [
    [answers[1]!, false],
    [answers[2]!, true],
  ] as const) {
    let pos = 0;
    const ids = [...twin.encode(text, { specialTokensAsText })];
    const expected = ids.map((id) => [id, pos, (pos += twin.decode([id]).length)]);
    expect(rows(answer.items[0]!)).toEqual(expected);
  }
  expect(answers[1]!.items.slice(1).map(rows)).toEqual([[], [[269, 0, 5]]]);
  const characters = rows(answers[3]!.items[0]!);
  expect(characters.at(-1)!.slice(1)).toEqual([11, 12]);
  expect(characters.every(([, start, end]) => end! > start!)).toBe(true);
  expect(answers[4]).toMatchObject({ status: 1 });
  expect(String(answers[4]!.items[0])).toBe("offsets in characters need a text that is UTF-8");
  expect(rows(answers[5]!.items[0]!).map(([, start, end]) => [start, end])).toEqual([
    [0, 1],
    [1, 2],
  ]);
});

test("a tokenizer that changes text, or lacks bytes, tells no offsets", async () => {
  const normalized = join(home, "normalized");
  bpe(["train", corpus, "-n", "270", "--normalize", "NFC", "-o", normalized, "-q"]);
  const { answers } = await serve(Buffer.concat([request(32, ["a"]), request(0, ["a"])]), normalized);
  expect(answers.map(({ status }) => status)).toEqual([0, 1, 0]);
  expect(String(answers[1]!.items[0])).toContain("text is normalized (NFC)");
});

test("a tokenizer is saved where it is asked, or refused", async () => {
  const [saved, foreign] = [join(home, "saved"), put(home, "foreign.txt", "theirs")];
  const { answers, code } = await serve(
    Buffer.concat([
      request(3, [saved, tokenizer]),
      request(3, [foreign, tokenizer]),
      request(3, [saved]),
      request(3, [Uint8Array.of(0xff), tokenizer]),
      request(2, [bytesOf(twin.encode("low"))]),
    ]),
  );
  expect(code).toBe(0);
  expect(answers.slice(1).map(({ status, items }) => [status, ...items.map(String)])).toEqual([
    [0],
    [1, `"${foreign}" is not replaced: it is not a directory\nhint: choose another name`],
    [1, "a save request has two paths: the directory, and the tokenizer's"],
    [1, "the path is not UTF-8"],
    [0, "low"],
  ]);
  expect(tokenizerFiles(saved)).toEqual(tokenizerFiles(tokenizer));
});

test("what is no whole request ends the run with an error", async () => {
  for (const [sent, what] of [
    [bytesOf([0]), "stdin ends in the head of a request"],
    [bytesOf([0, 2, 1]), "stdin ends in the sizes of a request"],
    [Buffer.concat([bytesOf([0, 1, 5]), Buffer.from("ab")]), "stdin ends in the items of a request"],
    [bytesOf([0, 2 ** 24 + 1]), "a request of 16777217 items; 16777216 is the limit"],
    [bytesOf([0, 2, 2 ** 29, 2 ** 29 + 1]), "a request of 1073741825 bytes; 1073741824 is the limit"],
  ] as const) {
    const { code, stderr } = await serve(sent);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `bpe: error: bpe serve: ${what}\nhint: docs/serve.md says what a request looks like\n`,
    });
  }
});

test("an answer that memory has no room for is refused, and the next request is served", async () => {
  const path = join(home, "long");
  mkdirSync(path);
  const json = JSON.parse(readFileSync(join(tokenizer, "tokenizer.json"), "utf8"));
  json.model.vocab["a".repeat(1_000_000)] = 300;
  put(path, "tokenizer.json", JSON.stringify(json));
  const ids = bytesOf(Array(4300).fill(300));
  const { answers, code } = await serve(
    Buffer.concat([
      request(2, [ids]),
      request(2, Array(4300).fill(bytesOf([300]))),
      request(2, [bytesOf([97, 300]), bytesOf([301]), ids]),
      request(2, [bytesOf([300, 97])]),
    ]),
    path,
  );
  expect(code).toBe(0);
  const refusal = "the answer has more than 2147483648 bytes: ask for it in several requests";
  expect(answers.slice(1, 4).map(({ status, items }) => [status, ...items.map(String)])).toEqual([
    [1, refusal],
    [1, refusal],
    [1, expect.stringMatching(/^id 301 at position 0 stands for no token\nhint: /)],
  ]);
  expect(answers[4]!.items.map(({ length }) => length)).toEqual([1_000_001]);
});

test("requests of any size follow each other, whole or in pieces", async () => {
  const texts = (count: number, length: number) => Array(count).fill("low newer ".repeat(length));
  const sent = [1, 3, 40_000, 7, 150_000, 2].flatMap((length) => [
    request(0, texts(2, length)),
    request(2, [bytesOf([97, 98])]),
    request(0, texts(30_000, 0)),
  ]);
  const whole = await serve(Buffer.concat(sent));
  expect(whole.code).toBe(0);
  expect(whole.answers).toHaveLength(1 + sent.length);
  const ids = [...twin.encode("low newer ".repeat(40_000))];
  expect(whole.answers[7]!.items.map(idsOf)).toEqual([ids, ids]);
  expect(whole.answers[9]!.items).toHaveLength(30_000);
  const run = start(tokenizer);
  const some = Buffer.concat(sent.slice(0, 5));
  for (let pos = 0, size = 1; pos < some.length; pos += size, size = (size * 5 + 1) % 70_001) {
    run.stdin.write(some.subarray(pos, pos + size));
    await run.stdin.flush();
  }
  run.stdin.end();
  const inPieces = answersIn(Buffer.from(await run.stdout.bytes()));
  expect(inPieces).toHaveLength(6);
  inPieces.forEach(({ status, items }, i) => {
    expect(status).toBe(0);
    expect(items).toHaveLength(whole.answers[i]!.items.length);
    expect(Buffer.concat(items).equals(Buffer.concat(whole.answers[i]!.items))).toBe(true);
  });
});

test("it ends where nobody can read its answers", async () => {
  const idle = start(tokenizer);
  const reader = idle.stdout.getReader();
  await reader.read();
  await reader.cancel();
  const closed = Bun.spawn(["sh", "-c", 'exec "$@" >&-', "sh", binary, "serve", "--tokenizer", tokenizer], {
    stdin: "pipe",
    stderr: "pipe",
    env: environment,
  });
  for (const run of [idle, closed]) expect(await run.exited).toBe(0);
  expect(await closed.stderr.text()).toBe("");
});

test.skipIf(!existsSync("/proc/self/stat"))(
  "a signal ends it at once, whatever a request asks for",
  async () => {
    for (const [name, sent, signal, code] of [
      ["one pretoken", request(0, ["ab".repeat(8_000_000)]), "SIGTERM", 143],
      ["many ids", request(2, Array(2_000_000).fill(bytesOf([97]))), "SIGINT", 130],
      ["empty texts", Buffer.concat([bytesOf([0, 16_000_000]), Buffer.alloc(64_000_000)]), "SIGTERM", 143],
    ] as const) {
      const run = start(tokenizer);
      await run.stdout.getReader().read();
      const idleMs = processorMs(run.pid);
      run.stdin.write(sent);
      void run.stdin.flush();
      // It is at work; nobody takes the answer.
      while (processorMs(run.pid) < idleMs + 100) await Bun.sleep(5);
      const beforeMs = processorMs(run.pid);
      run.kill(signal);
      expect([name, await run.exited]).toEqual([name, code]);
      const workedMs = Number(run.resourceUsage()!.cpuTime.total) / 1000 - beforeMs;
      expect(workedMs, name).toBeLessThan(600);
    }
  },
  120_000,
);

test("whoever asks again and again is waited for awake, but an idle process takes no processor time", async () => {
  const run = start(tokenizer);
  const reader = run.stdout.getReader();
  await reader.read();
  for (let i = 0; i < 300; i++) {
    run.stdin.write(request(0, ["low lower"]));
    await run.stdin.flush();
    await reader.read();
  }
  // What the runtime itself does behind a burst is over.
  await Bun.sleep(500);
  const beforeMs = processorMs(run.pid);
  await Bun.sleep(1000);
  expect(processorMs(run.pid) - beforeMs).toBeLessThan(100);
  run.stdin.end();
  expect(await run.exited).toBe(0);
});

test("a superword tokenizer is served as bpe encode encodes, and a signal ends it while it encodes", async () => {
  const path = join(home, "superword");
  const text = "low lower lowest <|e|>of the new newer 你好 of the low\n".repeat(40);
  const file = put(home, "superword.txt", text);
  expect(
    bpe(["train", file, "-n", "310", "-s", "<|e|>", "-o", path, "-q", "--superwords-from", "280"]).code,
  ).toBe(0);
  const encoded = bpe(["encode", file, "--tokenizer", path, "-q"]).stdout.trim().split(/\s+/);
  const ids = encoded.map(Number);
  const texts = ["of the low", "", "的 of", "<|e|>"];
  const own = await Tokenizer.load(path);
  const { answers, stderr } = await serve(
    Buffer.concat([request(0, [text, ...texts]), request(1, [text]), request(2, [bytesOf(ids)])]),
    path,
  );
  expect(stderr).toBe("");
  expect(answers.map(({ status }) => status)).toEqual([0, 0, 0, 0]);
  expect(answers[1]!.items.map(idsOf)).toEqual([ids, ...texts.map((one) => [...own.encode(one)])]);
  expect(answers[2]!.items.map(idsOf)).toEqual([[...own.encode(text, { specialTokensAsText: true })]]);
  expect(answers[3]!.items.map(String)).toEqual([text]);

  const run = Bun.spawn([binary, "serve", "--tokenizer", path], {
    stdin: request(0, ["of the low lower ".repeat(4_000_000)]),
    stdout: "pipe",
    stderr: "ignore",
    env: environment,
  });
  await run.stdout.getReader().read();
  await Bun.sleep(100);
  run.kill("SIGINT");
  expect(await run.exited).toBe(130);
});
