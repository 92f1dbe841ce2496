import { expect, test } from "bun:test";
import * as byteCharacters from "../../../src/bytes/byte-characters.ts";

const allBytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);

test("space, tab and newline get the characters GPT-2 gave them", () => {
  expect(byteCharacters.characters[32]).toBe("Ġ");
  expect(byteCharacters.characters[9]).toBe("ĉ");
  expect(byteCharacters.characters[10]).toBe("Ċ");
  expect(byteCharacters.encode(new TextEncoder().encode(" low\n"))).toBe("ĠlowĊ");
});

test("every byte has a distinct character, and 188 of them keep their code point", () => {
  expect(new Set(byteCharacters.characters).size).toBe(256);
  expect(byteCharacters.characters.filter((character, byte) => character.charCodeAt(0) === byte).length).toBe(
    188,
  );
  expect(byteCharacters.characters[0]).toBe("Ā");
  expect(byteCharacters.characters[127]).toBe("ġ");
  expect(byteCharacters.characters[160]).toBe("ł");
  expect(byteCharacters.characters[173]).toBe("Ń");
});

test("decoding restores all 256 bytes", () => {
  expect(byteCharacters.decode(byteCharacters.encode(allBytes))).toEqual(allBytes);
  for (const [byte, character] of byteCharacters.characters.entries()) {
    expect(byteCharacters.decode(character)).toEqual(Uint8Array.of(byte));
  }
});

test("the empty text is no bytes", () => {
  expect(byteCharacters.encode(new Uint8Array(0))).toBe("");
  expect(byteCharacters.decode("")).toEqual(new Uint8Array(0));
});

test("a character outside the alphabet is refused in any position", () => {
  for (const stranger of [
    " ",
    "\t",
    "\n",
    "\0",
    "\u007f",
    "\u00a0",
    "\u00ad",
    "\u0144",
    "€",
    "😀",
    "\ud800",
  ]) {
    expect(byteCharacters.decode(stranger)).toBeNull();
    expect(byteCharacters.decode(`a${stranger}`)).toBeNull();
    expect(byteCharacters.decode(`${stranger}a`)).toBeNull();
  }
});
