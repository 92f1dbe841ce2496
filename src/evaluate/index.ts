// The commands eval, diff, inspect and explain.

export { evaluateCommands } from "./evaluate-commands.ts";
