import type { Random } from "./jobs.ts";
import type { Outcome } from "./outcome.ts";
import type { World } from "./world.ts";

/** A kind of fault: how often it is injected, and how. */
export type Kind = {
  readonly name: string;
  readonly wantedCount: number;
  readonly trial: (world: World, random: Random) => Promise<Outcome>;
};
