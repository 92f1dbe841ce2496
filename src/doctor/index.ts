// The command doctor.

export { doctorCommand } from "./doctor-commands.ts";
