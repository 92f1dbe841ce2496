import type { Random } from "./jobs.ts";
import type { Outcome } from "./outcome.ts";
import type { World } from "./world.ts";

/** One kind of fault: how many times it is to be injected, and how. */
export type Kind = {
  readonly name: string;
  readonly wantedCount: number;
  readonly trial: (world: World, random: Random) => Promise<Outcome>;
};
