import { beforeEach, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { binary, put, scratch } from "../binary.ts";

const root = scratch();

const examples = join(import.meta.dir, "..", "..", "examples");
const example = (...path: string[]) => readFileSync(join(examples, ...path), "utf8");

/** The root of the directories that the examples expect on a machine. */
let home: string;
let testCount = 0;
beforeEach(() => {
  home = join(root, `home-${testCount++}`);
  for (const path of ["srv/corpus", "srv/tokenizers", "var/cache/bpe", "var/log/bpe", "usr/local/bin"])
    mkdirSync(join(home, path), { recursive: true });
  put(join(home, "srv/corpus"), "monday.txt", "the cat sat on the mat<|endoftext|>".repeat(100));
});

/** Returns the command with the `bpe` under test, and with its paths in /srv and /var moved below `home`. */
const moved = (command: string) =>
  command.replaceAll("/usr/local/bin/bpe", binary).replaceAll(/(?<![\w.-])\/(srv|var)\//g, `${home}/$1/`);

const tokenizers = () => readdirSync(join(home, "srv/tokenizers"));
const lastRecord = () =>
  JSON.parse(readFileSync(join(home, "var/log/bpe/nightly.log"), "utf8").trimEnd().split("\n").at(-1)!);

/** Runs several nights, and checks what each of them leaves. */
function expectNights(night: () => { exitCode: number | null; stdout: Buffer; stderr: Buffer }) {
  for (let n = 0; n < 3; n++) {
    put(join(home, "srv/corpus"), `night-${n}.txt`, `what came in night ${n} `.repeat(50));
    const { exitCode, stdout } = night();
    expect([exitCode, stdout.toString()]).toEqual([0, ""]);
    expect(lastRecord()).toMatchObject({ event: "result", success: true });
    expect(lastRecord().inputs.length).toBe(n + 2);
  }
  expect(tokenizers().length).toBe(3);
  expect(tokenizers()).toContain("nightly");
  // Without new files, nothing is trained.
  expect(night().exitCode).toBe(0);
  expect(lastRecord()).toMatchObject({ success: true, changed: false });
  expect(tokenizers().length).toBe(3);
  // After a failure, the last good tokenizer stays.
  const corpus = join(home, "srv/corpus");
  rmSync(corpus, { recursive: true });
  const { exitCode, stderr } = night();
  expect(exitCode).toBe(1);
  expect(stderr.toString()).toContain(corpus);
  expect(lastRecord()).toMatchObject({ success: false, exitCode: 1 });
  expect(tokenizers().length).toBe(3);
}

test("the crontab has one line, and its command runs as cron runs it", () => {
  const lines = example("cron", "bpe-nightly")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  expect(lines[0]).toBe("SHELL=/bin/sh");
  expect(lines.length).toBe(2);
  const [, minute, hour, days, user, command] = /^(\d+) (\d+) (\* \* \*) (\w+) (\/.*)$/.exec(lines[1]!) ?? [];
  expect([Number(minute) < 60, Number(hour) < 24, days, user]).toEqual([true, true, "* * *", "bpe"]);
  // In a crontab, % begins the command's input.
  expect(command).not.toContain("%");
  const env = { HOME: "/", LOGNAME: user!, PATH: "/usr/bin:/bin", SHELL: "/bin/sh" };
  const cwd = "/";
  expectNights(() => Bun.spawnSync(["/bin/sh", "-c", moved(command!)], { env, cwd, stdin: "ignore" }));
}, 600_000);

test("the command of the systemd service runs with the directories that systemd makes for it", () => {
  const service = example("systemd", "bpe-nightly.service");
  const command = /^ExecStart=(.*)$/m.exec(service)![1]!;
  const env = {
    CACHE_DIRECTORY: join(home, "var/cache", /^CacheDirectory=(.*)$/m.exec(service)![1]!),
    LOGS_DIRECTORY: join(home, "var/log", /^LogsDirectory=(.*)$/m.exec(service)![1]!),
  };
  expectNights(() =>
    // systemd's rules for words and variables agree with the shell's for this line.
    Bun.spawnSync(["/bin/sh", "-c", moved(command)], { env, cwd: "/", stdin: "ignore" }),
  );
}, 600_000);

test("systemd finds nothing wrong with service and timer", () => {
  const analyze = Bun.which("systemd-analyze");
  if (analyze === null) return console.log("skipped: there is no systemd-analyze");
  for (const name of ["bpe-nightly.service", "bpe-nightly.timer"]) {
    const text = example("systemd", name)
      .replaceAll("/usr/local/bin/bpe", binary)
      .replace("User=bpe", "User=root");
    writeFileSync(join(home, name), text);
    const run = Bun.spawnSync([analyze, "verify", "--man=no", "--recursive-errors=no", join(home, name)]);
    expect([name, run.stdout.toString() + run.stderr.toString(), run.exitCode]).toEqual([name, "", 0]);
  }
  const calendar = /^OnCalendar=(.*)$/m.exec(example("systemd", "bpe-nightly.timer"))![1]!;
  expect(Bun.spawnSync([analyze, "calendar", calendar]).exitCode).toBe(0);
});

test("the container's files are all that the executable needs", () => {
  const copies = [...example("container", "Containerfile").matchAll(/^COPY (--from=debian )?(.*)$/gm)];
  const image = join(home, "image");
  for (const [, fromDebian, paths] of copies) {
    const words = paths!.split(" ");
    const target = words.at(-1)!;
    for (const source of words.slice(0, -1)) {
      if (source === "/tmp") mkdirSync(join(image, "tmp"), { recursive: true });
      else {
        const into = target.endsWith("/") ? join(image, target, basename(source)) : join(image, target);
        mkdirSync(dirname(into), { recursive: true });
        copyFileSync(fromDebian === undefined ? join(examples, "..", source) : source, into);
      }
    }
  }
  mkdirSync(join(image, "data/corpus"), { recursive: true });
  put(join(image, "data/corpus"), "a.txt", "the cat sat on the mat<|endoftext|>".repeat(100));
  // Enters the image as a container engine does, but without root.
  for (const path of ["dev", "proc"]) mkdirSync(join(image, path));
  const inside = 'mount --rbind /dev dev && mount --rbind /proc proc && exec chroot . "$@"';
  const enter = ["unshare", "--map-root-user", "--mount", "sh", "-c", inside, "sh"];
  const options = { cwd: image, env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" } };
  mkdirSync(join(home, "empty/dev"), { recursive: true });
  const probe = [
    "unshare",
    "--map-root-user",
    "--mount",
    "mount",
    "--rbind",
    "/dev",
    join(home, "empty/dev"),
  ];
  if (Bun.which("unshare") === null || Bun.spawnSync(probe).exitCode !== 0)
    return console.log("skipped: no user namespaces here");
  const train = [
    "train",
    "/data/corpus",
    "-n",
    "262",
    "-s",
    "<|endoftext|>",
    "-o",
    "/data/tokenizer",
    "-w",
    "2",
  ];
  const command = ["/usr/local/bin/bpe", ...train];
  for (let run = 0; run < 2; run++) {
    const { exitCode, stderr } = Bun.spawnSync([...enter, ...command], options);
    expect([exitCode, stderr.toString()]).toEqual([0, expect.stringContaining("tokenizer.json")]);
  }
  expect(readdirSync(join(image, "data")).sort()).toEqual(["corpus", "tokenizer"]);
});

test("the executable needs no library that the Containerfile does not copy", () => {
  const ldd = Bun.spawnSync(["ldd", binary]);
  if (ldd.exitCode !== 0) return console.log("skipped: there is no ldd");
  const needed = [...ldd.stdout.toString().matchAll(/(\/\S+\/)?([\w.-]+\.so[.\d]*)/g)].map(
    ([, , name]) => name!,
  );
  const copied = example("container", "Containerfile");
  const missing = needed.filter((name) => !name.startsWith("linux-vdso") && !copied.includes(name));
  expect(missing).toEqual([]);
});
