// The commands doctor and verify.

export { doctorCommands } from "./doctor-commands.ts";
