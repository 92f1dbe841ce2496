/*
 * xxHash for Node: the WebAssembly module of the package xxhash-wasm. Its own JavaScript can only be awaited, and hashes are
 * needed where nothing can be.
 */
import { readFileSync } from "node:fs";
// The build puts it beside the module that asks.
import wasmPath from "../../node_modules/xxhash-wasm/workerd/xxhash.wasm" with { type: "file" };

type Exports = {
  readonly mem: WebAssembly.Memory;
  /** Hashes of bytes [start, start + length) of the memory. */
  xxh32(start: number, length: number, seed: number): number;
  xxh64(start: number, length: number, seed: bigint): bigint;
};

let loaded: Exports | undefined;

function load(): Exports {
  const module = new WebAssembly.Module(readFileSync(new URL(wasmPath, import.meta.url)));
  return new WebAssembly.Instance(module).exports as Exports;
}

/** Puts the bytes at the beginning of the memory. */
function place(data: Uint8Array | string): { exports: Exports; length: number } {
  loaded ??= load();
  const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
  const missingBytes = bytes.length - loaded.mem.buffer.byteLength;
  if (missingBytes > 0) loaded.mem.grow(Math.ceil(missingBytes / 65536));
  new Uint8Array(loaded.mem.buffer).set(bytes);
  return { exports: loaded, length: bytes.length };
}

export function xxHash64(data: Uint8Array | string, seed = 0n): bigint {
  const { exports, length } = place(data);
  return BigInt.asUintN(64, exports.xxh64(0, length, BigInt.asIntN(64, seed)));
}

export function xxHash32(text: string): number {
  const { exports, length } = place(text);
  return exports.xxh32(0, length, 0) >>> 0;
}
