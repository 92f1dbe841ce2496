/*
 * Replaces Node's modules for files, paths and the system in the library for browsers. Modules that import them are
 * bundled only for functions that need no system, so any call of `noSystem` is a bug.
 */

// biome-ignore lint/suspicious/noExplicitAny: it replaces functions of every type
export const noSystem: any = () => {
  throw new Error("bug: a browser has no files and no system");
};

export {
  noSystem as accessSync,
  noSystem as availableParallelism,
  noSystem as basename,
  noSystem as closeSync,
  noSystem as createHash,
  noSystem as dirname,
  noSystem as existsSync,
  noSystem as freemem,
  noSystem as fstatSync,
  noSystem as join,
  noSystem as lstatSync,
  noSystem as normalize,
  noSystem as openSync,
  noSystem as readdirSync,
  noSystem as readFileSync,
  noSystem as readlinkSync,
  noSystem as readSync,
  noSystem as relative,
  noSystem as resolve,
  noSystem as statSync,
  noSystem as totalmem,
  noSystem as writeSync,
};

export const constants = { O_NONBLOCK: 0, O_RDONLY: 0 };
