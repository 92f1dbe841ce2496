import { UserError } from "../errors.ts";

/**
 * The head of an .npy file, version 1.0: magic, version, length of the text, and a Python dict with type and shape, padded
 * with spaces so that the ids begin at a multiple of 64.
 */
const headBytes = 128;
const magic = Uint8Array.of(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59);

export type IdType = "uint16" | "uint32";
export const idBytes = (type: IdType) => (type === "uint16" ? 2 : 4);

/** The type of ids in files: what is asked for, else uint16 if every id that there may be fits, whatever occurs. */
export const idTypeFor = ({ isNarrow }: { readonly isNarrow: boolean }, asked?: IdType): IdType =>
  asked ?? (isNarrow ? "uint16" : "uint32");

/** The head for so many ids. It always has the same length, so it can be rewritten when their number is known. */
export function npyHead(type: IdType, idCount: number): Uint8Array {
  const text = `{'descr': '<u${idBytes(type)}', 'fortran_order': False, 'shape': (${idCount},), }`;
  const head = new Uint8Array(headBytes).fill(0x20);
  head.set(magic);
  head.set([1, 0, headBytes - 10, 0], magic.length);
  new TextEncoder().encodeInto(text, head.subarray(10));
  head[headBytes - 1] = 0x0a;
  return head;
}

/** What the head of an .npy file says about the numbers. */
type NpyLayout = {
  readonly descr: string;
  readonly itemBytes: number;
  readonly startByte: number;
  readonly count: number;
};

/** Reads the head; `bytes` are the first 64 KB of the file, or all of it. */
export function readNpyHead(bytes: Uint8Array, path: string): NpyLayout {
  const fail = (what: string, hint?: string): never => {
    throw new UserError(`"${path}": ${what}`, hint === undefined ? {} : { hint });
  };
  if (bytes.length < 12 || magic.some((byte, i) => bytes[i] !== byte)) fail("it is not an .npy file");
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const version = bytes[6]!;
  if (version < 1 || version > 3) fail(`its .npy version is ${version}`, "known are 1 to 3");
  const isFirst = version === 1;
  const textStart = isFirst ? 10 : 12;
  const textBytes = isFirst ? view.getUint16(8, true) : view.getUint32(8, true);
  if (textStart + textBytes > bytes.length) fail("its .npy head is cut off");
  const text = new TextDecoder("latin1").decode(bytes.subarray(textStart, textStart + textBytes));
  const descr = /'descr':\s*'([^']*)'/.exec(text)?.[1] ?? "";
  const shape = /'shape':\s*\(([^)]*)\)/.exec(text)?.[1];
  if (!/^[<|][iu][1248]$/.test(descr)) {
    fail(
      `its numbers are ${descr === "" ? "of no plain type" : cut(descr)}, not little-endian whole ones`,
      "save them as uint32",
    );
  }
  if (shape === undefined || /'fortran_order':\s*True/.test(text)) fail("its order is not C's");
  // As Python writes a tuple: "()", "(3,)", "(3, 4)".
  const isTuple = /^(\d+, *(\d+(, *\d+)*,?)?)?$/.test(shape!.trim());
  const sizes = shape!.split(",").filter((part) => part.trim() !== "");
  const count = sizes.reduce((product, size) => product * Number(size), 1);
  if (!isTuple || !Number.isSafeInteger(count)) fail(`its shape (${cut(shape!)}) is damaged`);
  return { descr, itemBytes: Number(descr[2]), startByte: textStart + textBytes, count };
}

/** A head as a message shows it. */
const cut = (text: string) => (text.length > 40 ? `${text.slice(0, 40)}…` : text);
