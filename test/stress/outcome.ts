/**
 * The outcome of one fault: the run met it, and nothing was lost; it came too late to affect the run; it could not be
 * injected here ("skipped"); or something was lost.
 */
export type Outcome =
  | { readonly kind: "met" }
  | { readonly kind: "too late" }
  | { readonly kind: "skipped"; readonly why: string }
  | { readonly kind: "lost"; readonly what: string };

export const met: Outcome = { kind: "met" };
export const tooLate: Outcome = { kind: "too late" };
export const skipped = (why: string): Outcome => ({ kind: "skipped", why });

/** Thrown when something is lost. */
export class Lost extends Error {}

/** Ends the trial as lost if the condition is false. */
export function must(condition: boolean, what: () => string): asserts condition {
  if (!condition) throw new Lost(what());
}
