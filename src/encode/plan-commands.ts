import type { commands } from "#terminal";
import { planOptions } from "./plan-options.ts";

export const planCommand: commands.Command = {
  name: "plan",
  files: "<file>...",
  reads: "corpus",
  filesDescription: "text, JSON lines, Parquet; directories, globs",
  description: "cut a corpus into ranges for several machines",
  details:
    "Splits files into byte ranges, one line of JSON each. Any number of machines can process them, with --ranges of count and encode. The results add up to those of the whole corpus.",
  // Given a pipe, `plan` fails with an error of its own, which says that other machines could not read the pipe.
  readsPipe: "to refuse",
  options: planOptions,
  examples: [
    {
      what: "Plan, and count the ranges in any order",
      command: "bpe plan corpus.txt -s '<|endoftext|>' | shuf | bpe count --ranges - -s '<|endoftext|>'",
    },
    {
      what: "Into a file that all machines read",
      command: "bpe plan corpus.txt -s '<|endoftext|>' -o plan.jsonl",
    },
  ],
  run: async () => (await import("./plan-command.ts")).runPlan,
};
