// The page to learn from.

export { playgroundCommand } from "./playground-commands.ts";
