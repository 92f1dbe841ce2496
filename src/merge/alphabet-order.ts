import { byteToCharacter } from "../bytes/byte-characters.ts";

/** Place of each byte in the alphabet, which HF sorts by the code points of the byte-to-character form. */
export function alphabetOrder(): Int32Array {
  const ranks = new Int32Array(256);
  const bytes = Array.from({ length: 256 }, (_, byte) => byte);
  bytes.sort((a, b) => byteToCharacter[a]!.codePointAt(0)! - byteToCharacter[b]!.codePointAt(0)!);
  bytes.forEach((byte, rank) => {
    ranks[byte] = rank;
  });
  return ranks;
}
