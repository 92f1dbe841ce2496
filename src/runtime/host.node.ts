/*
 * In the place of host.ts in the library for Node: the same names, with the same results.
 */
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";

export { globMatcher, pathsMatching } from "./glob-walk.ts";
export { xxHash32, xxHash64 } from "./xxhash.ts";

export const runtimeVersion: string = `Node ${process.versions.node}`;

export type Sha256 = {
  update(data: Uint8Array | string): Sha256;
  digest(encoding: "hex"): string;
};

export const createSha256 = (): Sha256 => createHash("sha256");

const never = new Int32Array(new SharedArrayBuffer(4));
export const sleepSync = (ms: number): void => void Atomics.wait(never, 0, 0, ms);

/** Node frees memory when it sees fit. */
export const collectGarbage = (): void => {};

/** `transfer` is there from Node 21 on. */
export const releaseMemory = (buffer: ArrayBuffer): void =>
  void structuredClone(buffer, { transfer: [buffer] });

export const toBase64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
export const fromBase64 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "base64"));

export const deepEquals = (a: unknown, b: unknown): boolean => isDeepStrictEqual(a, b);

/** Only Bun's engine can be told. */
export function spareThirdTier(..._functions: ((...args: never[]) => unknown)[]): void {}
