// What a release says that it contains: packages, Bun and its parts.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { bunLicencePage, bunParts } from "../../scripts/release/bun-parts.ts";
import { bundledPackages, packagesInTheBuild } from "../../scripts/release/notice.ts";
import { fetchRuntime, pinnedRuntime } from "../../scripts/release/runtimes.ts";
import { type Bom, shippedPart, withArchives } from "../../scripts/release/sbom.ts";
import { targets } from "../../scripts/release/targets.ts";
import { put, scratch } from "../binary.ts";

const root = resolve(import.meta.dir, "../..");
const { dependencies }: { dependencies: Record<string, string> } = JSON.parse(
  readFileSync(`${root}/package.json`, "utf8"),
);

test("the shipped packages are those of the program, and some of the build", () => {
  const packages = bundledPackages(root);
  const names = packages.map(({ name }) => name);
  for (const name of [...Object.keys(dependencies), ...Object.keys(packagesInTheBuild)]) {
    expect(names).toContain(name);
  }
  for (const name of ["typescript", "bun", "bun-types", "@biomejs/biome"]) expect(names).not.toContain(name);
  for (const { version, license, sha512 } of packages) {
    expect(version).toMatch(/^\d+\.\d+\.\d+/);
    expect(license).not.toBe("");
    expect(sha512).toMatch(/^[0-9a-f]{128}$/);
  }
});

test("the shipped packages include those that pages import", () => {
  const names = bundledPackages(root).map(({ name }) => name);
  const imported = [...new Bun.Glob("src/**/*.browser.ts").scanSync(root)].flatMap((path) =>
    Array.from(
      readFileSync(`${root}/${path}`, "utf8").matchAll(/from "([a-z@][^":]*)"/g),
      ([, name]) => name!,
    ),
  );
  expect(imported).toContain("fflate");
  for (const name of imported) expect(names).toContain(name);
});

test("each target has a separate pinned Bun, of the version that builds", () => {
  const runtimes = targets.map(({ runtimePackage }) => pinnedRuntime(root, runtimePackage));
  expect(new Set(runtimes.map(({ sha512 }) => sha512)).size).toBe(targets.length);
  for (const { version } of runtimes) expect(version).toBe(Bun.version);
  expect(() => pinnedRuntime(root, "@oven/bun-amiga")).toThrow('does not pin "@oven/bun-amiga"');
});

test("a Bun other than the pinned one is refused", () => {
  const home = scratch();
  put(home, "oven-bun-linux-x64-1.0.0.tgz", "something else");
  const runtime = { packageName: "@oven/bun-linux-x64", version: "1.0.0", sha512: "00" };
  expect(() => fetchRuntime(runtime, home)).toThrow("is not what package-lock.json pins");
});

test("the SBOM lists the shipped packages and which Bun is in which archive", () => {
  const component = (name: string, group?: string) => {
    return { type: "library", name, version: "1.0.0", "bom-ref": `ref ${name}`, ...(group && { group }) };
  };
  const bom: Bom = {
    metadata: { component: component("bpe") },
    components: [component("tool"), component("used", "@some"), component("deep")],
    dependencies: [
      { ref: "ref bpe", dependsOn: ["ref tool", "ref used"] },
      { ref: "ref tool", dependsOn: ["ref deep"] },
      { ref: "ref used", dependsOn: ["ref deep"] },
      { ref: "ref deep" },
    ],
  };
  const shipped = ["@some/used", "deep"].map((name) => {
    return { name, version: "1.0.0", license: "MIT", sha512: "ab" };
  });
  const kept = shippedPart(bom, shipped);
  expect(kept.components.map(({ name }) => name)).toEqual(["used", "deep"]);
  expect(kept.dependencies).toEqual([
    { ref: "ref bpe", dependsOn: ["ref used"] },
    { ref: "ref used", dependsOn: ["ref deep"] },
    { ref: "ref deep", dependsOn: [] },
  ]);
  expect(() => shippedPart(bom, [{ ...shipped[0]!, version: "2.0.0" }])).toThrow('lacks "@some/used" 2.0.0');
  const runtime = { packageName: "@oven/bun-linux-x64", version: "1.4.5", sha512: "cd" };
  const part = { name: "zlib", address: "https://zlib.net", licence: "zlib" };
  const whole = withArchives(kept, [{ name: "bpe.tar.gz", sha256: "ef", runtime }], [part]);
  expect(whole.dependencies.at(-1)).toEqual({
    ref: "bpe.tar.gz",
    dependsOn: ["ref bpe", "@oven/bun-linux-x64@1.4.5"],
  });
  expect(whole.dependencies.at(-2)).toEqual({
    ref: "@oven/bun-linux-x64@1.4.5",
    dependsOn: ["bun@1.4.5"],
  });
  expect(whole.dependencies.at(-3)).toEqual({ ref: "bun@1.4.5", dependsOn: ["bun@1.4.5|zlib"] });
  expect(JSON.stringify(whole.components.at(-2))).toContain('"purl":"pkg:npm/%40oven/bun-linux-x64@1.4.5"');
});

test("the parts of Bun are those in its page's tables, with their names, addresses and licences", () => {
  const page = `JavaScriptCore (and WebKit), which is LGPL-2 licensed.
| Library | License |
| --- | --- |
| [\`brotli\`](https://b) | MIT |
| [\`libuv\`](https://u) (on Windows) | [ICU license](https://i) and more |
| A fork of [\`uWS\`](https://w) | Apache 2.0 licensed |
| Parts of [Some IO code](https://s#L1) | Apache 2.0 |
[no row](https://n)`;
  expect(bunParts(page).slice(1)).toEqual([
    { name: "brotli", address: "https://b", licence: "MIT" },
    { name: "libuv", address: "https://u", licence: "ICU license and more" },
    { name: "uWS", address: "https://w", licence: "Apache 2.0 licensed" },
    { name: "Some IO code", address: "https://s#L1", licence: "Apache 2.0" },
  ]);
  expect(() => bunParts("no word of it")).toThrow("something new about JavaScriptCore");
});

test("Bun's own page is understood", () => {
  const parts = bunParts(bunLicencePage(root));
  for (const name of ["JavaScriptCore", "boringssl", "tinycc", "uWebsockets", "acorn", "vm-browserify"]) {
    expect(parts.map((part) => part.name)).toContain(name);
  }
  expect(new Set(parts.map(({ name }) => name)).size).toBe(parts.length);
  for (const { address, licence } of parts) {
    expect(address).toStartWith("https://");
    expect(licence).not.toMatch(/^$|[[|\]]/);
  }
});
