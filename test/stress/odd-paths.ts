// Tries odd paths for arguments that take a path. A run must succeed, or describe the mistake in words.
//
//   npm run suite paths -- [--only "train --cache"]
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { binary, bpe } from "../binary.ts";
import * as commandLines from "../cli/command-lines.ts";
import { makePipe, otherUser } from "../other-user.ts";

type OddPath = {
  /** A description of what is odd. */
  readonly name: string;
  readonly path: string;
  /** Creates the files for the path in the run's directory. */
  readonly make?: (home: string) => void;
  /** Whether reading the path may last until a signal comes, as for a pipe without a writer. */
  readonly waits?: boolean;
  /** Whether only its permissions make the path odd. They do not apply to root. */
  readonly isForbidden?: boolean;
};

const long = "n".repeat(256);
const loop = (home: string) => symlinkSync("loop", join(home, "loop"));
const dangling = (home: string) => symlinkSync("nowhere", join(home, "dangling"));
const locked = (home: string) => {
  mkdirSync(join(home, "locked"));
  writeFileSync(join(home, "locked", "x"), "text");
  chmodSync(join(home, "locked"), 0);
};
const socket = (home: string) => Bun.listen({ unix: join(home, "socket"), socket: { data() {} } }).unref();

const oddPaths: readonly OddPath[] = [
  { name: "below a file", path: "file.txt/x" },
  { name: "a link to itself", path: "loop", make: loop },
  { name: "a name too long", path: long },
  { name: "missing", path: "missing" },
  { name: "in a directory that is missing", path: "missing/x" },
  { name: "empty", path: "" },
  { name: "a file, as a directory", path: "file.txt/" },
  { name: "a file, as a directory, with a dot", path: "file.txt/." },
  { name: "deep below a file", path: "file.txt/a/b/../c" },
  { name: "a glob below a file", path: "file.txt/*" },
  { name: "below a link to itself", path: "loop/x", make: loop },
  { name: "a glob below a link to itself", path: "loop/*", make: loop },
  { name: "in a directory with a name too long", path: `${long}/x` },
  { name: "a glob with a name too long", path: `${long}*` },
  { name: "a path too long", path: "a/".repeat(2048) },
  { name: "a path too long, to a file that exists", path: `${"./".repeat(2100)}file.txt` },
  { name: "a link that leads nowhere", path: "dangling", make: dangling },
  { name: "below a link that leads nowhere", path: "dangling/x", make: dangling },
  {
    name: "a link to a process's directory",
    path: "l",
    make: (home) => symlinkSync("/proc/self", join(home, "l")),
  },
  { name: "a directory", path: "directory" },
  { name: "a directory, with a slash", path: "directory/" },
  { name: "this directory", path: "." },
  { name: "the one above", path: ".." },
  { name: "the root", path: "/" },
  { name: "a socket", path: "socket", make: socket },
  { name: "below a socket", path: "socket/x", make: socket },
  { name: "a pipe", path: "pipe", make: (home) => void makePipe(join(home, "pipe")), waits: true },
  { name: "the null device", path: "/dev/null" },
  { name: "a device that is full, and endless", path: "/dev/full", waits: true },
  { name: "a terminal, where there is none", path: "/dev/tty" },
  { name: "a descriptor that is closed", path: "/dev/fd/99" },
  { name: "a descriptor that is not a number", path: "/proc/self/fd/x" },
  { name: "a file that cannot be read", path: "/proc/self/mem" },
  { name: "a file that can only be written", path: "/proc/self/clear_refs" },
  { name: "missing in a file system of the kernel", path: "/proc/x" },
  { name: "missing in another file system of the kernel", path: "/sys/x" },
  { name: "below a file of the kernel", path: "/proc/version/x" },
  { name: "a line break and an escape", path: "a\nbpe: error: b\x1b[31m\u202e\u200b" },
  { name: "an equals sign", path: "=" },
  { name: "half a glob", path: "[" },
  { name: "a file in a locked directory", path: "locked/x", make: locked, isForbidden: true },
  { name: "a locked directory", path: "locked", make: locked, isForbidden: true },
];

