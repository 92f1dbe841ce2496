// Helpers shared by the views.

type Policy = { createScriptURL(url: string): string };
type PolicyFactory = { createPolicy(name: string, rules: Policy): Policy };
const unchanged: Policy = { createScriptURL: (url) => url };
const factory = (globalThis as { trustedTypes?: PolicyFactory }).trustedTypes;
const policy = factory?.createPolicy("bpe", unchanged) ?? unchanged;

/** The source of the page's script, from which its workers are also created. */
const source = typeof document === "undefined" ? "" : document.currentScript!.textContent!;

export function startScript(): Worker {
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const worker = new Worker(policy.createScriptURL(url));
  URL.revokeObjectURL(url);
  return worker;
}

/** Returns the readable message of an error. */
export function messageOf(error: unknown): string {
  const { message, hint } = error as { message: string; hint?: string };
  return hint === undefined ? message : `${message}. ${hint}`;
}

/** Attributes of a field whose text is not prose. */
export const plainField = { class: "mono", autocomplete: "off", autocapitalize: "off", spellcheck: "false" };
