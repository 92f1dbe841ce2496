import { expect, test } from "bun:test";
import { resolve } from "node:path";
import { commonCode } from "../../scripts/common-code.ts";
import { doorless } from "../../scripts/without-doors.ts";

const source = resolve(import.meta.dir, "../../src");

/** Returns how many files the program loads before a dynamically imported function runs. */
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
