/** What became of one fault: it was met and nothing was lost, something was, or it could not be injected. */
export type Outcome =
  | { readonly kind: "met" }
  | { readonly kind: "too late" }
  | { readonly kind: "skipped"; readonly why: string }
  | { readonly kind: "lost"; readonly what: string };

export const met: Outcome = { kind: "met" };
export const tooLate: Outcome = { kind: "too late" };
export const skipped = (why: string): Outcome => ({ kind: "skipped", why });

/** Thrown where something is found lost. */
export class Lost extends Error {}

/** Ends the trial as lost unless the condition holds. */
export function must(condition: boolean, what: () => string): asserts condition {
  if (!condition) throw new Lost(what());
}
