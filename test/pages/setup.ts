// Installs Debian's Chromium and missing libraries into dist/chromium, unless a Chromium is on the PATH.
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromiumHome, chromiumOnPath, unpackedChromium } from "./chromium.ts";

const downloads = join(chromiumHome, "downloads");
/** Written last, so that an interrupted installation starts again. */
const stamp = join(chromiumHome, "stamp");

async function install(): Promise<void> {
  if (Bun.which("apt-get") === null || Bun.which("dpkg") === null) {
    fail("there is no chromium on the PATH, and this system has no Debian packages");
  }
  rmSync(chromiumHome, { recursive: true, force: true });
  mkdirSync(downloads, { recursive: true });
  console.error(`fetching Chromium into ${chromiumHome}, some 120 MB`);
  // A new container has no package lists.
  if ((await run(["apt-cache", "search", "--names-only", "^chromium$"])) === "")
    await run(["apt-get", "update"]);
  const plan = await run(["apt-get", "install", "--simulate", "--no-install-recommends", "chromium"]);
  // The plan omits packages that are installed. The browser's own two packages are always downloaded, because their
  // files must be next to each other.
  const missing = [...plan.matchAll(/^Inst (\S+)/gm)].map(([, name]) => name!);
  const packages = [...new Set(["chromium", "chromium-common", ...missing])];
  await run(["apt-get", "download", ...packages], downloads);
  for (const archive of readdirSync(downloads)) {
    await run(["dpkg", "-x", join(downloads, archive), join(chromiumHome, "root")]);
  }
  rmSync(downloads, { recursive: true });
  if (!existsSync(unpackedChromium)) fail(`Debian's package has no ${unpackedChromium}`);
  writeFileSync(stamp, packages.join("\n"));
}

async function run(command: readonly string[], cwd = "."): Promise<string> {
  const { stdout, stderr, exited } = Bun.spawn([...command], { cwd, stdout: "pipe", stderr: "pipe" });
  const [output, errors, code] = await Promise.all([
    new Response(stdout).text(),
    new Response(stderr).text(),
    exited,
  ]);
  if (code !== 0) fail(`failed: ${command.join(" ")}\n${errors}`);
  return output;
}

function fail(what: string): never {
  console.error(`pages: ${what}`);
  process.exit(1);
}

if (chromiumOnPath === null && !existsSync(stamp)) await install();
