import { expect, test } from "bun:test";
import { readIds, readNpyHead } from "../../../src/ids/id-reader.ts";
import { idBytes, npyHead } from "../../../src/ids/id-writers.ts";
import { put, scratch } from "../../binary.ts";
import { errorOf } from "../../thrown.ts";

/** Returns the header of an .npy file with this shape, changed by `change`. */
function headWith(shape: string, change = (head: Uint8Array) => void head): Uint8Array {
  const head = npyHead("uint16", 500);
  const text = `{'descr': '<u2', 'fortran_order': False, 'shape': ${shape}, }`;
  head.set(new TextEncoder().encode(text.padEnd(117)), 10);
  change(head);
  return head;
}

const problemOf = (head: Uint8Array) => errorOf(() => readNpyHead(head, "x.npy")).message;

test("shapes in Python's spelling are read", () => {
  const counts = ["()", "(7,)", "(3, 4)", "(2,3,4)", "(0,)"].map(
    (shape) => readNpyHead(headWith(shape), "x").count,
  );
  expect(counts).toEqual([1, 7, 12, 24, 0]);
});

test("a shape that is not a list of whole numbers, or has impossible numbers, is damaged", () => {
  for (const shape of [
    "(1e3,)",
    "(0x10,)",
    "(-1,)",
    "(7, -1)",
    "(None,)",
    "(7)",
    "(,)",
    "(9007199254740993,)",
  ]) {
    expect(problemOf(headWith(shape))).toBe(`"x.npy": its shape ${shape} is damaged`);
  }
  expect(problemOf(headWith("(94906267, 94906267)"))).toContain("is damaged");
});

test("a version that numpy does not have is refused", () => {
  for (const version of [0, 4, 255]) {
    const head = headWith("(7,)", (bytes) => {
      bytes[6] = version;
    });
    expect(problemOf(head)).toBe(`"x.npy": its .npy version is ${version}, but must be 1, 2 or 3`);
  }
});

test("ids of several windows are read in order, of any type, with a header or without", async () => {
  for (const type of ["uint16", "uint32"] as const) {
    const ids = Uint32Array.from({ length: 1_300_001 }, (_, i) => (i * 2_654_435) % 65_521);
    const bytes = Buffer.from((type === "uint16" ? Uint16Array.from(ids) : ids).buffer);
    expect(bytes.length).toBe(idBytes(type) * ids.length);
    for (const [name, content] of [
      ["x.bin", bytes],
      ["x.npy", Buffer.concat([npyHead(type, ids.length), bytes])],
    ] as const) {
      let at = 0;
      for await (const part of readIds(put(scratch(), name, content), { asked: type, needed: type })) {
        expect(part.every((id, i) => id === ids[at + i])).toBe(true);
        at += part.length;
      }
      expect([type, name, at]).toEqual([type, name, ids.length]);
    }
  }
});