type PathArgument = { readonly name: string; readonly args: (path: string) => readonly string[] };

const quiet = ["-w", "1", "-q"];
const train = ["train", "corpus.txt", "-n", "262", "-o", "out", ...quiet];
const prune = ["prune", "tok", "-n", "260", "-o", "out", "--text", "corpus.txt", ...quiet];
const extend = ["train", "corpus.txt", "-n", "+2", "-o", "out", "--extend", "tok", ...quiet];
const encodeIds = ["ids", "encode", "ids.npy", "--tokenizer", "id-tok", "-o", "out.npy", "-q"];
const inspect = (path: string) => ["inspect", path, "-q"];

/**
 * Returns a command that uses a tokenizer directory in which the file `name` is a link to the path, or is missing if the
 * path is empty or too long for a link.
 */
const fileOf = (command: readonly string[], word: string, name: string): PathArgument => ({
  name: `${command[0]}${command.includes("--extend") ? " --extend" : ""} ${word}/${name}`,
  args: (path) => ["link", name, path, ...command],
});

/** All arguments that are paths, $TMPDIR, and some files in the directory of a tokenizer. */
const pathArguments: readonly PathArgument[] = [
  ...commandLines.pathArguments.map(({ name, lineWith }) => ({ name, args: lineWith })),
  {
    name: "$TMPDIR",
    args: (path) => ["TMPDIR", path, "count", "corpus.txt", "-o", "out.counts", "--memory-limit=1MB", "-q"],
  },
  ...["tokenizer.json", "training.json", "tokens.tsv", "tokenizer_config.json"].map((name) =>
    fileOf(inspect("tok"), "tok", name),
  ),
  ...["vocab.json", "merges.txt", "training.json"].map((name) =>
    fileOf(inspect("tok/vocab.json"), "vocab", name),
  ),
  ...["tokenizer.tiktoken", "training.json"].map((name) =>
    fileOf(inspect("tok/tokenizer.tiktoken"), "ranks", name),
  ),
  ...["vocab.json", "tokenizer_config.json", "special_tokens_map.json", "training.json"].map((name) =>
    fileOf(prune, "tok", name),
  ),
  ...["vocab.json", "tokenizer_config.json", "training.json"].map((name) => fileOf(extend, "tok", name)),
  ...["merges.txt", "training.json"].map((name) => fileOf(encodeIds, "id-tok", name)),
  fileOf(train, "out", "training.json"),
];

/** The files for the runs. They are made once, and copied for each run. */
class OddWorld {
  readonly model: string;
  private homeCount = 0;

  constructor(readonly root: string) {
    chmodSync(root, 0o755);
    this.model = join(root, "model");
    mkdirSync(join(this.model, "directory"), { recursive: true });
    writeFileSync(join(this.model, "file.txt"), "a file");
    commandLines.fillWithInputs(this.model);
    const made = bpe(["train", "corpus.txt", "-n", "262", "-o", "out", "-q"], { cwd: this.model });
    if (made.code !== 0) throw new Error(`bpe train: ${made.stderr}`);
  }

