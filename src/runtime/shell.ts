/** Joins arguments to a command line for a POSIX shell. */
export const line = (args: readonly string[]) => args.map(quoted).join(" ");

/** Quotes an argument for a POSIX shell if necessary. */
export const quoted = (argument: string) =>
  /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`;
