// Unpacks zsh, fish and mandoc into dist/shells, from packages of the machine's Debian release.
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../scripts/release/run.ts";

const packages = ["zsh", "zsh-common", "fish", "fish-common", "libpcre2-32-0", "mandoc"];
const home = join(import.meta.dir, "../../dist/shells");
const stamp = join(home, "done");

if (!existsSync(stamp)) {
  rmSync(home, { recursive: true, force: true });
  const archives = join(home, "packages");
  mkdirSync(archives, { recursive: true });
  console.error(`fetching ${packages.join(", ")} into ${home}, some 10 MB`);
  run("apt-get", ["-q", "download", ...packages], archives);
  for (const name of readdirSync(archives)) run("dpkg", ["-x", join(archives, name), join(home, "root")]);
  rmSync(archives, { recursive: true });
  writeFileSync(stamp, "");
}
