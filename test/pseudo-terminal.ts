import { environment } from "./binary.ts";

export type Screen = {
  readonly columns?: number;
  readonly env?: Record<string, string>;
  readonly cwd?: string;
};

/** A command that runs on a new pseudo-terminal. */
export type Session = {
  /** Returns what the terminal has shown so far, including the echo of typed keys. */
  shown(): string;
  type(keys: string): void;
  /** Resolves when `text` has been shown; colours and bells are ignored. Rejects after ten seconds. */
  until(text: string): Promise<void>;
  /** Resolves with the exit code when the command ends. */
  readonly exited: Promise<number>;
  kill(): void;
};

export function openTerminal(command: readonly string[], screen: Screen = {}): Session {
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
  return {
    shown: () => shown.replaceAll("\r\n", "\n"),
    type: (keys) => run.terminal!.write(keys),
    async until(text) {
      const start = performance.now();
      while (!Bun.stripANSI(shown).replaceAll("\x07", "").includes(text)) {
        if (performance.now() - start > 10_000) {
          throw new Error(`${JSON.stringify(text)} is not shown: ${JSON.stringify(shown)}`);
        }
        await Bun.sleep(10);
      }
    },
    exited: run.exited,
    kill: () => run.kill("SIGKILL"),
  };
}

/** Runs a command on a terminal until it exits. Returns everything that it wrote. */
export async function onTerminal(command: readonly string[], screen: Screen = {}): Promise<string> {
  const session = openTerminal(command, screen);
  await session.exited;
  // Buffered output may arrive after the process has exited.
  for (let before = -1; before !== session.shown().length; await Bun.sleep(20))
    before = session.shown().length;
  return session.shown();
}
