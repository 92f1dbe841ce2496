import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { commands } from "../src/main/all-commands.ts";

// A test below checks the order of modules. The linter checks that modules are imported by name only, such as #words,
// and without cycles (biome.json).

const root = join(import.meta.dir, "..");
const filesBelow = (pattern: string) =>
  [...new Bun.Glob(pattern).scanSync(root)].filter((path) => !path.includes("node_modules/")).sort();
/** Whether the build generates a file, which then does not count as a source. */
const isGenerated = (path: string) =>
  path.startsWith("src/kernel/masks/loops/") ||
  [
    "src/kernel/text/normalization-data.ts",
    "src/runtime/kernel-exports.ts",
    "src/pattern/named-masks.ts",
    "src/pattern/unicode-data.ts",
    "src/library/train-tokenizer-options.ts",
  ].includes(path);
const sources = filesBelow("src/**/*.ts").filter((path) => !isGenerated(path));
const pages = [...filesBelow("*.md"), ...filesBelow("{docs,examples,npm,python,.github}/**/*.md")];
const linesOf = (path: string) => readFileSync(join(root, path), "utf8").split("\n");

/** Returns the module of a source file, or "" for a file at the top of src. */
const moduleOf = (path: string) => (path.split("/").length > 2 ? path.split("/")[1]! : "");

/** Returns the modules in the order of ARCHITECTURE.md. */
function listedModules(): string[] {
  const rows = linesOf("ARCHITECTURE.md")
    .join("\n")
    .matchAll(/^\| `(\w+)\/` \|/gm);
  return [...rows].map(([, module]) => module!);
}

test("only the libraries and the entry point are at the top of src", () => {
  expect(sources.filter((path) => moduleOf(path) === "")).toEqual([
    "src/browser.ts",
    "src/index.ts",
    "src/main.ts",
  ]);
});

test("ARCHITECTURE.md lists every module", () => {
  const modules = new Set(sources.map(moduleOf).filter((module) => module !== ""));
  expect(listedModules().sort()).toEqual([...modules].sort());
});

test("package.json names the door of each module, in their order", () => {
  const { imports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { imports: object };
  const doors = listedModules().filter((module) => existsSync(join(root, "src", module, "index.ts")));
  expect(Object.keys(imports).filter((name) => doors.includes(name.slice(1)))).toEqual(
    doors.map((name) => `#${name}`),
  );
});

test("a module imports only modules that are listed before it, and none imports the kernel", () => {
  const modules = listedModules();
  const upward = sources.flatMap((path) => {
    const module = moduleOf(path);
    const named = linesOf(path)
      .join("\n")
      .matchAll(/\b(?:from|import)\s*\(?\s*"#(\w+)["/]/g);
    return [...named]
      .map(([, other]) => other!)
      .filter((other) => modules.includes(other) && modules.indexOf(other) > modules.indexOf(module))
      .filter(() => module !== "")
      .map((other) => `${path} -> ${other}`);
  });
  const kernel = sources.filter((path) =>
    linesOf(path).some((line) => /(from|import\() *"[^"]*\/kernel\/(?!.*\.wasm)/.test(line)),
  );
  expect([...upward, ...kernel]).toEqual([]);
});

/**
 * The maximum number of distinct names that modules import from each other, as `#module` or `#module/file`. To have
 * fewer, group a type with its functions in a namespace, or move a file to the module that uses it.
 */
const namesOfDoorsMax = 300;

test("modules import few names from each other", () => {
  const statement = /\b(?:import|export)\s+(?:type\s+)?(?:\{([^}]*)\}|(\* as \w+))\s+from\s+"(#[^"]+)"/g;
  const names = sources.flatMap((path) =>
    [...linesOf(path).join("\n").matchAll(statement)].flatMap(([, list, namespace = "", door]) =>
      (list ?? namespace)
        .split(",")
        .map((name) => name.trim().replace(/^type | as .*/g, ""))
        .filter((name) => name !== "")
        .map((name) => `${door} ${name}`),
    ),
  );
  const { size } = new Set(names);
  expect(size).toBeLessThanOrEqual(namesOfDoorsMax);
  expect(size).toBeGreaterThan(namesOfDoorsMax / 2);
});

/** Whether the messages of a file may spell options. */
const isAboutCommands = (path: string) =>
  ["main", "kernel", "pages", "playground"].includes(moduleOf(path)) || /-(commands|options)\.ts$/.test(path);

test("messages name options as data, so that each caller can spell them", () => {
  const names = new Set(commands.flatMap(({ options }) => options.map(({ name }) => name)));
  const spelled = sources.flatMap((path) =>
    linesOf(path)
      .filter(
        (line) => !isAboutCommands(path) && !/^\s*(\/\/|\/?\*)/.test(line) && !/bpe |hf download/.test(line),
      )
      .filter((line) => [...line.matchAll(/["`][^"`]*?--([a-z-]+)/g)].some(([, name]) => names.has(name!)))
      .map((line) => `${path}: ${line.trim()}`),
  );
  expect(spelled.filter((found) => !/shell\.line|NAME prints each text/.test(found))).toEqual([]);
});

test("slow modules of the runtime are loaded only where they are needed", () => {
  const slow = /^import (?!type).*"node:(crypto|fs\/promises|stream|tty|zlib)"/;
  const loading = sources.filter((path) => linesOf(path).some((line) => slow.test(line)));
  // These files may import slow modules, because few runs need the files, or the executable does not contain them.
  expect(loading).toEqual([
    "src/corpus/records/parquet/plan-pages.ts",
    "src/runtime/host.node.ts",
    "src/tokenizer/image.ts",
    "src/tokenizer/read-image.ts",
  ]);
});

test("no two source files have the same name, except for doors", () => {
  const byName = Map.groupBy(
    sources.filter((path) => basename(path) !== "index.ts"),
    (path) => basename(path),
  );
  expect([...byName.values()].filter((paths) => paths.length > 1)).toEqual([]);
});

test("every file of ours that a page or a comment names exists", () => {
  const all = filesBelow("{src,test,bench,scripts,examples}/**/*.{ts,mjs}").concat(filesBelow("*.ts"));
  const exists = (name: string) => all.some((path) => path === name || path.endsWith(`/${name}`));
  const missing = [...pages, ...all.filter((path) => path.endsWith(".ts"))].flatMap((path) => {
    const lines = path.endsWith(".md") ? linesOf(path) : linesOf(path).filter((line) => isComment.test(line));
    const names = lines.flatMap((line) => [...line.matchAll(fileName)].map(([name]) => name));
    return names.filter((name) => !exists(name)).map((name) => `${path}: ${name}`);
  });
  expect(missing).toEqual([]);
});

const isComment = /^\s*(\/\/|\/?\*)/;
/** The name of a .ts or .mjs file, with or without directories. A name with capital letters is a placeholder. */
const fileName = /(?<![\w.*<-])(?:[\w.-]+\/)*[a-z][a-z0-9-]*(?:\.test)?\.(?:ts|mjs)\b/g;

test("no line of Markdown is longer than 110 characters, except for rows of tables", () => {
  const long = pages.flatMap((path) =>
    linesOf(path).flatMap((line, i) =>
      [...line].length > 110 && !line.startsWith("|") ? [`${path}:${i + 1}`] : [],
    ),
  );
  expect(long).toEqual([]);
});
