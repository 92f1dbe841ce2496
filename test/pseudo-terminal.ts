import { environment } from "./binary.ts";

export type Screen = {
  readonly columns?: number;
  readonly env?: Record<string, string>;
  readonly cwd?: string;
};

/** Runs a command on a terminal of its own; what it writes there, stdout and stderr together. */
export async function onTerminal(command: readonly string[], screen: Screen = {}): Promise<string> {
  const { columns = 80, env = {}, cwd } = screen;
  const decoder = new TextDecoder();
  let shown = "";
  const run = Bun.spawn([...command], {
    env: { ...environment, TERM: "xterm", ...env },
    ...(cwd === undefined ? {} : { cwd }),
    terminal: {
      cols: columns,
      rows: 24,
      data: (_terminal, bytes) => {
        shown += decoder.decode(bytes, { stream: true });
      },
    },
  });
  await run.exited;
  // What the terminal holds comes after the end of the process.
  for (let before = -1; before !== shown.length; await Bun.sleep(20)) before = shown.length;
  run.terminal?.close();
  return shown.replaceAll("\r\n", "\n");
}
