import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { closedVariables } from "../../../scripts/close-variables.ts";
import { binary, put, scratch, tokenizerFiles } from "../../binary.ts";
import { isThorough } from "../../rounds.ts";

const home = scratch();

const text = Array.from({ length: 300 }, (_, n) => `${n} the cat sat on the mat, naïve 数据\n`).join("");
put(home, "corpus.txt", text);
/** A script that must never be loaded: it prints, and exits. */
const evil = put(home, "evil.js", 'console.log("LOADED"); console.error("LOADED"); process.exit(3);');

/** Trains with two workers in the directory `cwd`. Because of `-q`, stderr is empty unless something is wrong. */
async function train(env: Record<string, string>, cwd: string) {
  mkdirSync(cwd, { recursive: true });
  const command = [binary, "train", join(home, "corpus.txt"), "-n", "300", "-o", "out", "-w", "2", "-q"];
  const run = Bun.spawn(command, { env, cwd, stdout: "pipe", stderr: "pipe", stdin: "ignore" });
  const [stdout, stderr] = await Promise.all([run.stdout, run.stderr].map((out) => new Response(out).text()));
  await run.exited;
  const out = join(cwd, "out");
  const files = existsSync(out) ? Bun.hash(JSON.stringify(tokenizerFiles(out))).toString(16) : "none";
  return { code: run.exitCode, stdout, stderr, files };
}

const nothing = "nothing";
const speaks = "the same bytes, and more on stderr";
const refuses = "the run is refused by the runtime";

/**
 * Settings that change what this training prints, or end it. The other settings in `tried` must have no effect on the
 * training.
 */
const effects: Record<string, string> = {
  "BUN_JSC_dumpOptions=1": speaks,
  "BUN_JSC_nonsense=1": refuses,
  "MIMALLOC_VERBOSE=1": speaks,
};

/**
 * Settings to try, in five groups: those that make the runtime do something other than run the program, those of its
 * compiler and memory, its other switches, variables of Node, and variables of the system.
 */
const tried = `
  BUN_BE_BUN=1 BUN_OPTIONS=--version BUN_OPTIONS=--preload=${evil} BUN_INSPECT=ws://127.0.0.1:0/
  BUN_INSPECT_CONNECT_TO=127.0.0.1:9 BUN_INSPECT_PRELOAD=${evil} BUN_INSPECT_NOTIFY=unix:///nonexistent
  NODE_CHANNEL_FD=x NODE_CHANNEL_FD=0 BUN_BYTECODE_ORDER_OUT=${join(home, "order")}
  BUN_BYTECODE_ORDER_NAMES_OUT=${join(home, "names")} BUN_BYTECODE_DIGEST_OUT=${join(home, "digest")}

  BUN_JSC_useJIT=0 BUN_JSC_useConcurrentGC=0 BUN_JSC_forceGCSlowPaths=1 BUN_JSC_dumpOptions=1
  BUN_JSC_nonsense=1 JSC_useJIT=0 BUN_GARBAGE_COLLECTOR_LEVEL=2 BUN_GC_TIMER_DISABLE=1 MIMALLOC_VERBOSE=1
  MIMALLOC_SHOW_STATS=1 MALLOC_PERTURB_=7 MALLOC_CHECK_=3 MALLOC_ARENA_MAX=1
  GLIBC_TUNABLES=glibc.malloc.check=3

  BUN_FEATURE_FLAG_DISABLE_ASYNC_TRANSPILER=1 BUN_FEATURE_FLAG_DISABLE_IO_POOL=1
  BUN_FEATURE_FLAG_FORCE_IO_POOL=1 BUN_FEATURE_FLAG_DISABLE_MEMFD=1 BUN_FEATURE_FLAG_NO_ORPHANS=1
  BUN_FEATURE_FLAG_SYNTHETIC_MEMORY_LIMIT=1000000 BUN_DISABLE_TRANSPILER=1 BUN_DEBUG=1 BUN_DEBUG_ALL=1
  BUN_RUNTIME_TRANSPILER_CACHE_PATH=${join(home, "transpiled")} BUN_TRACE=${join(home, "trace")}
  BUN_THREADPOOL_STATS=1 BUN_ENABLE_CRASH_REPORTING=1 BUN_CRASH_REPORT_URL=http://127.0.0.1:9
  BUN_TCC_OPTIONS=-nonsense BUN_INSTALL=/nonexistent BUN_CONFIG_VERBOSE_FETCH=1
  BUN_CONFIG_FILE=${join(home, "bunfig.toml")} BUN_ENV=production BUN_TMPDIR=/nonexistent

  NODE_OPTIONS=--require=${evil} NODE_PATH=${home} NODE_ENV=production NODE_DEBUG=*
  NODE_EXTRA_CA_CERTS=/nonexistent NODE_TLS_REJECT_UNAUTHORIZED=0 NODE_NO_WARNINGS=1
  NODE_PENDING_DEPRECATION=1 NODE_UNIQUE_ID=1 NODE_V8_COVERAGE=${join(home, "coverage")}
  NODE_COMPILE_CACHE=${join(home, "compiled")} NODE_ICU_DATA=/nonexistent
  NODE_REDIRECT_WARNINGS=/nonexistent/x UV_THREADPOOL_SIZE=1 UV_USE_IO_URING=0

  HOME=${home} XDG_CONFIG_HOME=${home} TMPDIR=/nonexistent TZ=Asia/Tokyo LANG=tr_TR.UTF-8 LC_ALL=C
  NO_COLOR=1 FORCE_COLOR=1 CLICOLOR_FORCE=1 TERM=dumb COLUMNS=10 CI=1 DEBUG=* PATH=/nonexistent
  LD_LIBRARY_PATH=/nonexistent SSL_CERT_FILE=/nonexistent HTTP_PROXY=http://127.0.0.1:9`
  .trim()
  .split(/\s+/)
  .concat("BUN_OPTIONS=--smol --inspect");

