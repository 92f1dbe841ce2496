import type { randomSource } from "../../bench/random.ts";
import { otherResults, trainOptions, type World, withWorkers } from "./world.ts";

export type Random = ReturnType<typeof randomSource>;

/** The command line of a run to disturb, and the file for its standard input. */
export type Job = { readonly args: readonly string[]; readonly stdin?: string };

export const oneOf = <T>(random: Random, values: readonly T[]): T => values[random.below(values.length)]!;

/**
 * Returns a training on the new corpus (world.ts) in one of the forms of input. It has random options, some of which
 * write more files.
 */
export function trainJob(
  world: World,
  random: Random,
  forms = ["txt", "gz", "zst", "jsonl", "parquet", "pipe"],
): Job {
  const form = oneOf(random, forms);
  const names: Record<string, string> = {
    gz: "new.txt.gz",
    zst: "new.txt.zst",
    jsonl: "new.jsonl",
    parquet: "new.parquet",
  };
  const input = world.input(names[form] ?? "new.txt");
  const args = ["train", form === "pipe" ? "-" : input, ...trainOptions, "-o", "out"];
  args.push("-w", oneOf(random, ["1", "2", "2"]));
  if (random.below(2) === 0) args.push("--cache", "cache");
  if (random.below(3) === 0) args.push("--keep", "2");
  if (random.below(4) === 0) args.push("--save-counts", "words.counts");
  if (random.below(4) === 0) args.push("--log-file", "log");
  return form === "pipe" ? { args, stdin: input } : { args };
}

function encodeJob(world: World, random: Random): Job {
  const input = world.input(oneOf(random, ["new.txt", "new.txt.gz", "new.txt.zst"]));
  const tokenizer = `${world.root}/old`;
  return {
    args: ["encode", input, "--tokenizer", tokenizer, "-w", oneOf(random, ["1", "2"]), "-o", "ids.npy"],
  };
}

/**
 * Returns a job that makes a tokenizer by something other than a plain training: one of `otherResults`, sometimes with
 * --keep.
 */
function otherJob(world: World, random: Random): Job {
  const { args } = oneOf(random, otherResults(world.root));
  const keep = args[0] === "train" && random.below(3) === 0 ? ["--keep", "2"] : [];
  return { args: [...withWorkers([...args, ...keep], oneOf(random, ["1", "2"])), "-o", "out"] };
}

export function anyJob(world: World, random: Random): Job {
  const kind = random.below(8);
  if (kind < 2) return encodeJob(world, random);
  return kind < 5 ? otherJob(world, random) : trainJob(world, random);
}
