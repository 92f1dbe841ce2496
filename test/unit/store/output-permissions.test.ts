import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { stageDirectory } from "../../../src/store/staged-directory.ts";
import * as stagedFile from "../../../src/store/staged-file.ts";
import { CacheDirectory } from "../../../src/words/cache-directory.ts";
import { eachInNewHome } from "../../homes.ts";
import { asOther, canPlayOthers, giveAway, otherUser } from "../../other-user.ts";

let home: string;
let file: string;
let directory: string;
eachInNewHome((made) => {
  home = made;
  file = join(home, "file");
  directory = join(home, "directory");
});

let umaskBefore: number;
beforeEach(() => {
  umaskBefore = process.umask(0o022);
});
afterEach(() => {
  process.umask(umaskBefore);
});

function replaceFile(): void {
  const staged = stagedFile.stage(file);
  staged.write(Buffer.from("new"));
  staged.publish();
  expect(readFileSync(file, "utf8")).toBe("new");
}

function replaceDirectory(): void {
  const staged = stageDirectory(directory);
  staged.write("training.json", [Buffer.from('{"files": []}')]);
  staged.publish();
}

const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8);
const ownerOf = (path: string) => [statSync(path).uid, statSync(path).gid];

test("a staged output is private to its writer, and gets the umask's permissions when published", () => {
  for (const umask of [0o022, 0o077, 0o002]) {
    process.umask(umask);
    const staged = stagedFile.stage(join(home, `file-${umask}`));
    const stagedDirectory = stageDirectory(join(home, `directory-${umask}`));
    stagedDirectory.write("inner", []);
    const modes = readdirSync(home)
      .filter((name) => name.startsWith("."))
      .map((name) => modeOf(join(home, name)));
    expect(modes.sort()).toEqual(["600", "700"]);
    staged.publish();
    stagedDirectory.publish();
    expect(modeOf(join(home, `file-${umask}`))).toBe((0o666 & ~umask).toString(8));
    expect(modeOf(join(home, `directory-${umask}`))).toBe((0o777 & ~umask).toString(8));
    expect(modeOf(join(home, `directory-${umask}`, "inner"))).toBe((0o666 & ~umask).toString(8));
  }
});

test("no output inherits setuid, setgid or sticky", () => {
  writeFileSync(file, "old");
  mkdirSync(directory);
  for (const mode of [0o4755, 0o2755, 0o1755, 0o7777, 0o6740]) {
    chmodSync(file, mode);
    chmodSync(directory, mode);
    replaceFile();
    replaceDirectory();
    expect([modeOf(file), modeOf(directory)]).toEqual(Array(2).fill((mode & 0o777).toString(8)));
  }
});

test("another user's output keeps owner and group, but no permission that the umask forbids", () => {
  if (!canPlayOthers()) return;
  writeFileSync(file, "old");
  mkdirSync(directory);
  giveAway(file, directory);
  chmodSync(file, 0o6777);
  chmodSync(directory, 0o6777);
  for (let n = 0; n < 2; n++) {
    replaceFile();
    replaceDirectory();
    for (const path of [file, directory]) {
      expect(modeOf(path)).toBe("755");
      expect(ownerOf(path)).toEqual([otherUser, otherUser]);
    }
    expect(ownerOf(join(directory, "training.json"))).toEqual([otherUser, otherUser]);
  }
});

test("where everybody may write, permissions of another user's output are not copied", () => {
  if (!canPlayOthers()) return;
  chmodSync(home, 0o1777);
  writeFileSync(file, "old");
  mkdirSync(directory);
  giveAway(file, directory);
  chmodSync(file, 0o666);
  chmodSync(directory, 0o777);
  replaceFile();
  replaceDirectory();
  expect([modeOf(file), modeOf(directory)]).toEqual(["644", "755"]);
  expect([...ownerOf(file), ...ownerOf(directory)]).toEqual([0, 0, 0, 0]);
});

test("a cache may not be a link or a directory that another user put where everybody may write", () => {
  if (!canPlayOthers()) return;
  const [shared, theirs, link] = ["shared", "shared/theirs", "shared/link"].map((name) => join(home, name));
  const open = (path: string) => new CacheDirectory(path, () => {});
  mkdirSync(shared!);
  chmodSync(shared!, 0o1777);
  mkdirSync(theirs!);
  mkdirSync(join(home, "mine"));
  symlinkSync(join(home, "mine"), link!);
  for (const path of [theirs!, link!]) open(path);
  giveAway(theirs!);
  Bun.spawnSync(["chown", "-h", `${otherUser}`, link!]);
  for (const path of [theirs!, `${theirs}/`, `${theirs}/.`, link!, `${link}//`]) {
    expect(() => open(path)).toThrow(/^--cache ".*" is not used: it (is|belongs to) /);
  }
  rmSync(link!);
  symlinkSync(join(home, "new"), link!);
  Bun.spawnSync(["chown", "-h", `${otherUser}`, link!]);
  expect(() => open(link!)).toThrow("symbolic link");
  expect(existsSync(join(home, "new"))).toBe(false);
  open(join(shared!, "own"));
});

test("if owner and group cannot be restored, the output belongs to the caller, and its group has the permissions of others", () => {
  if (!canPlayOthers()) return;
  giveAway(home);
  writeFileSync(file, "old");
  chownSync(file, 0, 4242);
  chmodSync(file, 0o664);
  asOther(home, replaceFile);
  expect(ownerOf(file)).toEqual([otherUser, otherUser]);
  expect(modeOf(file)).toBe("644");
  chownSync(file, otherUser, 4242);
  chmodSync(file, 0o660);
  asOther(home, replaceFile);
  expect(modeOf(file)).toBe("600");
});
