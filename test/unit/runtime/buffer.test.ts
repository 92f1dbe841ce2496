import { expect, test } from "bun:test";
import { Buffer as NodeBuffer, isUtf8 as nodeIsUtf8 } from "node:buffer";
import * as browser from "../../../src/runtime/host.browser.ts";
import { Buffer as BrowserBuffer, isUtf8 } from "../../../src/runtime/host.browser.ts";
import * as host from "../../../src/runtime/host.ts";
import { randomNumbers } from "../../random.ts";

// Tests the library's replacement of Buffer for browsers, mostly by comparing it with Node's Buffer.

const texts = ["", "a", "naïve 数据 🦊", "\ufeffmark", "x".repeat(10_000)];
const bytesOf = (buffer: Uint8Array) => [...buffer];

test("texts become bytes, and bytes become texts", () => {
  for (const text of texts) {
    expect(bytesOf(BrowserBuffer.from(text))).toEqual(bytesOf(NodeBuffer.from(text)));
    const inBase64 = NodeBuffer.from(text).toString("base64");
    expect(BrowserBuffer.from(text).toString("base64")).toBe(inBase64);
    expect(bytesOf(BrowserBuffer.from(inBase64, "base64"))).toEqual(bytesOf(NodeBuffer.from(text)));
    expect(BrowserBuffer.byteLength(text)).toBe(NodeBuffer.byteLength(text));
    expect(bytesOf(BrowserBuffer.from(text, "latin1"))).toEqual(bytesOf(NodeBuffer.from(text, "latin1")));
    const [ours, nodes] = [BrowserBuffer.from(text), NodeBuffer.from(text)];
    for (const encoding of ["utf8", "latin1"] as const) {
      expect(ours.toString(encoding)).toBe(nodes.toString(encoding));
      expect(ours.toString(encoding, 1, 4)).toBe(nodes.toString(encoding, 1, 4));
    }
  }
  expect(BrowserBuffer.from([0xff, 0x41]).toString()).toBe(NodeBuffer.from([0xff, 0x41]).toString());
});

test("a part of a buffer is a view of it, even of shared memory; an array is copied", () => {
  for (const memory of [new ArrayBuffer(16), new SharedArrayBuffer(16)]) {
    const view = BrowserBuffer.from(memory, 4, 8);
    view[0] = 65;
    expect([new Uint8Array(memory)[4], view.length]).toEqual([65, 8]);
    expect(view.toString("latin1", 0, 1)).toBe("A");
  }
  const bytes = Uint8Array.of(1, 2);
  BrowserBuffer.from(bytes)[0] = 9;
  expect(bytes[0]).toBe(1);
});

test("bytes are found, compared and joined like in Node", () => {
  const random = randomNumbers(7);
  const made = (length: number) => Uint8Array.from({ length }, () => random(2));
  for (let n = 0; n < 500; n++) {
    const [text, wanted, from] = [made(random(12)), made(random(4)), random(13)];
    const [ours, nodes] = [BrowserBuffer.from(text), NodeBuffer.from(text)];
    expect(ours.indexOf(wanted, from)).toBe(nodes.indexOf(wanted, from));
    expect(ours.indexOf(1, from)).toBe(nodes.indexOf(1, from));
    expect(ours.lastIndexOf(1)).toBe(nodes.lastIndexOf(1));
    expect(BrowserBuffer.compare(text, wanted)).toBe(NodeBuffer.compare(text, wanted));
    const length = random(20);
    expect(bytesOf(BrowserBuffer.concat([text, wanted], length))).toEqual(
      bytesOf(NodeBuffer.concat([text, wanted], length)),
    );
    const wild = Uint8Array.from({ length: 5 }, () => random(256));
    expect(isUtf8(wild)).toBe(nodeIsUtf8(wild));
  }
  expect(bytesOf(BrowserBuffer.concat([]))).toEqual([]);
});

test("base64 in a browser is that of Bun", () => {
  for (const text of texts) {
    const bytes = new TextEncoder().encode(text);
    expect(browser.toBase64(bytes)).toBe(host.toBase64(bytes));
    expect(bytesOf(browser.fromBase64(host.toBase64(bytes)))).toEqual(bytesOf(bytes));
  }
});
