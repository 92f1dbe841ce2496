import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as byteCharacters from "../../src/bytes/byte-characters.ts";
import { bpe, put, scratch } from "../binary.ts";
import { randomNumbers } from "../random.ts";

const home = scratch();
const syllables = "가각간갇갈감갑값갓갔강갖같갚갛개객거건걸한글국어日本語中文字漢😀😁🙏éñß";
const random = randomNumbers(7);
const word = () => Array.from({ length: 1 + random(4) }, () => [...syllables][random(40)]).join("");
put(home, "text.txt", Array.from({ length: 4000 }, () => word() + (random(9) === 0 ? "\n" : " ")).join(""));

const train = (...args: string[]) => bpe(["train", "text.txt", "-w", "1", ...args], { cwd: home });

/** Returns the tokens that are not whole characters, except single bytes and beginnings of a single character. */
function broken(directory: string): string[] {
  const vocabulary = JSON.parse(readFileSync(join(home, directory, "vocab.json"), "utf8"));
  return Object.keys(vocabulary).filter((token) => {
    const bytes = byteCharacters.decode(token);
    if (bytes === null || bytes.length === 1) return false;
    return new TextDecoder().decode(bytes).includes("\ufffd") && !beginsCharacter(bytes);
  });
}

function beginsCharacter([first, ...others]: Uint8Array): boolean {
  const size = first! >= 0xf0 ? 4 : first! >= 0xe0 ? 3 : first! >= 0xc2 ? 2 : 0;
  return others.length + 1 < size && others.every((byte) => byte >= 0x80 && byte < 0xc0);
}

test("no token joins a whole character with a part of another, under every rule and in superwords", () => {
  expect(train("-n", "600", "-o", "plain", "-q").code).toBe(0);
  expect(broken("plain").length).toBeGreaterThan(5);
  const ways = [
    ...["cs336", "huggingface", "rustbpe"].map((rule) => ["--compat", rule]),
    ["--superwords-from", "500"],
    ["-p", "none", "--compat", "huggingface"],
  ];
  for (const way of ways) {
    const { code, stderr } = train("-n", "600", "--whole-characters", ...way, "-o", "clean", "-q");
    expect({ way, code, stderr, broken: broken("clean") }).toEqual({ way, code: 0, stderr: "", broken: [] });
  }
});

test("--extend: broken tokens of the base stay, and can only be completed, byte by byte", () => {
  train("-n", "264", "-o", "base", "-q", "--format", "gpt2");
  const before = broken("base");
  expect(before.length).toBeGreaterThan(0);
  expect(train("--extend", "base", "-p", "gpt2", "-n", "+200", "-o", "more", "-q").code).toBe(0);
  const isNew = (token: string) => !before.includes(token);
  const completes = (token: string) => before.some((old) => token.startsWith(old));
  expect(broken("more").filter(isNew).every(completes)).toBe(false);
  const clean = train(
    "--extend",
    "base",
    "-p",
    "gpt2",
    "-n",
    "+200",
    "-o",
    "clean",
    "-q",
    "--whole-characters",
  );
  expect(clean.code).toBe(0);
  expect(broken("clean").filter(isNew).every(completes)).toBe(true);
  expect(broken("clean")).toEqual(expect.arrayContaining(before));
});

test("a training that has only forbidden pairs left ends early, with the usual warning", () => {
  put(home, "few.txt", "é日é日é日");
  const learn = (...args: string[]) =>
    bpe(["train", "few.txt", "-p", "none", "-n", "300", "-o", "few", "-w", "1", ...args], { cwd: home });
  // One merge completes é, and two complete 日. Three more join the six characters into one token.
  const { code, stderr } = learn("--whole-characters");
  expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining("warning") });
  const { mergeCount, options } = JSON.parse(readFileSync(join(home, "few", "training.json"), "utf8"));
  expect({ mergeCount, options }).toMatchObject({ mergeCount: 6, options: { wholeCharacters: true } });
});
