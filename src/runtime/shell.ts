/** The arguments as a POSIX shell would have to be given them. */
export const shellLine = (args: readonly string[]) => args.map(shellQuoted).join(" ");

/** One of them, also in a command that a hint shows. */
export const shellQuoted = (argument: string) =>
  /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`;
