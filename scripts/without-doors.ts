// A module of src has a door, its index.ts, which other modules import as "#" and its name. A bundle has no doors: each
// import is from the file that declares the name. So a command loads only the files that it uses.
import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import type { BunPlugin } from "bun";

const root = resolve(import.meta.dir, "..");

const { imports = {} } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  imports?: Record<string, string | Readonly<Record<string, string>>>;
};

/** The path of the file that an import of package.json names; if that depends on the target, the default one. */
export function pathOfDoor(name: string): string {
  const target = imports[name];
  if (target === undefined) throw new Error(`package.json has no import ${name}`);
  return join(root, typeof target === "string" ? target : target.default!);
}

/** Whether an import names different files for different targets. */
const hasTwins = (name: string) => typeof imports[name] === "object";

type Origin = {
  /** The file that declares a name, or the import of package.json if that file depends on the target. */
  readonly file: string;
  /** Whether the name is that of a namespace (`export * as`). */
  readonly isNamespace: boolean;
};

const exportsOf = new Map<string, ReadonlyMap<string, Origin>>();

/** Returns where each name that a door exports comes from. */
function readDoor(path: string): ReadonlyMap<string, Origin> {
  let known = exportsOf.get(path);
  if (known === undefined) {
    const lines = readFileSync(path, "utf8").matchAll(
      /^export (?:type )?(?:\{([^}]*)\}|\* as (\w+)) from "([.#][^"]+)";$/gm,
    );
    known = new Map(
      [...lines].flatMap(([, names, namespace, from]): [string, Origin][] => {
        const file = from!.startsWith("#") ? from! : resolve(dirname(path), from!);
        if (namespace !== undefined) return [[namespace, { file, isNamespace: true }]];
        return namesOf(names!).map((name) => [name.replace(/^type /, ""), { file, isNamespace: false }]);
      }),
    );
    exportsOf.set(path, known);
  }
  return known;
}

/**
 * Returns the text of a source file in which imports through doors are replaced with imports from the declaring files.
 * Imports that depend on the target (`hasTwins`) stay, and so do those of types (`import type`).
 */
export const withoutDoors = (path: string, text: string): string =>
  text.replaceAll(throughDoor, (statement, how: string, names: string, door: string) => {
    const values = namesOf(names).filter((name) => !name.startsWith("type "));
    return hasTwins(door) ? statement : statementsFor(path, how, values, door);
  });

/**
 * Returns the text of a declaration file in which imports through doors, also of types, are replaced. `path` is the
 * path of the source.
 */
export const typesWithoutDoors = (path: string, text: string): string =>
  text
    .replaceAll(throughDoorForTypes, (_, how: string, names: string, door: string) =>
      statementsFor(path, how, namesOf(names), door),
    )
    .replaceAll(/\bimport\("(#[\w/]+)"\)\.(\w+)/g, (_, door: string, name: string) => {
      const { file, isNamespace } = readDoor(pathOfDoor(door)).get(name)!;
      return `import("${specifier(path, file)}")${isNamespace ? "" : `.${name}`}`;
    });

/** Does not match statements that import only types, because bundlers drop them. */
const throughDoor = /^(import|export) \{([^}]*)\} from "(#[\w/-]+)";$/gm;
const throughDoorForTypes = /^((?:import|export)(?: type)?) \{([^}]*)\} from "(#[\w/-]+)";$/gm;

function statementsFor(path: string, how: string, names: readonly string[], door: string): string {
  const origins = readDoor(pathOfDoor(door));
  const originOf = (name: string) => origins.get(name.replace(/^type | as .*/g, ""));
  if (!names.every(originOf)) {
    throw new Error(`${path}: ${door} does not export all of ${names.join(", ")}`);
  }
  const [namespaces, others] = [true, false].map((wanted) =>
    names.filter((name) => originOf(name)!.isNamespace === wanted),
  );
  return [
    ...namespaces!.map((name) => {
      const [, type = "", from, local = from] = /^(type )?(\w+)(?: as (\w+))?$/.exec(name)!;
      return `${how} ${type}* as ${local} from "${specifier(path, originOf(name)!.file)}";`;
    }),
    ...[...Map.groupBy(others!, (name) => originOf(name)!.file)].map(
      ([file, some]) => `${how} { ${some.join(", ")} } from "${specifier(path, file)}";`,
    ),
  ].join(" ");
}

const namesOf = (clause: string): string[] =>
  clause
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");

function specifier(from: string, to: string): string {
  if (to.startsWith("#")) return to;
  const path = relative(dirname(from), to);
  return path.startsWith(".") ? path : `./${path}`;
}

/** The plugin for bundles that have no other plugin that reads sources. */
export const doorless: BunPlugin = {
  name: "without doors",
  setup(build) {
    build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => ({
      contents: withoutDoors(path, readFileSync(path, "utf8")),
      loader: "ts",
    }));
  },
};
