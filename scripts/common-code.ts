import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { BunPlugin } from "bun";
import { pathOfDoor, withoutDoors } from "./without-doors.ts";

// Bun's bundler makes one file from all modules that are reachable from the same entries, and every dynamic import is
// an entry. So a command would load 70 files. With this plugin, dynamic imports also request the modules that many
// commands load. These modules then become two files: one has the modules that every run loads at its start, the other
// has the rest of them.

type Imports = { readonly now: readonly string[]; readonly later: readonly string[] };

/** A module that at least this share of all commands loads is requested by every command. */
const commonShare = 1 / 3;

const isCommand = (path: string) => path.endsWith("-command.ts");

/** Returns functions that follow the imports of source files. Each file is read once. */
export function importGraph() {
  const transpiler = new Bun.Transpiler({ loader: "ts" });
  const known = new Map<string, Imports>();
  const importsOf = (path: string): Imports => {
    const found = known.get(path) ?? scan(transpiler, path);
    known.set(path, found);
    return found;
  };
  /** Adds a file, and all that it imports statically, to `reached`. */
  const reach = (path: string, reached = new Set<string>()): Set<string> => {
    if (reached.has(path)) return reached;
    reached.add(path);
    for (const other of importsOf(path).now) reach(other, reached);
    return reached;
  };
  return { importsOf, reach };
}

/**
 * Returns the plugin for a build of the command line. Workers are built without it, because they would load code that
 * only commands need. `directory` is src.
 */
export function commonCode(directory: string): BunPlugin {
  const { importsOf, reach } = importGraph();
  const start = `${directory}/main/run.ts`;
  const atStart = reach(start);
  const laterOf = (paths: Iterable<string>) => [...paths].flatMap((path) => importsOf(path).later);
  const tables = laterOf(atStart).filter((path) => importsOf(path).later.some(isCommand));
  const atTables = tables.flatMap((path) => [...reach(path)]);
  const commands = laterOf([...atStart, ...atTables])
    .filter(isCommand)
    .map((path) => reach(path));
  const isShared = (path: string) =>
    commands.filter((modules) => modules.has(path)).length >= commonShare * commands.length;
  const shared = commands.flatMap((modules) => [...modules].filter(isShared));
  const onDemand = new Set(
    laterOf([...atStart, ...atTables, ...commands.flatMap((modules) => [...modules])]),
  );
  const asked = (paths: Iterable<string>) =>
    [...new Set(paths)]
      .filter((path) => !onDemand.has(path))
      .map((path) => `import "${path}";\n`)
      .join("");
  const atStartOnly = asked(atStart);
  const all = asked([...atStart, ...shared]);
  /** Whether a file is a table of commands or code for runs without a command. */
  const isForStart = (path: string) =>
    tables.includes(path) || (importsOf(start).later.includes(path) && !isCommand(path));
  return {
    name: "common code",
    setup(build) {
      build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
        const text = withoutDoors(path, readFileSync(path, "utf8"));
        const before = !onDemand.has(path) ? "" : isForStart(path) ? atStartOnly : all;
        return { loader: "ts", contents: before + text };
      });
    },
  };
}

function scan(transpiler: Bun.Transpiler, path: string): Imports {
  const found = transpiler
    .scanImports(withoutDoors(path, readFileSync(path, "utf8")))
    .filter((one) => one.path.startsWith("#") || (one.path.startsWith(".") && one.path.endsWith(".ts")));
  const pathsOf = (isLater: boolean) =>
    found
      .filter(({ kind }) => (kind !== "import-statement") === isLater)
      .map((one) => (one.path.startsWith("#") ? pathOfDoor(one.path) : resolve(dirname(path), one.path)));
  return { now: pathsOf(false), later: pathsOf(true) };
}
