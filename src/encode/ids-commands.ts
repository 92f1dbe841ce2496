import { sharedOptions } from "#options";
import type { commands } from "#terminal";
import {
  checkIdsOptions,
  decodeIdsOptions,
  encodeIdsOptions,
  joinIdsOptions,
  trainIdsOptions,
  truncateIdsOptions,
} from "./ids-options.ts";

const idFiles = "ids: .npy, .bin, or one document per line; globs, -";

export const idsCommands: readonly commands.Command[] = [
  {
    name: "ids train",
    files: "<file>...",
    reads: "files",
    filesDescription: idFiles,
    description: "learn merges over ids",
    details:
      "Learns merges over numbers: audio codes, notes, k-mers, colours. bpe help docs/extend.md has more.",
    readsPipe: true,
    options: trainIdsOptions,
    examples: [
      { what: "3 tokens more than the alphabet has", command: "bpe ids train notes.txt -n +3 -o notes" },
    ],
    run: async () => (await import("./ids-command.ts")).runTrainIds,
    usesKernel: true,
  },
  {
    name: "ids encode",
    files: "<file>...",
    reads: "files",
    filesDescription: idFiles,
    description: "turn ids of an alphabet into tokens",
    readsPipe: true,
    options: encodeIdsOptions,
    examples: [
      { what: "As lines of tokens", command: "bpe ids encode notes.txt --tokenizer notes" },
      { what: "For numpy", command: "bpe ids encode notes.txt --tokenizer notes -o tokens.npy" },
    ],
    run: async () => (await import("./ids-command.ts")).runEncodeIds,
  },
  {
    name: "ids decode",
    files: "<file>",
    reads: "files",
    filesDescription: idFiles,
    description: "turn tokens back into ids of the alphabet",
    readsPipe: true,
    options: decodeIdsOptions,
    examples: [{ what: "A file of tokens", command: "bpe ids decode tokens.npy --tokenizer notes" }],
    run: async () => (await import("./ids-command.ts")).runDecodeIds,
  },
  {
    name: "ids truncate",
    files: "<file>",
    reads: "files",
    filesDescription: "ids that encode wrote, in any format, or decimal; -",
    description: "turn ids into those of a smaller vocabulary",
    details:
      "Gives the ids that encoding the text again would give, but needs no text. -p and -s apply to the file of --from.",
    readsPipe: true,
    options: truncateIdsOptions,
    examples: [
      {
        what: "For a vocabulary of half the size",
        command: "bpe ids truncate corpus.npy --from tokenizer --to smaller/400 -o smaller.npy",
      },
    ],
    run: async () => (await import("./truncate-ids-command.ts")).runTruncateIds,
  },
  {
    name: "ids join",
    files: "<file>...",
    reads: "files",
    filesDescription: "NAME.json of each part, in any order; globs",
    description: "join parts that many machines encoded",
    details:
      "Parts come from bpe encode --ids-format part on ranges of a plan. The result matches that of one machine.",
    options: joinIdsOptions,
    examples: [
      {
        what: "For Megatron, in shards",
        command: "bpe ids join 'part*.json' --plan slice1 -o corpus --ids-format megatron --shard-size 100M",
      },
    ],
    run: async () => (await import("./join-command.ts")).runJoinIds,
  },
  {
    name: "ids check",
    files: "<file>...",
    reads: "files",
    filesDescription: "ids in any format that encode writes, or decimal; -",
    description: "check that ids are those that encoding gives",
    details:
      "Decodes the ids of each document, encodes the text, and compares. Shows the first places that differ, and exits with 1 if there are any.",
    readsPipe: true,
    options: checkIdsOptions,
    examples: [
      {
        what: "The ids that a model is trained on",
        command: "bpe ids check corpus.npy --tokenizer tokenizer",
      },
    ],
    run: async () => (await import("./check-ids-command.ts")).runCheckIds,
    usesKernel: true,
  },
  {
    name: "ids inspect",
    files: "<path>",
    reads: "tokenizer",
    filesDescription: "directory of merges over ids, or its merges.txt",
    description: "show the longest merges over ids",
    options: sharedOptions.common,
    examples: [{ what: "What was learned", command: "bpe ids inspect notes" }],
    run: async () => (await import("./ids-command.ts")).runInspectIds,
  },
];
