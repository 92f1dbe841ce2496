// The commands prune, truncate, convert and image.

export { editCommands, imageCommand } from "./edit-commands.ts";
export { piecesInFirst } from "./prune-tokenizer.ts";
