import { host } from "#runtime";
import type { TokenizerParts } from "./tokenizer-parts.ts";

/** SHA-256 of everything that affects encoding and decoding, independent of paths. */
export function digestOfParts({ description, notes: _, pattern: __, ...parts }: TokenizerParts): string {
  const hash = (data: Uint8Array | string) => host.createSha256().update(data).digest("hex");
  const plain = (_: string, value: unknown) =>
    ArrayBuffer.isView(value)
      ? hash(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))
      : value;
  return hash(JSON.stringify([description.patternSources, parts], plain));
}