  /** Runs the command with the path. Returns what is wrong with the result, or undefined if it is right. */
  async complaint(argument: PathArgument, odd: OddPath): Promise<string | undefined> {
    const home = join(this.root, `home-${this.homeCount++}`);
    const temporary = join(home, "tmp");
    cpSync(this.model, home, { recursive: true });
    mkdirSync(temporary);
    odd.make?.(home);
    let args = argument.args(odd.path);
    const env: Record<string, string> = { TMPDIR: temporary };
    if (args[0] === "TMPDIR") {
      env.TMPDIR = args[1]!;
      args = args.slice(2);
    }
    if (args[0] === "link") {
      for (const directory of ["tok", "id-tok", "out"]) {
        rmSync(join(home, directory, args[1]!), { force: true });
        const target = odd.path.startsWith("/") ? odd.path : `../${odd.path}`;
        if (odd.path !== "" && odd.path.length < 4090) symlinkSync(target, join(home, directory, args[1]!));
      }
      args = args.slice(3);
    }
    const isOther = odd.isForbidden && process.geteuid?.() === 0;
    if (isOther) Bun.spawnSync(["chown", "-R", String(otherUser), home]);
    const wrapper = isOther ? ["setpriv", `--reuid=${otherUser}`, "--clear-groups"] : ["setsid", "-w"];
    const child = Bun.spawn([...wrapper, binary, ...args], {
      cwd: home,
      env: { ...env, PATH: process.env.PATH },
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
    });
    // A run that hangs is killed, so it has no exit code. If reading the path `waits`, the run only gets SIGTERM, and
    // must end by itself.
    const timer = setTimeout(() => child.kill(odd.waits ? "SIGTERM" : "SIGKILL"), odd.waits ? 1000 : 60_000);
    const [stderr] = await Promise.all([new Response(child.stderr).text(), child.exited]);
    clearTimeout(timer);
    const left = odd.isForbidden ? [] : leftOvers(home, temporary);
    const wrong =
      wrongWith(child.exitCode, stderr) ?? (left.length > 0 ? `left: ${left.join(", ")}` : undefined);
    if (odd.isForbidden) chmodSync(join(home, "locked"), 0o700);
    rmSync(home, { recursive: true, force: true });
    return wrong && `${argument.name}, ${odd.name}: ${wrong}\n    bpe ${args.join(" ").slice(0, 200)}`;
  }
}

function leftOvers(home: string, temporary: string): string[] {
  const hidden = readdirSync(home).filter((name) => /^\..*bpe/.test(name));
  return [...hidden, ...readdirSync(temporary)];
}

function wrongWith(code: number | null, stderr: string): string | undefined {
  if (code === null) return `it hung, or died: ${stderr}`;
  if (![0, 1, 2, 143].includes(code)) return `exit code ${code}: ${stderr}`;
  if (/internal error|this is a bug/.test(stderr)) return stderr;
  if (/\bE[A-Z]{3,}\b/.test(stderr)) return `a code of the system: ${stderr}`;
  const lines = stderr.split("\n").slice(0, -1);
  if (lines.some((line) => !/^(bpe: (error: |terminated)|hint: )/.test(line)))
    return `a line of its own: ${stderr}`;
  const errorCount = lines.filter((line) => line.startsWith("bpe: ")).length;
  if (errorCount !== Number(code !== 0)) return `${errorCount} errors, exit code ${code}: ${stderr}`;
  return undefined;
}

/** Runs all pairs, two at a time. Returns the failures. */
async function complaintsOf(
  world: OddWorld,
  pairs: readonly (readonly [PathArgument, OddPath])[],
): Promise<string[]> {
  const complaints: string[] = [];
  let next = 0;
  const lane = async () => {
    while (next < pairs.length) {
      const [argument, odd] = pairs[next++]!;
      const wrong = await world.complaint(argument, odd);
      if (wrong !== undefined) complaints.push(wrong);
    }
  };
  await Promise.all([lane(), lane()]);
  return complaints;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { only: { type: "string" } } });
  const root = mkdtempSync(join(tmpdir(), "bpe-paths-"));
  try {
    const chosen = pathArguments.filter(({ name }) => values.only === undefined || name === values.only);
    const pairs = chosen.flatMap((argument) => oddPaths.map((odd) => [argument, odd] as const));
    const complaints = await complaintsOf(new OddWorld(root), pairs);
    for (const wrong of complaints) console.log(wrong);
    console.log(
      `${pairs.length} runs: ${chosen.length} arguments, ${oddPaths.length} paths; ${complaints.length} wrong`,
    );
    process.exitCode = complaints.length > 0 ? 1 : 0;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
