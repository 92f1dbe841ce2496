// Builds dist/bpe: one executable with the program, its workers and Bun in it.
import { spawnSync } from "node:child_process";

/** The commit the binary is made from, marked where the tree differs from it; "unknown" outside a checkout. */
function commit(): string {
  const git = (...args: string[]) => spawnSync("git", args, { cwd: import.meta.dir, encoding: "utf8" });
  const head = git("rev-parse", "--short=12", "HEAD");
  if (head.status !== 0) return "unknown";
  const changed = git("status", "--porcelain", "--untracked-files=no").stdout !== "";
  return head.stdout.trim() + (changed ? "-dirty" : "");
}

const outfile = `${import.meta.dir}/dist/bpe`;
const result = await Bun.build({
  entrypoints: ["main.ts", "worker.ts", "encode-worker.ts"].map((name) => `${import.meta.dir}/src/${name}`),
  define: { BPE_COMMIT: JSON.stringify(commit()) },
  minify: true,
  // Compiled ahead: the program starts some 4 ms sooner.
  bytecode: true,
  format: "esm",
  // Nothing in the working directory may change what the binary does.
  compile: {
    outfile,
    autoloadDotenv: false,
    autoloadBunfig: false,
    autoloadTsconfig: false,
    autoloadPackageJson: false,
  },
});
for (const log of result.logs) console.error(String(log));
if (!result.success) process.exit(1);
console.log(`built ${outfile}`);
