import { checkSignature } from "../sign-mach-o.ts";
import type { ExecutableFormat } from "./targets.ts";

/**
 * Reads the format of an executable from its header. Throws if the format or the processor is unknown, if a macOS
 * executable's signature is wrong, or if a Windows executable has a signature.
 */
export function executableFormat(bytes: Buffer): ExecutableFormat {
  if (bytes.toString("latin1", 0, 4) === "\x7fELF") return elfFormat(bytes);
  if (bytes.toString("latin1", 0, 2) === "MZ") return peFormat(bytes);
  return machOFormat(bytes);
}

/** Reads the format of a shared library from its header. */
export function libraryFormat(bytes: Buffer): ExecutableFormat {
  if (bytes.toString("latin1", 0, 4) === "\x7fELF") {
    if (bytes.readUInt16LE(16) !== 3) throw new Error("not an ELF shared library");
    return elfFormat(bytes);
  }
  if (bytes.toString("latin1", 0, 2) === "MZ") {
    const { head, machine } = peHead(bytes);
    if ((bytes.readUInt16LE(head + 22) & 0x2000) === 0) throw new Error("not a PE library");
    return { kind: "PE", machine };
  }
  if (bytes.readUInt32LE(0) !== 0xfeedfacf || bytes.readUInt32LE(12) !== 6)
    throw new Error("not a Mach-O library of 64 bits");
  return { kind: "Mach-O", machine: machineOf(machOMachines, bytes.readUInt32LE(4)) };
}

/**
 * ELF, 64 bits, little-endian: offset 18 is the machine, 32 the start of the program headers, 54 the size of one, 56
 * their number. In the program header of type 3, offset 8 is where the loader's path starts, and 32 is its size,
 * including the final zero.
 */
function elfFormat(bytes: Buffer): ExecutableFormat {
  if (bytes[4] !== 2 || bytes[5] !== 1) throw new Error("not an ELF file of 64 bits, little-endian");
  const machine = machineOf({ 62: "x64", 183: "arm64" }, bytes.readUInt16LE(18));
  const headersStart = Number(bytes.readBigUInt64LE(32));
  const headerBytes = bytes.readUInt16LE(54);
  for (let i = 0; i < bytes.readUInt16LE(56); i++) {
    const pos = headersStart + i * headerBytes;
    if (bytes.readUInt32LE(pos) !== 3) continue;
    const start = Number(bytes.readBigUInt64LE(pos + 8));
    const size = Number(bytes.readBigUInt64LE(pos + 32));
    return { kind: "ELF", machine, loader: bytes.toString("latin1", start, start + size - 1) };
  }
  return { kind: "ELF", machine };
}

/** Mach-O: offset 4 is the processor, 12 the type; 2 is an executable. */
function machOFormat(bytes: Buffer): ExecutableFormat {
  checkSignature(bytes);
  if (bytes.readUInt32LE(12) !== 2) throw new Error("not a Mach-O executable");
  return { kind: "Mach-O", machine: machineOf(machOMachines, bytes.readUInt32LE(4)) };
}

const machOMachines = { 16777223: "x64", 16777228: "arm64" } as const;

/**
 * PE: offset 60 says where its head is. From there: 4 is the machine, 22 the flags (2: an executable), 24 the kind of
 * optional header, 92 the subsystem (3: the console), 168 the place and size of a signature. There must be no
 * signature: the one that Bun's executable brings does not fit this executable.
 */
function peFormat(bytes: Buffer): ExecutableFormat {
  const { head, machine } = peHead(bytes);
  if ((bytes.readUInt16LE(head + 22) & 2) === 0) throw new Error("not a PE executable");
  if (bytes.readUInt16LE(head + 24) !== 0x20b) throw new Error("not a PE file of 64 bits");
  if (bytes.readUInt16LE(head + 92) !== 3) throw new Error("not a PE file for the console");
  if (bytes.readBigUInt64LE(head + 168) !== 0n) throw new Error("a signature that does not fit was left in");
  return { kind: "PE", machine };
}

function peHead(bytes: Buffer) {
  const head = bytes.readUInt32LE(60);
  if (bytes.toString("latin1", head, head + 4) !== "PE\0\0") throw new Error("not a PE file");
  return { head, machine: machineOf({ 34404: "x64", 43620: "arm64" }, bytes.readUInt16LE(head + 4)) };
}

function machineOf(machines: Record<number, ExecutableFormat["machine"]>, number: number) {
  const machine = machines[number];
  if (machine === undefined) throw new Error(`an executable for machine 0x${number.toString(16)}`);
  return machine;
}
