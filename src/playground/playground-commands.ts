import type { Command } from "#terminal";
import { teaching } from "./playground-options.ts";

export const playgroundCommand: Command = {
  name: "playground",
  files: "",
  description: "write a page that trains, to learn from",
  details:
    "Writes one HTML file, which needs no network: it trains in the browser, and shows every merge. bpe help docs/learn.md leads through it.",
  options: teaching,
  examples: [{ what: "For a course", command: "bpe playground -o playground.html" }],
  run: async () => (await import("./playground-command.ts")).runPlayground,
};
