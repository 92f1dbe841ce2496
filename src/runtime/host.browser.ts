/*
 * In the place of host.ts in the library for browsers: what loading and encoding use of it.
 */

export type Sha256 = {
  update(data: Uint8Array | string): Sha256;
  digest(encoding: "hex"): string;
};

/** Only caches and records ask for hashes. */
export const createSha256 = (): Sha256 => {
  throw new Error("bug: nothing is hashed in a browser");
};

/** Only regular expressions of HF's dialect, which are typed and not loaded, are compared. */
export const deepEquals = (_a: unknown, _b: unknown): boolean => {
  throw new Error("bug: no patterns are compared in a browser");
};

/** The memory of large texts is left to the collector. */
export const releaseMemory = (_buffer: ArrayBuffer): void => {};

export const toBase64 = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
export const fromBase64 = (text: string): Uint8Array =>
  Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

/** Only Bun's engine can be told. */
export function spareThirdTier(..._functions: ((...args: never[]) => unknown)[]): void {}
