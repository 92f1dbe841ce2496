/** Returns a Mach-O file with two segments without sections and, unless `isUnsigned`, a load command for a signature. */
export function machO({
  codeBytes,
  linkEditMemoryBytes = 1 << 20,
  linkEditAddress = 1 << 20,
  isUnsigned = false,
  processor = 0x1000007,
  type = 2,
}: {
  /** The size of the part that is signed. */
  codeBytes: number;
  linkEditMemoryBytes?: number;
  linkEditAddress?: number;
  isUnsigned?: boolean;
  processor?: number;
  type?: number;
}): Buffer {
  const bytes = Buffer.alloc(codeBytes);
  for (let pos = 0; pos < codeBytes; pos++) bytes[pos] = (pos * 31) >> 3;
  const commands = [
    segment("__TEXT", { address: 4096, memoryBytes: 4096, start: 0, bytes: 300 }),
    segment("__LINKEDIT", {
      address: linkEditAddress,
      memoryBytes: linkEditMemoryBytes,
      start: 300,
      bytes: codeBytes - 300,
    }),
    numbers([isUnsigned ? 0x2c : 0x1d, 16, codeBytes, 0]),
  ];
  const head = numbers([
    0xfeedfacf,
    processor,
    3,
    type,
    commands.length,
    Buffer.concat(commands).length,
    0,
    0,
  ]);
  Buffer.concat([head, ...commands]).copy(bytes);
  return bytes;
}

type Segment = { address: number; memoryBytes: number; start: number; bytes: number };

function segment(name: string, { address, memoryBytes, start, bytes }: Segment): Buffer {
  const places = [address, memoryBytes, start, bytes].flatMap((number) => [number, 0]);
  return Buffer.concat([
    numbers([0x19, 72]),
    Buffer.from(name.padEnd(16, "\0")),
    numbers([...places, 5, 5, 0, 0]),
  ]);
}

/** Returns an ELF executable. If there is a `loader`, the executable has one program header, which names its path. */
export function elf(machine: number, loader?: string): Buffer {
  const bytes = Buffer.alloc(200);
  bytes.write("\x7fELF\x02\x01", 0, "latin1");
  bytes.writeUInt16LE(machine, 18);
  bytes.writeBigUInt64LE(64n, 32);
  bytes.writeUInt16LE(56, 54);
  bytes.writeUInt16LE(loader === undefined ? 0 : 1, 56);
  if (loader !== undefined) {
    bytes.writeUInt32LE(3, 64);
    bytes.writeBigUInt64LE(130n, 72);
    bytes.writeBigUInt64LE(BigInt(loader.length + 1), 96);
    bytes.write(loader, 130);
  }
  return bytes;
}

/** Returns a 64-bit PE executable for the console, without sections. */
export function pe(machine: number): Buffer {
  const bytes = Buffer.alloc(400);
  bytes.write("MZ", 0);
  bytes.writeUInt32LE(100, 60);
  bytes.write("PE", 100);
  bytes.writeUInt16LE(machine, 104);
  bytes.writeUInt16LE(2, 122);
  bytes.writeUInt16LE(0x20b, 124);
  bytes.writeUInt16LE(3, 192);
  return bytes;
}

/** Returns numbers as bytes: little-endian, four bytes each. */
function numbers(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [i, value] of values.entries()) bytes.writeUInt32LE(value, 4 * i);
  return bytes;
}
