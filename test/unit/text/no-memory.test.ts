import { afterEach, expect, test } from "bun:test";
import { TextSections, type TextSink } from "../../../src/text/text-sections.ts";

const { Memory } = WebAssembly;

afterEach(() => {
  WebAssembly.Memory = Memory;
});

/** Limits memories that are created from now on to this many pages of 64 KB. */
function limitMemories(pageCount: number): void {
  WebAssembly.Memory = class extends Memory {
    constructor(wanted: WebAssembly.MemoryDescriptor) {
      super({ ...wanted, maximum: pageCount });
    }
  };
}

const ignore: TextSink = { push() {}, end() {}, token() {}, strip() {} };

test("tables that do not fit into memory are not called a run of marks", () => {
  limitMemories(4);
  const tokens = [{ bytes: new Uint8Array(1 << 20).fill(97), id: 0 }];
  expect(() => new TextSections({ early: tokens })).toThrow(
    "not enough memory for the search for added tokens and the normalization of texts",
  );
});

test("a run of marks that does not fit into memory is named, with its size", () => {
  limitMemories(256);
  const sections = new TextSections({ steps: [0] });
  const marks = new TextEncoder().encode(`a${"\u0301".repeat(1 << 20)}`);
  const push = () => {
    for (;;) sections.push(marks, 1, marks.length, ignore);
  };
  expect(push).toThrow(/^not enough memory for a run of [1-9] MB of combining marks or of white space$/);
});
