import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { compilerHere } from "../../scripts/native/build.ts";
import { run } from "../../scripts/release/run.ts";
import { scratch } from "../binary.ts";

const compiler = compilerHere();
const directory = scratch();

/** Returns the directory of the headers of this machine's Python; undefined if they are not installed. */
function pythonHeaders(): string | undefined {
  const code = "import sysconfig; print(sysconfig.get_paths()['include'])";
  const { stdout } = Bun.spawnSync(["sh", "-c", 'python3 -c "$0"', code]);
  const found = stdout.toString().trim();
  return existsSync(join(found, "Python.h")) ? found : undefined;
}

const headers = pythonHeaders();
if (compiler === undefined || headers === undefined)
  console.error("not tested: native/python/Python.h needs a C compiler and Python's headers (python3-dev)");

test.skipIf(compiler === undefined || headers === undefined)(
  "our declarations of Python's ABI agree with Python's headers",
  () => {
    const said = (...flags: string[]) => {
      const [source, program] = [join(import.meta.dir, "python-abi.c"), join(directory, "program")];
      // The linker may leave Python's functions unresolved, because the program calls none of them.
      const object = join(directory, "object.o");
      run(compiler!.command[0]!, [
        "-Wall",
        "-Wextra",
        "-Werror",
        "-O1",
        ...flags,
        "-c",
        source,
        "-o",
        object,
      ]);
      run(compiler!.command[0]!, [object, "-Wl,--unresolved-symbols=ignore-all", "-o", program]);
      return run(program, []);
    };
    const ours = said();
    expect(ours).toContain("Py_tp_new 65\n");
    expect(said(`-DPYTHON_H="${headers}/Python.h"`, `-I${headers}`)).toBe(ours);
  },
);
