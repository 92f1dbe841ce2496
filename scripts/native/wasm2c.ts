// Translates two modules of the kernel to C, with wasm2c of the npm package wabt.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { imageDigest } from "../../src/tokenizer/image-digest.ts";
import { isOwnVariable, variableKey } from "../../src/tokenizer/laid-out-model.ts";
import { buildKernel } from "../build-kernel.ts";

const root = join(import.meta.dir, "../..");
/** The directory of the C files, the headers and the digest, for each scale. */
export const generatedDirectory = (isSmallScale: boolean) =>
  join(root, "dist/native", isSmallScale ? "generated-small" : "generated");

/** The kernel's modules, by the names of their C files. The digest of images depends on their order. */
const modules = { kernel: "kernel-encode", text: "kernel-text" };

/** Writes the C files and headers of a scale, at most once in this process. Throws the error output of wasm2c. */
export function generateC(isSmallScale: boolean): Promise<void> {
  const made = generated.get(isSmallScale) ?? generate(isSmallScale);
  generated.set(isSmallScale, made);
  return made;
}
const generated = new Map<boolean, Promise<void>>();

async function generate(isSmallScale: boolean): Promise<void> {
  const paths = await buildKernel(join(root, "dist/kernel"), isSmallScale);
  const parts = Object.entries(modules).map(([name, module]) => ({
    name,
    path: paths.find((path) => path.endsWith(`/${module}${isSmallScale ? "-small" : ""}.wasm`))!,
  }));
  const digest = (path: string) => new Bun.CryptoHasher("sha256").update(readFileSync(path)).digest();
  const bytes = [...imageDigest(parts.map(({ path }) => readFileSync(path)))].join(", ");
  const head = `/* By ${digest(import.meta.path).toString("hex")} */\nstatic const unsigned char kernel_digest[16] = {${bytes}};\n`;
  const target = generatedDirectory(isSmallScale);
  const headPath = join(target, "kernel-digest.h");
  if (existsSync(headPath) && readFileSync(headPath, "utf8") === head) return;
  // Other processes may use the same files meanwhile, so each file appears complete, and the digest last.
  const directory = `${target}.${process.pid}`;
  mkdirSync(directory, { recursive: true });
  mkdirSync(target, { recursive: true });
  const wasm2c = join(root, "node_modules/wabt/bin/wasm2c");
  for (const { name, path } of parts) {
    const output = join(directory, `${name}.c`);
    // The launcher of wasm2c is a script for Node, which Bun runs as well.
    const made = spawnSync(process.execPath, [wasm2c, path, "-n", name, "-o", output], { encoding: "utf8" });
    if (made.status !== 0) throw new Error(`wasm2c failed: ${made.stderr || made.error}`);
    writeFileSync(output, adapted(readFileSync(output, "utf8")));
  }
  writeFileSync(join(directory, "kernel-digest.h"), head);
  writeFileSync(
    join(directory, "kernel-state.h"),
    stateFields(readFileSync(join(directory, "kernel.h"), "utf8")),
  );
  const names = [...parts.flatMap(({ name }) => [`${name}.h`, `${name}.c`]), "kernel-state.h"];
  for (const name of [...names, "kernel-digest.h"]) renameSync(join(directory, name), join(target, name));
  rmSync(directory, { recursive: true });
}

/** Returns C for the list of variables that an image may have (src/tokenizer/laid-out-model.ts), sorted by key. */
function stateFields(header: string): string {
  const fields = [...header.matchAll(/^ {2}u(32|64) w2c_(\w+0x2F\w+);$/gm)].map(([, bits, field]) => {
    const name = field!.replaceAll(/0x(2D|2F)/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
    return { bits: Number(bits), field, name, key: variableKey(name) };
  });
  const named = fields.filter(({ name }) => !isOwnVariable(name)).sort((a, b) => a.key - b.key);
  if (named.length === 0) throw new Error("the C of wasm2c has no variables");
  if (named.some(({ key }, i) => key === named[i + 1]?.key)) throw new Error("two variables have one key");
  const rows = named.map(
    ({ bits, field, key }) => `  {${key}u, offsetof(w2c_kernel, w2c_${field}), ${bits / 8}},\n`,
  );
  return `static const StateField kernel_state[] = {\n${rows.join("")}};\n`;
}

/** C that counts the bits of a number on processors that may have no instruction for it. */
const popcount = `#if defined(__x86_64__) && !defined(__POPCNT__)
static inline u64 I64_POPCNT(u64 x) {
  x -= x >> 1 & 0x5555555555555555u;
  x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
  return ((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56;
}
#else
#define I64_POPCNT(x) (__builtin_popcountll(x))
#endif`;

/**
 * Adapts the C that wasm2c 1.0.39 writes. Throws if it does not find a place to change, except for vectors, which not
 * all modules use, because another version may write other C.
 */
function adapted(c: string): string {
  const replaced = (text: string, from: RegExp, to: string) => {
    if (!from.test(text)) throw new Error(`the C of wasm2c has no ${from}`);
    return text.replace(from, to);
  };
  // Removes vector loads and stores that the kernel does not use, because native/wasm/simde lacks them.
  const hasVectors = c.includes("DEFINE_SIMD_");
  let text = hasVectors
    ? replaced(c, /^DEFINE_SIMD_(?!LOAD_FUNC\(v128_load,|STORE\(v128_store,).*\n(?:^ +.*\n)*/gm, "")
    : c;
  // A load whose result is not used need not trap.
  text = replaced(
    text,
    /^#define (FORCE_READ_INT|FORCE_READ_FLOAT|SIMD_FORCE_READ)\(var\).*$/gm,
    "#define $1(var)",
  );
  // Without the instruction, compilers call a function that looks up each byte.
  text = replaced(text, /^#define I64_POPCNT\(x\) \(__builtin_popcountll\(x\)\)$/m, popcount);
  // The memory never moves, so its address can stay in a register, which saves 3 to 10 % of the time.
  const prologue = "  FUNC_PROLOGUE;\n";
  text = text.replaceAll(
    prologue,
    `${prologue}  wasm_rt_memory_t* const memory = instance->w2c_env_memory;\n`,
  );
  const bodies = text.indexOf(prologue);
  if (bodies < 0) throw new Error("the C of wasm2c has no functions");
  return text.slice(0, bodies) + text.slice(bodies).replace(/(?<!= )instance->w2c_env_memory\b/g, "memory");
}
