import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { commonCode, importGraph } from "../../scripts/common-code.ts";
import { doorless } from "../../scripts/without-doors.ts";

const source = resolve(import.meta.dir, "../../src");

/**
 * Returns, for each function in `names`, how many files of the build are loaded for it: those of main.js, of `run` and of
 * the function, with all that they import statically. Tables of commands, which are imported on demand, are not counted.
 */
async function fileCounts(plugins: Bun.BunPlugin[], names: readonly string[]) {
  const { outputs } = await Bun.build({
    entrypoints: [`${source}/main.ts`],
    define: { BPE_COMMIT: '""' },
    naming: { entry: "[name].[ext]" },
    target: "bun",
    splitting: true,
    plugins,
  });
  const texts = new Map<string, string>();
  for (const output of outputs) texts.set(output.path.replace(/^.*\//, ""), await output.text());
  const load = (file: string, loaded: Set<string>): Set<string> => {
    if (loaded.has(file)) return loaded;
    loaded.add(file);
    for (const [, other] of texts.get(file)!.matchAll(/^(?:import|} from|import .* from) "\.\/(.+)";$/gm))
      load(other!, loaded);
    return loaded;
  };
  const exported = (text: string) => /^export \{([^}]*)\}/m.exec(text)?.[1]?.split(/[\s,]+/) ?? [];
  const fileOf = (name: string) => [...texts].find(([, text]) => exported(text).includes(name))![0];
  return names.map((name) => load(fileOf(name), load(fileOf("run"), load("main.js", new Set()))).size);
}

test("a command loads few files: code that many commands share is in two", async () => {
  const names = ["runTrain", "runEncode", "runInspect", "runEval", "runDecode"];
  const [few, many] = [await fileCounts([commonCode(source)], names), await fileCounts([doorless], names)];
  for (const [i, name] of names.entries()) {
    expect([name, few[i]! <= 32 && 2 * few[i]! <= many[i]!]).toEqual([name, true]);
  }
});

/**
 * For each command: the maximum number of lines of code that it may load at its start, without comments and empty lines,
 * the file of the table that lists it, and the file of the command. Other files that are imported on demand do not count.
 */
const linesMax = {
  decode: [8_800, "encode/encode-commands.ts", "encode/decode-command.ts"],
  train: [18_000, "train/train-commands.ts", "train/train-command.ts"],
} as const;

test.each(Object.entries(linesMax))("%s loads at most its share of the source", (_, [
  most,
  table,
  command,
]) => {
  const { importsOf, reach } = importGraph();
  const path = (name: string) => `${source}/${name}`;
  const entries = ["main.ts", "main/run.ts", table, command].map(path);
  const loaded = new Set<string>();
  for (const entry of entries) reach(entry, loaded);
  // Each entry after main.ts is imported on demand by one of the loaded files.
  const onDemand = [...loaded].flatMap((file) => importsOf(file).later);
  expect(onDemand).toEqual(expect.arrayContaining(entries.slice(1)));
  const lines = [...loaded].flatMap((file) => readFileSync(file, "utf8").split("\n"));
  const lineCount = lines.filter((line) => !/^\s*(\/?\*|\/\/|$)/.test(line)).length;
  expect(lineCount).toBeLessThanOrEqual(most);
  expect(lineCount).toBeGreaterThan(most / 2);
});