/**
 * Groups settings that can be tried together. Each setting with an effect is a group of its own. Different values of
 * one variable are in different groups.
 */
function groupsOf(settings: readonly string[]): string[][] {
  const groups: string[][] = [];
  const turns = new Map<string, number>();
  for (const setting of settings.filter((each) => effects[each] === undefined)) {
    const name = setting.slice(0, setting.indexOf("="));
    const turn = turns.get(name) ?? 0;
    turns.set(name, turn + 1);
    groups[turn] ??= [];
    groups[turn].push(setting);
  }
  return [...groups, ...Object.keys(effects).map((setting) => [setting])];
}

test("no variable changes the training except the documented ones", async () => {
  // Files that Bun would read where HOME and XDG_CONFIG_HOME point.
  put(home, ".bunfig.toml", `preload = [${JSON.stringify(evil)}]\n`);
  put(home, "bunfig.toml", `preload = [${JSON.stringify(evil)}]\n`);
  const plain = await train({}, join(home, "plain"));
  expect(plain).toMatchObject({ code: 0, stdout: "", stderr: "" });
  const tries = scratch();
  const before = readdirSync(home).sort();
  const found: Record<string, string> = {};
  const tryTogether = async (variables: readonly string[], number: number) => {
    const env = Object.fromEntries(
      variables.map((variable) => /^([^=]+)=(.*)$/.exec(variable)!.slice(1) as [string, string]),
    );
    const run = await train(env, join(tries, String(number)));
    const isSame = run.code === 0 && run.stdout === "" && run.files === plain.files;
    const isRefused = run.code === 1 && run.stdout === "" && run.files === "none";
    const effect = isSame ? (run.stderr === "" ? nothing : speaks) : isRefused ? refuses : "CHANGED";
    for (const variable of variables) found[variable] = effect;
  };
  const groups = isThorough ? tried.map((variable) => [variable]) : groupsOf(tried);
  for (const [number, group] of groups.entries()) await tryTogether(group, number);
  const lines = Object.entries(found)
    .sort()
    .map(([variable, effect]) => `  ${variable.replaceAll(home, "DIR")}: ${effect}`);
  console.log(`${tried.length} settings of variables were tried:\n${lines.join("\n")}`);
  const wanted = Object.fromEntries(tried.map((variable) => [variable, effects[variable] ?? nothing]));
  expect(found).toEqual(wanted);
  rmSync(tries, { recursive: true });
  // No variable made the runtime write a file into `home`.
  expect(readdirSync(home).sort()).toEqual(before);
}, 600_000);

test("the build removed the variables that the runtime reads before the program", async () => {
  if (process.platform !== "linux") return console.log("skipped: closed on Linux only");
  const bytes = Buffer.from(await Bun.file(binary).arrayBuffer());
  for (const name of closedVariables) expect([name, bytes.includes(`\0${name}\0`)]).toEqual([name, false]);
});

test("files of the working directory change nothing", async () => {
  const plain = await train({}, join(home, "plain-directory"));
  const cwd = join(home, "directory");
  for (const path of ["node_modules/hyparquet", "node_modules/.bin"])
    mkdirSync(join(cwd, path), { recursive: true });
  const preload = `preload = [${JSON.stringify(evil)}]\n`;
  put(cwd, "bunfig.toml", `${preload}[run]\nbun = true\n[test]\n${preload}`);
  put(cwd, ".bunfig.toml", preload);
  for (const name of [".env", ".env.local", ".env.production", ".env.development"])
    put(cwd, name, `BUN_OPTIONS=--preload=${evil}\nNO_COLOR=1\nTMPDIR=/nonexistent\nBUN_JSC_nonsense=1\n`);
  put(
    cwd,
    "package.json",
    '{"name": "bpe", "version": "9.9.9", "main": "evil.js", "type": "commonjs", "imports": {"#x": "./evil.js"}}',
  );
  put(
    cwd,
    "tsconfig.json",
    '{"compilerOptions": {"paths": {"*": ["./evil.js"]}, "jsx": "react", "target": "es3"}}',
  );
  put(cwd, "jsconfig.json", '{"compilerOptions": {"baseUrl": "."}}');
  put(join(cwd, "node_modules/hyparquet"), "index.js", 'console.log("LOADED"); process.exit(3);');
  for (const name of ["index.ts", "main.ts", "worker.ts", "bpe.config.js", ".bperc", ".npmrc"])
    put(cwd, name, 'console.log("LOADED"); process.exit(3);');
  expect(await train({}, cwd)).toEqual(plain);
});
