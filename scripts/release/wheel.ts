// Python wheels: the module of python/bpe_trainer and the executable.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ArchivedFile, zip } from "./archive.ts";
import { standAlone } from "./documents.ts";
import type { ShellFile } from "./shell-files.ts";

/** The name of the package and of its module. On PyPI, `bpe` is another package. */
export const distributionName = "bpe_trainer";

export type WheelOptions = {
  /** The project's directory. */
  readonly root: string;
  readonly executable: Uint8Array;
  /** The native module and its file name. Without it, the package can train, but not encode. */
  readonly nativeModule?: { readonly name: string; readonly bytes: Uint8Array } | undefined;
  /** Such as "manylinux_2_17_x86_64". */
  readonly platform: string;
  readonly notice: string;
  /**
   * Files that are installed below the environment's prefix. `man` finds its page there, because it also looks next to
   * the directories of PATH. A shell finds its completions only if it searches below that prefix.
   */
  readonly shellFiles: readonly ShellFile[];
  /** The time of every file in the wheel, in seconds since 1970. */
  readonly seconds: number;
};

/**
 * Makes a wheel (packaging.python.org, "binary distribution format"): a ZIP file with the module, metadata, the
 * executable below "NAME.data/scripts", the shell files below "NAME.data/data", and RECORD, which has the SHA-256 of
 * every other file.
 */
export function makeWheel(options: WheelOptions) {
  const { root, executable, nativeModule, platform, notice, shellFiles, seconds } = options;
  const { version, description }: { version: string; description: string } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  );
  const tag = `py3-none-${platform}`;
  const name = `${distributionName}-${version}`;
  const text = (path: string, content: string): ArchivedFile => ({ path, bytes: Buffer.from(content) });
  const moduleFiles = readdirSync(join(root, "python/bpe_trainer")).filter((file) =>
    /\.py$|^py\.typed$/.test(file),
  );
  const files: ArchivedFile[] = [
    ...moduleFiles.sort().map((file) => ({
      path: `${distributionName}/${file}`,
      bytes: readFileSync(join(root, "python/bpe_trainer", file)),
    })),
    ...(nativeModule === undefined
      ? []
      : [
          { path: `${distributionName}/${nativeModule.name}`, bytes: nativeModule.bytes, isExecutable: true },
        ]),
    {
      path: `${name}.data/scripts/${platform.startsWith("win") ? "bpe.exe" : "bpe"}`,
      bytes: executable,
      isExecutable: true,
    },
    ...shellFiles.map((file) => text(`${name}.data/data/${file.installedPath}`, file.text)),
    text(`${name}.dist-info/METADATA`, metadata(version, description, standAlone(root, "python/README.md"))),
    text(
      `${name}.dist-info/WHEEL`,
      lines("Wheel-Version: 1.0", "Generator: bpe", "Root-Is-Purelib: false", `Tag: ${tag}`),
    ),
    text(`${name}.dist-info/licenses/LICENSE`, readFileSync(join(root, "LICENSE"), "utf8")),
    text(`${name}.dist-info/licenses/NOTICE`, notice),
  ];
  const record = files.map(({ path, bytes }) => `${path},sha256=${base64Sha256(bytes)},${bytes.length}`);
  const recordPath = `${name}.dist-info/RECORD`;
  files.push(text(recordPath, lines(...record, `${recordPath},,`)));
  return { name: `${name}-${tag}.whl`, bytes: zip(files, seconds) };
}

const metadata = (version: string, description: string, readme: string) =>
  lines(
    "Metadata-Version: 2.4",
    `Name: ${distributionName.replaceAll("_", "-")}`,
    `Version: ${version}`,
    `Summary: ${description}`,
    "License-Expression: Apache-2.0",
    "License-File: LICENSE",
    "License-File: NOTICE",
    "Requires-Python: >=3.10",
    "Provides-Extra: numpy",
    'Requires-Dist: numpy; extra == "numpy"',
    "Provides-Extra: hf",
    'Requires-Dist: tokenizers; extra == "hf"',
    "Provides-Extra: tiktoken",
    'Requires-Dist: tiktoken; extra == "tiktoken"',
    "Description-Content-Type: text/markdown",
    "",
    readme,
  );

const lines = (...all: string[]) => all.map((line) => `${line}\n`).join("");

/** Returns a SHA-256 as RECORD has it: base64 for URLs, without padding. */
const base64Sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("base64url");
