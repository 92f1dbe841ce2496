import { expect, test } from "bun:test";
import { byteToCharacter, decodeCharacters, encodeBytes } from "../../../src/bytes/byte-characters.ts";

const allBytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);

test("space, tab and newline get the characters GPT-2 gave them", () => {
  expect(byteToCharacter[32]).toBe("Ġ");
  expect(byteToCharacter[9]).toBe("ĉ");
  expect(byteToCharacter[10]).toBe("Ċ");
  expect(encodeBytes(new TextEncoder().encode(" low\n"))).toBe("ĠlowĊ");
});

test("every byte has a distinct character, and 188 of them keep their code point", () => {
  expect(new Set(byteToCharacter).size).toBe(256);
  expect(byteToCharacter.filter((character, byte) => character.charCodeAt(0) === byte).length).toBe(188);
  expect(byteToCharacter[0]).toBe("Ā");
  expect(byteToCharacter[127]).toBe("ġ");
  expect(byteToCharacter[160]).toBe("ł");
  expect(byteToCharacter[173]).toBe("Ń");
});

test("decoding restores all 256 bytes", () => {
  expect(decodeCharacters(encodeBytes(allBytes))).toEqual(allBytes);
  for (const [byte, character] of byteToCharacter.entries()) {
    expect(decodeCharacters(character)).toEqual(Uint8Array.of(byte));
  }
});

test("the empty text is no bytes", () => {
  expect(encodeBytes(new Uint8Array(0))).toBe("");
  expect(decodeCharacters("")).toEqual(new Uint8Array(0));
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
    expect(decodeCharacters(stranger)).toBeNull();
    expect(decodeCharacters(`a${stranger}`)).toBeNull();
    expect(decodeCharacters(`${stranger}a`)).toBeNull();
  }
});
