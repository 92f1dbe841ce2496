/** The arguments as a POSIX shell would have to be given them. */
export const shellLine = (args: readonly string[]) => args.map(shellQuoted).join(" ");

const shellQuoted = (argument: string) =>
  /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`;
