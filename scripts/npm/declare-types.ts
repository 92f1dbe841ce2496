// Writes the declarations (.d.ts) of what the libraries export, and of nothing else.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { run } from "../release/run.ts";
import { typesWithoutDoors } from "../without-doors.ts";

const root = resolve(import.meta.dir, "../..");

/** Entries of the package, by their files in src. */
const entries = ["index.d.ts", "browser.d.ts"];

/** Refers to types that TypeScript lacks in a project that targets ECMAScript 5. */
const libraries = '/// <reference lib="es2020" />\n';

/** Writes the declarations into `directory`: those of the entries, and of what they import. */
export function declareTypes(directory: string): void {
  const all = join(root, "dist/npm/all-types");
  rmSync(all, { recursive: true, force: true });
  run("npx", ["--no-install", "tsc", "-p", join(root, "npm/tsconfig.types.json"), "--outDir", all], root);
  const written = new Set<string>();
  const write = (path: string) => {
    if (written.has(path)) return;
    written.add(path);
    const source = join(root, "src", path.replace(/\.d\.ts$/, ".ts"));
    const text = typesWithoutDoors(source, readFileSync(join(all, path), "utf8")).replaceAll(
      /((?:\bfrom |\bimport\()")(\.[^"]+)\.ts"/g,
      (_, start: string, other: string) => {
        write(join(dirname(path), `${other}.d.ts`));
        return `${start}${other}.js"`;
      },
    );
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), entries.includes(path) ? libraries + text : text);
  };
  rmSync(directory, { recursive: true, force: true });
  entries.forEach(write);
  rmSync(all, { recursive: true, force: true });
}
