// Part of `npm run suite real`: runs in_process.py, which compares the native Python module with the executable, on
// each tokenizer.
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { buildModule } from "../../../scripts/native/build.ts";
import { binary, put, scratch } from "../../binary.ts";
import { home, materialOf, pathOf } from "./programs.ts";
import { commonTexts, ownTexts } from "./texts.ts";
import { readTokenizers } from "./tokenizers.ts";

setDefaultTimeout(600_000);

const seed = Number(process.env.TEST_SEED ?? 12);
const directory = scratch();
const common = commonTexts(seed);
let idCount = 0;

afterAll(() =>
  console.log(`seed ${seed}: ${idCount.toLocaleString("en")} ids in Python's process are those of bpe`),
);

for (const tokenizer of readTokenizers()) {
  test(tokenizer.name, async () => {
    expect((await buildModule()).obstacle).toBeUndefined();
    const texts = [...common, ...ownTexts(seed, await materialOf(tokenizer))];
    const lines = [...texts, texts.join("\n")].map((text) => `${JSON.stringify(text.toWellFormed())}\n`);
    const asked = put(directory, `${tokenizer.name}.json`, lines.join(""));
    const args = [binary, asked, pathOf(tokenizer), ...(tokenizer.options ?? [])];
    const run = Bun.spawn(
      [join(home, "python/bin/python"), join(import.meta.dir, "in_process.py"), ...args],
      {
        env: {
          ...process.env,
          PYTHONPATH: join(import.meta.dir, "../../../python"),
          PYTHONDONTWRITEBYTECODE: "1",
        },
        stderr: "pipe",
      },
    );
    const [said, stderr, code] = await Promise.all([run.stdout.text(), run.stderr.text(), run.exited]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    idCount += Number(said);
  });
}
