import { type NamedPattern, patterns } from "./named-patterns.ts";

const named: Readonly<Record<string, NamedPattern>> = patterns;

/** Which pre-tokenizer llama.cpp has for a pattern, in words; `null` names a user's own regular expression. */
export function describeLlamaCpp(name: string | null): string {
  const { llamaCpp } = (name === null ? undefined : named[name]) ?? {};
  if (llamaCpp === undefined) return "has no pre-tokenizer for this pattern";
  const { name: preTokenizer, differsAt } = llamaCpp;
  return `pre-tokenizer ${preTokenizer}${differsAt === undefined ? "" : `; it cuts otherwise at ${differsAt}`}`;
}
