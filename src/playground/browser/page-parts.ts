// What the views share.

type Policy = { createScriptURL(url: string): string };
type PolicyFactory = { createPolicy(name: string, rules: Policy): Policy };
const unchanged: Policy = { createScriptURL: (url) => url };
const factory = (globalThis as { trustedTypes?: PolicyFactory }).trustedTypes;
const policy = factory?.createPolicy("bpe", unchanged) ?? unchanged;

/** The text of the page's script, of which its workers are made, too. */
const source = typeof document === "undefined" ? "" : document.currentScript!.textContent!;

export function startScript(): Worker {
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const worker = new Worker(policy.createScriptURL(url));
  URL.revokeObjectURL(url);
  return worker;
}

/** An error as people read it. */
export function messageOf(error: unknown): string {
  const { message, hint } = error as { message: string; hint?: string };
  return hint === undefined ? message : `${message}. ${hint}`;
}

/** Attributes of a field whose text is nobody's prose. */
export const plainField = { autocomplete: "off", autocapitalize: "off", spellcheck: "false" };
