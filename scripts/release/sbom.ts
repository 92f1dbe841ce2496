import { createRequire } from "node:module";
import { join } from "node:path";
import { type BunPart, bunLicencePage, bunParts } from "./bun-parts.ts";
import { type BundledPackage, bundledPackages } from "./notice.ts";
import { run } from "./run.ts";
import type { Runtime } from "./runtimes.ts";

type Component = {
  readonly type: string;
  readonly name: string;
  readonly group?: string;
  readonly "bom-ref": string;
  readonly version?: string;
};

/** The parts of a CycloneDX document that this file reads. */
export type Bom = {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
};

export type Archive = { readonly name: string; readonly sha256: string; readonly runtime: Runtime };

/**
 * Returns the SBOM of a release, which lists the contents of its archives. It is CycloneDX 1.6 as JSON, checked against
 * its schema.
 */
export async function makeSbom(root: string, archives: readonly Archive[]): Promise<string> {
  const tools = join(root, "scripts/release/tools");
  const generator = join(tools, "node_modules/@cyclonedx/cyclonedx-npm/bin/cyclonedx-npm-cli.js");
  const options = [
    "--package-lock-only",
    "--output-reproducible",
    "--flatten-components",
    "--mc-type",
    "application",
  ];
  // Reads only the lock file, because installed packages may differ from one checkout to another.
  const made = run("node", [generator, ...options, "--spec-version", "1.6", "--output-file", "-"], root);
  const shipped = shippedPart(JSON.parse(made), bundledPackages(root));
  const whole = withArchives(shipped, archives, bunParts(bunLicencePage(root)));
  const text = `${JSON.stringify(whole, null, 2)}\n`;
  const { Validation, Spec } = createRequire(join(tools, "package.json"))("@cyclonedx/cyclonedx-library");
  const fault = await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text);
  if (fault !== null) throw new Error(`the SBOM is not valid: ${JSON.stringify(fault)}`);
  return text;
}

/** Returns the document with only the packages that are shipped. Packages that only builds and tests use are left out. */
export function shippedPart(bom: Bom, shipped: readonly BundledPackage[]): Bom {
  const components = shipped.map(({ name, version, sha512 }) => {
    const component = bom.components.find(
      (each) => (each.group === undefined ? each.name : `${each.group}/${each.name}`) === name,
    );
    if (component?.version !== version) throw new Error(`the SBOM lacks "${name}" ${version}`);
    return { ...component, hashes: [{ alg: "SHA-512", content: sha512 }] };
  });
  const refs = new Set([bom.metadata.component, ...components].map((component) => component["bom-ref"]));
  const dependencies = bom.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) }));
  return { ...bom, components, dependencies };
}

/** Adds the archives, and the parts of Bun. Each archive contains the program and a Bun. */
export function withArchives(bom: Bom, archives: readonly Archive[], parts: readonly BunPart[]): Bom {
  const program = bom.metadata.component["bom-ref"];
  const version = archives[0]!.runtime.version;
  const bun = {
    type: "platform",
    name: "bun",
    version,
    "bom-ref": `bun@${version}`,
    licenses: [{ license: { id: "MIT", acknowledgement: "declared" } }],
    purl: `pkg:npm/bun@${version}`,
    components: parts.map(({ name, address, licence }) => ({
      type: "library",
      name,
      "bom-ref": `bun@${version}|${name}`,
      licenses: [{ license: { name: licence, acknowledgement: "declared" } }],
      externalReferences: [{ type: "website", url: address }],
    })),
  };
  const runtimeRef = ({ packageName }: Runtime) => `${packageName}@${version}`;
  const runtimes = archives.map(({ runtime }) => ({
    type: "platform",
    name: runtime.packageName.split("/").at(-1)!,
    group: "@oven",
    version,
    "bom-ref": runtimeRef(runtime),
    licenses: [{ license: { id: "MIT", acknowledgement: "declared" } }],
    hashes: [{ alg: "SHA-512", content: runtime.sha512 }],
    purl: `pkg:npm/${runtime.packageName.replace("@", "%40")}@${version}`,
  }));
  const files = archives.map(({ name, sha256 }) => ({
    type: "file",
    name,
    "bom-ref": name,
    hashes: [{ alg: "SHA-256", content: sha256 }],
  }));
  return {
    ...bom,
    components: [...bom.components, bun, ...runtimes, ...files],
    dependencies: [
      ...bom.dependencies,
      { ref: bun["bom-ref"], dependsOn: bun.components.map((part) => part["bom-ref"]) },
      ...archives.map(({ runtime }) => ({ ref: runtimeRef(runtime), dependsOn: [bun["bom-ref"]] })),
      ...archives.map(({ name, runtime }) => ({ ref: name, dependsOn: [program, runtimeRef(runtime)] })),
    ],
  };
}
