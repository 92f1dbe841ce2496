/** A platform of a release. */
export type Target = {
  /** The platform's name in file names of archives: Rust's target triple, which most installers use. */
  readonly triple: string;
  readonly compileTarget: Bun.Build.CompileTarget;
  /** The npm package with the Bun of that platform. */
  readonly runtimePackage: string;
  readonly format: ExecutableFormat;
  readonly archive: "tar.gz" | "zip";
  /** The platform of its Python wheel (packaging.python.org, "platform compatibility tags"). */
  readonly wheelPlatform: string;
  /** Its npm package: the name, and the systems on which npm installs it. */
  readonly npm: {
    readonly name: string;
    readonly os: readonly [NodeJS.Platform];
    readonly cpu: readonly [NodeJS.Architecture];
    readonly libc?: readonly ["glibc" | "musl"];
  };
  readonly native: NativeTarget;
  /** The name shown to users. */
  readonly title: string;
};

/** How Python's module and the C library are built for a platform (native.ts). */
type NativeTarget = {
  readonly zigTarget: string;
  readonly names: {
    readonly module: string;
    readonly shared: string;
    readonly static: string;
    /** The import library that programs link with, if that is not the shared library itself. */
    readonly imports?: string;
  };
  /** Linker flags for the module and for the shared library. */
  readonly linking: { readonly module: readonly string[]; readonly shared: readonly string[] };
};

const forLinux = (zigTarget: string): NativeTarget => ({
  zigTarget,
  names: { module: "_native.abi3.so", shared: "libbpe.so", static: "libbpe.a" },
  linking: { module: [], shared: ["-Wl,-soname,libbpe.so"] },
});
const forMac = (zigTarget: string): NativeTarget => ({
  zigTarget,
  names: { module: "_native.abi3.so", shared: "libbpe.dylib", static: "libbpe.a" },
  linking: {
    // Without `-install_name`, the module would contain the path at which it was built.
    module: ["-undefined", "dynamic_lookup", "-Wl,-install_name,@rpath/_native.abi3.so"],
    shared: ["-Wl,-install_name,@rpath/libbpe.dylib"],
  },
});

/** The format of an executable, as its header states it. */
export type ExecutableFormat = {
  readonly kind: "ELF" | "Mach-O" | "PE";
  readonly machine: "x64" | "arm64";
  /** The path of its dynamic loader, if it names one. */
  readonly loader?: string;
};

/**
 * The platforms of a release. Each x64 platform has only one executable, because since Bun 1.4, Bun's "baseline"
 * packages for old processors have the same content as its usual ones.
 */
export const targets: readonly Target[] = [
  {
    triple: "x86_64-unknown-linux-gnu",
    compileTarget: "bun-linux-x64",
    runtimePackage: "@oven/bun-linux-x64",
    format: { kind: "ELF", machine: "x64", loader: "/lib64/ld-linux-x86-64.so.2" },
    archive: "tar.gz",
    wheelPlatform: "manylinux_2_17_x86_64",
    npm: { name: "bpe-linux-x64", os: ["linux"], cpu: ["x64"], libc: ["glibc"] },
    native: forLinux("x86_64-linux-gnu.2.17"),
    title: "Linux, x64",
  },
  {
    triple: "x86_64-unknown-linux-musl",
    compileTarget: "bun-linux-x64-musl",
    runtimePackage: "@oven/bun-linux-x64-musl",
    format: { kind: "ELF", machine: "x64", loader: "/lib/ld-musl-x86_64.so.1" },
    archive: "tar.gz",
    wheelPlatform: "musllinux_1_2_x86_64",
    npm: { name: "bpe-linux-x64-musl", os: ["linux"], cpu: ["x64"], libc: ["musl"] },
    native: forLinux("x86_64-linux-musl"),
    title: "Linux with musl (Alpine), x64",
  },
  {
    triple: "aarch64-unknown-linux-gnu",
    compileTarget: "bun-linux-arm64",
    runtimePackage: "@oven/bun-linux-aarch64",
    format: { kind: "ELF", machine: "arm64", loader: "/lib/ld-linux-aarch64.so.1" },
    archive: "tar.gz",
    wheelPlatform: "manylinux_2_17_aarch64",
    npm: { name: "bpe-linux-arm64", os: ["linux"], cpu: ["arm64"], libc: ["glibc"] },
    native: forLinux("aarch64-linux-gnu.2.17"),
    title: "Linux, arm64",
  },
  {
    triple: "aarch64-unknown-linux-musl",
    compileTarget: "bun-linux-arm64-musl",
    runtimePackage: "@oven/bun-linux-aarch64-musl",
    format: { kind: "ELF", machine: "arm64", loader: "/lib/ld-musl-aarch64.so.1" },
    archive: "tar.gz",
    wheelPlatform: "musllinux_1_2_aarch64",
    npm: { name: "bpe-linux-arm64-musl", os: ["linux"], cpu: ["arm64"], libc: ["musl"] },
    native: forLinux("aarch64-linux-musl"),
    title: "Linux with musl (Alpine), arm64",
  },
  {
    triple: "aarch64-apple-darwin",
    compileTarget: "bun-darwin-arm64",
    runtimePackage: "@oven/bun-darwin-aarch64",
    format: { kind: "Mach-O", machine: "arm64" },
    archive: "tar.gz",
    wheelPlatform: "macosx_13_0_arm64",
    npm: { name: "bpe-darwin-arm64", os: ["darwin"], cpu: ["arm64"] },
    native: forMac("aarch64-macos.13.0"),
    title: "macOS, Apple silicon",
  },
  {
    triple: "x86_64-apple-darwin",
    compileTarget: "bun-darwin-x64",
    runtimePackage: "@oven/bun-darwin-x64",
    format: { kind: "Mach-O", machine: "x64" },
    archive: "tar.gz",
    wheelPlatform: "macosx_13_0_x86_64",
    npm: { name: "bpe-darwin-x64", os: ["darwin"], cpu: ["x64"] },
    native: forMac("x86_64-macos.13.0"),
    title: "macOS, Intel",
  },
  {
    triple: "x86_64-pc-windows-msvc",
    compileTarget: "bun-windows-x64",
    runtimePackage: "@oven/bun-windows-x64",
    format: { kind: "PE", machine: "x64" },
    archive: "zip",
    wheelPlatform: "win_amd64",
    npm: { name: "bpe-win32-x64", os: ["win32"], cpu: ["x64"] },
    native: {
      zigTarget: "x86_64-windows-gnu",
      names: { module: "_native.pyd", shared: "bpe.dll", static: "libbpe.a", imports: "bpe.lib" },
      linking: { module: [], shared: [] },
    },
    title: "Windows, x64",
  },
];
