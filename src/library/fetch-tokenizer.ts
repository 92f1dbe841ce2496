import { argument } from "#bytes";
import { tokenizerOfJson } from "#formats";
import { UserError } from "#runtime";
import type { TokenizerParts } from "#tokenizer";
import { isSignal, signalArgument } from "./check-arguments.ts";
import { withEngineErrors } from "./engine-errors.ts";

export type FetchOptions = {
  /** Ends the request, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
};

const urlArgument = {
  name: "a URL",
  accepts: (value: unknown) => (typeof value === "string" && value !== "") || isUrl(value),
};

/** @internal Whether a value is a URL, of any realm. */
export const isUrl = (value: unknown): value is URL =>
  Object.prototype.toString.call(value) === "[object URL]" && typeof (value as URL).href === "string";

/**
 * @internal Fetches a `tokenizer.json`. Throws the signal's reason if the signal aborts, and a UserError if fetching
 * fails for another reason, or if the content is not a `tokenizer.json`.
 */
export async function fetchTokenizer(
  call: string,
  url: string | URL,
  options: FetchOptions,
): Promise<TokenizerParts> {
  argument.check(`${call}: url`, url, urlArgument);
  const { signal } = argument.checkOptions(call, options, { signal: signalArgument });
  const bytes = await fetchBytes(String(url), signal);
  if (bytes.length === 0) throw new UserError(`"${url}" is empty`);
  return partsInMemory(bytes, String(url));
}

/** @internal Reads a `tokenizer.json` in memory, which errors call `name`. The result has no path. */
export function partsInMemory(bytes: Uint8Array<ArrayBuffer>, name: string): TokenizerParts {
  const parts = withEngineErrors(() => tokenizerOfJson(bytes, name));
  return { ...parts, description: { ...parts.description, path: "" } };
}

async function fetchBytes(url: string, signal: AbortSignal | undefined): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const response = await fetch(url, isSignal(signal) ? { signal } : {});
    if (response.ok) return new Uint8Array(await response.arrayBuffer());
    throw new UserError(`"${url}" cannot be fetched: ${response.status} ${response.statusText}`.trimEnd(), {
      hint: "check the URL; on Hugging Face, it ends in /resolve/main/tokenizer.json",
    });
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof UserError) throw error;
    const { message, cause } = error as Error;
    const reason = cause instanceof Error && cause.message !== "" ? cause.message : message;
    throw new UserError(`"${url}" cannot be fetched: ${reason}`, {
      hint: "check the URL and the network; a browser also needs the server's permission (CORS)",
    });
  }
}
