// Minimal systems to run executables on: directories with little more than a C library. Nothing is installed on this
// machine.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { run } from "./run.ts";

/** A system on which an executable runs. */
export type System = {
  readonly title: string;
  readonly triple: string;
  /** The root directory. */
  readonly root: string;
  /** Returns the command line that runs the program at `path` below the root. */
  command(path: string): string[];
  /** Returns the path of a file below the root as the program sees it. */
  pathInside(path: string): string;
};

/** The first release of Debian whose musl (1.2.4 or later) loads what Alpine builds today. */
const suite = "trixie";
/**
 * Debian's packages in each system, by its processor and its C library. arm64 with glibc also gets a Python, to test
 * the wheel for arm64.
 */
const systemPackages = {
  "x86_64-gnu": ["libc6"],
  "x86_64-musl": ["musl"],
  "aarch64-gnu": [
    "libc6",
    "python3.13-minimal",
    "libpython3.13-minimal",
    "libpython3.13-stdlib",
    "libexpat1",
    "zlib1g",
  ],
  "aarch64-musl": ["musl"],
};
/**
 * The packages of qemu and of the libraries that it needs, from this machine's own Debian. They are used if no qemu is
 * installed.
 */
const emulatorPackages = ["qemu-user", "libcapstone4", "liburing2"];

/** Makes the systems in `directory`, or finds them there. */
export function makeSystems(directory: string): System[] {
  const roots = join(directory, "roots");
  const made = JSON.stringify([suite, systemPackages]);
  const done = join(directory, "done");
  if (!existsSync(done) || readFileSync(done, "utf8") !== made) {
    rmSync(directory, { recursive: true, force: true });
    const packages = downloadPackages(join(directory, "packages"));
    for (const [name, archives] of Object.entries(packages)) unpack(archives, join(roots, name));
    for (const machine of ["x86_64", "aarch64"]) addMuslRuntime(join(directory, "wheels"), roots, machine);
    unpackEmulator(directory);
    writeFileSync(done, made);
  }
  const gnu = (machine: string) => ({
    triple: `${machine}-unknown-linux-gnu`,
    root: join(roots, `${machine}-gnu`),
  });
  const musl = (machine: string) => ({
    triple: `${machine}-unknown-linux-musl`,
    root: join(roots, `${machine}-musl`),
  });
  return [
    inContainer({ title: "x64, glibc alone", ...gnu("x86_64") }),
    inContainer({ title: "x64, musl and libstdc++ alone", ...musl("x86_64") }),
    emulated(
      { title: "x64 of 2008 (Nehalem)", ...gnu("x86_64") },
      directory,
      "qemu-x86_64",
      "-cpu",
      "Nehalem",
    ),
    emulated(
      { title: "x64 of 2008 (Nehalem), musl", ...musl("x86_64") },
      ...([directory, "qemu-x86_64", "-cpu", "Nehalem"] as const),
    ),
    emulated({ title: "arm64, glibc (and Python)", ...gnu("aarch64") }, directory, "qemu-aarch64"),
    emulated({ title: "arm64, musl", ...musl("aarch64") }, directory, "qemu-aarch64"),
  ];
}

type Place = Pick<System, "title" | "triple" | "root">;

/** Runs programs in their own namespaces, which needs no privileges. Programs see only the root and /proc. */
function inContainer(place: Place): System {
  const separate = ["--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc"];
  return {
    ...place,
    command: (path) => ["unshare", ...separate, `--root=${place.root}`, join("/", path)],
    pathInside: (path) => join("/", path),
  };
}

/** Runs programs by qemu-user. It looks up absolute paths below the root, and then on the whole machine. */
function emulated(place: Place, directory: string, emulator: string, ...options: string[]): System {
  const downloaded = join(directory, "emulator/usr/bin", emulator);
  const libraries = join(directory, "emulator/usr/lib/x86_64-linux-gnu");
  const program = existsSync(downloaded)
    ? ["env", `LD_LIBRARY_PATH=${libraries}`, downloaded, "-E", `LD_LIBRARY_PATH=`]
    : [emulator];
  return {
    ...place,
    command: (path) => [...program, ...options, "-L", place.root, join(place.root, path)],
    pathInside: (path) => join(place.root, path),
  };
}

