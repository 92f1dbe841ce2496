// A module of src has a door, its index.ts, which others import as "#" and its name (package.json, `imports`). A bundle has no
// doors: each import is from the file that declares the name. So a command loads the files that it uses, not whole modules.
import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import type { BunPlugin } from "bun";

const root = resolve(import.meta.dir, "..");

const { imports = {} } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  imports?: Record<string, string>;
};

/** The path of what "#NAME" stands for. */
export function pathOfDoor(name: string): string {
  const target = imports[name];
  if (target === undefined) throw new Error(`package.json has no import ${name}`);
  return join(root, target);
}

const exportsOf = new Map<string, ReadonlyMap<string, string>>();

/** The files that declare what a door exports, by name. */
function readDoor(path: string): ReadonlyMap<string, string> {
  let known = exportsOf.get(path);
  if (known === undefined) {
    const lines = readFileSync(path, "utf8").matchAll(/^export (?:type )?\{([^}]*)\} from "(\.[^"]+)";$/gm);
    known = new Map(
      [...lines].flatMap(([, names, file]) =>
        namesOf(names!).map((name) => [name.replace(/^type /, ""), resolve(dirname(path), file!)] as const),
      ),
    );
    exportsOf.set(path, known);
  }
  return known;
}

/** The text of a source file, with imports from the files that declare the names in the place of imports through doors. */
export function withoutDoors(path: string, text: string): string {
  return text.replaceAll(throughDoor, (statement, how: string, names: string, door: string) => {
    const files = readDoor(pathOfDoor(door));
    const values = namesOf(names).filter((name) => !name.startsWith("type "));
    const byFile = Map.groupBy(values, (name) => files.get(name.replace(/ as .*/, "")));
    if (byFile.has(undefined)) throw new Error(`${path}: ${door} does not export all of: ${statement}`);
    return [...byFile]
      .map(([file, some]) => `${how} { ${some.join(", ")} } from "${specifier(path, file!)}";`)
      .join(" ");
  });
}

/** Statements that import types alone are left to the bundler. */
const throughDoor = /^(import|export) \{([^}]*)\} from "(#[\w/-]+)";$/gm;

const namesOf = (clause: string): string[] =>
  clause
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");

function specifier(from: string, to: string): string {
  const path = relative(dirname(from), to);
  return path.startsWith(".") ? path : `./${path}`;
}

/** A plugin for a bundle that has no other one that reads sources. */
export const doorless: BunPlugin = {
  name: "without doors",
  setup(build) {
    build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => ({
      contents: withoutDoors(path, readFileSync(path, "utf8")),
      loader: "ts",
    }));
  },
};
