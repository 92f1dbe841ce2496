// The commands plan, encode, tokens, decode and ids.

export { encodeCommands, idsCommands, planCommand } from "./encode-commands.ts";