/** Downloads Debian's packages. Returns their paths, by the name of the system that they belong to. */
function downloadPackages(directory: string): Record<string, string[]> {
  const lists = join(directory, "lists");
  mkdirSync(join(lists, "partial"), { recursive: true });
  mkdirSync(join(directory, "cache/archives/partial"), { recursive: true });
  const mirror = run("apt-get", ["indextargets", "--format", "$(REPO_URI)", "Label: Debian"]).split("\n")[0];
  if (!mirror)
    throw new Error("the test of a release needs the packages of Debian, and this machine's apt knows none");
  const key = "/usr/share/keyrings/debian-archive-keyring.gpg";
  writeFileSync(join(directory, "sources.list"), `deb [signed-by=${key}] ${mirror} ${suite} main\n`);
  writeFileSync(join(directory, "status"), "");
  const settings = [
    `APT::Architectures { "amd64"; "arm64"; };`,
    `APT::Sandbox::User "";`,
    `Acquire::Languages "none";`,
    `Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";`,
    `Dir::Etc::sourcelist "${directory}/sources.list";`,
    `Dir::Etc::sourceparts "-";`,
    `Dir::State::lists "${lists}";`,
    `Dir::State::status "${directory}/status";`,
    `Dir::Cache "${directory}/cache";`,
  ];
  writeFileSync(join(directory, "apt.conf"), settings.join("\n"));
  const apt = (...args: string[]) =>
    run("env", [`APT_CONFIG=${directory}/apt.conf`, "apt-get", "-q", ...args], directory);
  apt("update");
  const download = (name: string, architecture: string) => {
    apt("download", `${name}:${architecture}`);
    const file = readdirSync(directory).find(
      (entry) => entry.startsWith(`${name}_`) && entry.endsWith(`_${architecture}.deb`),
    )!;
    return join(directory, file);
  };
  return Object.fromEntries(
    Object.entries(systemPackages).map(([system, names]) => {
      const architecture = system.startsWith("x86_64") ? "amd64" : "arm64";
      return [system, names.map((name) => download(name, architecture))];
    }),
  );
}

/** Unpacks packages into a root. Makes the links /lib and /lib64, which in Debian belong to another package. */
function unpack(archives: readonly string[], root: string): void {
  mkdirSync(join(root, "tmp"), { recursive: true });
  mkdirSync(join(root, "proc"));
  mkdirSync(join(root, "dev"));
  for (const name of ["lib", "lib64"]) {
    mkdirSync(join(root, "usr", name), { recursive: true });
    symlinkSync(`usr/${name}`, join(root, name));
  }
  for (const archive of archives) run("dpkg", ["-x", archive, root]);
}

/** Installs libstdc++ and its requirements next to musl. */
function addMuslRuntime(directory: string, roots: string, machine: string): void {
  const into = join(directory, machine);
  const platform = ["--platform", `musllinux_1_2_${machine}`, "--python-version", "3.12", "--abi", "cp312"];
  const options = ["--no-deps", "--only-binary=:all:", "--require-hashes", ...platform, "-d", into];
  const requirements = resolve(import.meta.dir, "musl-runtime.txt");
  run("python3", [
    "-m",
    "pip",
    "download",
    "-q",
    "--disable-pip-version-check",
    ...options,
    "-r",
    requirements,
  ]);
  const wheel = join(into, readdirSync(into)[0]!);
  run("python3", ["-m", "zipfile", "-e", wheel, into]);
  const from = join(into, readdirSync(into).find((name) => name.endsWith(".libs"))!);
  const libraries = join(roots, `${machine}-musl/usr/lib/${machine}-linux-musl`);
  for (const name of readdirSync(from)) {
    copyFileSync(join(from, name), join(libraries, name.startsWith("libstdc++") ? "libstdc++.so.6" : name));
  }
}

function unpackEmulator(directory: string): void {
  const emulators = ["qemu-x86_64", "qemu-aarch64"];
  if (emulators.every((name) => Bun.which(name) !== null)) return;
  const packages = join(directory, "emulator-packages");
  mkdirSync(packages, { recursive: true });
  run("apt-get", ["-q", "download", ...emulatorPackages], packages);
  for (const file of readdirSync(packages))
    run("dpkg", ["-x", join(packages, file), join(directory, "emulator")]);
}
