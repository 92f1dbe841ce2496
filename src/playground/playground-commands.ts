import type { commands } from "#terminal";
import { teaching } from "./playground-options.ts";

export const playgroundCommand: commands.Command = {
  name: "playground",
  files: "",
  description: "write a page for learning how BPE trains",
  details:
    "Writes one HTML file that trains in the browser, offline, and shows every merge. bpe help docs/learn.md is a guided tour.",
  options: teaching,
  examples: [{ what: "For a course", command: "bpe playground -o playground.html" }],
  run: async () => (await import("./playground-command.ts")).runPlayground,
};
