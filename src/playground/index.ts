// The playground, a page to learn from.

export { playgroundCommand } from "./playground-commands.ts";
