// Disturbs runs of dist/bpe (kinds.ts). No result may be lost, and no stray file may remain.
//
//   npm run suite faults -- [--seed N] [--share 0.1] [--only "disk full"]
import { parseArgs } from "node:util";
import { randomSource } from "../../bench/random.ts";
import { slowestSlowStopMs } from "./bomb-kinds.ts";
import type { Kind } from "./kind.ts";
import { kinds, slowestStopMs } from "./kinds.ts";
import { Lost, type Outcome } from "./outcome.ts";
import { World } from "./world.ts";

const { values } = parseArgs({
  options: { seed: { type: "string" }, share: { type: "string" }, only: { type: "string" } },
});
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const share = Number(values.share ?? 1);
const chosen = kinds.filter(({ name }) => values.only === undefined || name === values.only);
if (chosen.length === 0) throw new Error(`no kind of fault is called "${values.only}"`);

/** The maximum number of attempts for each wanted trial, because faults may come too late. */
const attemptsPerTrial = 10;
/** The number of concurrent trials. Each has a separate world. */
const laneCount = 2;
const textBytes = 1_500_000;
const smallTextBytes = 120_000;

type Tally = { met: number; tooLate: number; lost: number; skipped: string | undefined };

async function attempt(kind: Kind, world: World, n: number): Promise<Outcome> {
  const random = randomSource(Number(Bun.hash(`${seed} ${kind.name} ${n}`) % 0x7fff_ffffn));
  try {
    return await kind.trial(world, random);
  } catch (error) {
    if (!(error instanceof Lost)) throw error;
    return { kind: "lost", what: `${kind.name}, trial ${n} of seed ${seed}: ${error.message}` };
  }
}

async function inject(kind: Kind, worlds: readonly World[]): Promise<Tally> {
  const wantedCount = Math.ceil(kind.wantedCount * share);
  const tally: Tally = { met: 0, tooLate: 0, lost: 0, skipped: undefined };
  let n = 0;
  const lane = async (world: World) => {
    while (tally.met + tally.lost < wantedCount && n < wantedCount * attemptsPerTrial) {
      const outcome = await attempt(kind, world, n++);
      if (outcome.kind === "met") tally.met++;
      else if (outcome.kind === "too late") tally.tooLate++;
      else if (outcome.kind === "lost") {
        tally.lost++;
        console.log(`LOST: ${outcome.what}`);
      } else {
        tally.skipped = outcome.why;
        return;
      }
    }
  };
  await Promise.all(worlds.map(lane));
  return tally;
}

const isOfSmallText = ({ name }: Kind) => name.startsWith("bit flipped");

console.log(`fault injection, seed ${seed}`);
const startMs = performance.now();
const large = Array.from({ length: laneCount }, () => new World(textBytes));
const small = Array.from({ length: laneCount }, () => new World(smallTextBytes));
process.on("exit", () => {
  for (const world of [...large, ...small]) world.remove();
});
process.on("SIGINT", () => process.exit(130));
process.on("SIGTERM", () => process.exit(143));
for (const [i, world] of [...large, ...small].entries()) await world.build(seed + 10 * i);

let lostCount = 0;
let metCount = 0;
for (const kind of chosen) {
  const { met, tooLate, lost, skipped } = await inject(kind, isOfSmallText(kind) ? small : large);
  lostCount += lost;
  metCount += met;
  const late = tooLate > 0 ? `, ${tooLate} came too late and are not counted` : "";
  const why = skipped === undefined ? "" : `; skipped: ${skipped}`;
  console.log(`${kind.name.padEnd(38)} ${String(met).padStart(4)} met, ${lost} lost${late}${why}`);
}
if (slowestSlowStopMs > 0)
  console.log(`slowest end after a signal while a bomb was read: ${Math.round(slowestSlowStopMs)} ms`);
const seconds = Math.round((performance.now() - startMs) / 1000);
if (slowestStopMs > 0) console.log(`slowest end after SIGTERM: ${Math.round(slowestStopMs)} ms`);
console.log(`${metCount} faults met in ${seconds} s, ${lostCount} lost`);
process.exit(lostCount > 0 ? 1 : 0);
