import { expect, test } from "bun:test";
import {
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  linkSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import * as trustedFiles from "../../../src/store/trusted-files.ts";
import { eachInNewHome } from "../../homes.ts";
import { asOther, canPlayOthers, giveAway, makePipe } from "../../other-user.ts";
import { errorOf } from "../../thrown.ts";

let home: string;
let file: string;
eachInNewHome((made) => {
  home = made;
  file = join(home, "file");
  writeFileSync(file, "content");
});

const refusal = (run: () => unknown) => {
  const error = errorOf(run);
  expect(error).toBeInstanceOf(trustedFiles.Untrusted);
  return error.message;
};

test("a pipe, a link and a directory are refused at once, by name", () => {
  symlinkSync("file", join(home, "link"));
  mkdirSync(join(home, "directory"));
  makePipe(join(home, "pipe"));
  expect(refusal(() => trustedFiles.open(join(home, "pipe")))).toBe(
    `"${join(home, "pipe")}" is not used: it is not a regular file`,
  );
  expect(refusal(() => trustedFiles.open(join(home, "link")))).toEndWith("it is a symbolic link");
  expect(refusal(() => trustedFiles.open(join(home, "directory")))).toEndWith("it is a directory");
  expect(trustedFiles.readTrusted(file).toString()).toBe("content");
});

test("in a world-writable directory, another user's file is not removed; of a link, only the link is", () => {
  trustedFiles.remove(join(home, "nothing"));
  symlinkSync("file", join(home, "link"));
  trustedFiles.remove(join(home, "link"));
  expect(readFileSync(file, "utf8")).toBe("content");
  if (!canPlayOthers()) return;
  giveAway(file);
  chmodSync(home, 0o1777);
  expect(refusal(() => trustedFiles.remove(file))).toContain("it belongs to another user (uid 65534)");
  chmodSync(home, 0o775);
  trustedFiles.remove(file);
  expect(existsSync(file)).toBe(false);
});

test("another user's file is refused where everybody may write, and accepted where that user was admitted", () => {
  if (!canPlayOthers()) return;
  giveAway(file);
  for (const mode of [0o777, 0o1777]) {
    chmodSync(home, mode);
    expect(refusal(() => trustedFiles.open(file))).toContain("it belongs to another user (uid 65534)");
  }
  for (const mode of [0o755, 0o775, 0o2770]) {
    chmodSync(home, mode);
    expect(trustedFiles.readTrusted(file).toString()).toBe("content");
  }
  // The file is also accepted if the directory belongs to the file's owner.
  chmodSync(home, 0o777);
  giveAway(home);
  expect(trustedFiles.readTrusted(file).toString()).toBe("content");
});

test("everybody accepts root's file", () => {
  if (!canPlayOthers()) return;
  chmodSync(home, 0o1777);
  expect(asOther(home, () => trustedFiles.readTrusted(file).toString())).toBe("content");
});

test("a link is followed for writing only if this user or root must have made it", () => {
  symlinkSync("file", join(home, "own"));
  symlinkSync("own", join(home, "chain"));
  symlinkSync("nothing", join(home, "dangling"));
  expect(trustedFiles.followLinks(join(home, "chain"))).toBe(file);
  expect(trustedFiles.followLinks(join(home, "dangling"))).toBe(join(home, "nothing"));
  symlinkSync("loop", join(home, "loop"));
  expect(() => trustedFiles.followLinks(join(home, "loop"))).not.toThrow();
  if (!canPlayOthers()) return;
  symlinkSync("file", join(home, "planted"));
  symlinkSync("planted", join(home, "to-planted"));
  giveAway(join(home, "planted"));
  expect(trustedFiles.followLinks(join(home, "planted"))).toBe(file);
  for (const mode of [0o777, 0o1777, 0o775]) {
    chmodSync(home, mode);
    expect(trustedFiles.followLinks(join(home, "own"))).toBe(file);
    for (const name of ["planted", "to-planted"]) {
      expect(refusal(() => trustedFiles.followLinks(join(home, name)))).toContain(
        `"${join(home, "planted")}" is not used`,
      );
    }
  }
  linkSync(join(home, "own"), join(home, "second"));
  expect(refusal(() => trustedFiles.followLinks(join(home, "second")))).toContain(
    "another user may have put there",
  );
});

test("a file to append to is created, or used if a trusted user made it", () => {
  const log = join(home, "log");
  closeSync(trustedFiles.openToAppend(log));
  symlinkSync("log", join(home, "link"));
  const fd = trustedFiles.openToAppend(join(home, "link"));
  expect(fstatSync(fd).isFile()).toBe(true);
  closeSync(fd);
  closeSync(trustedFiles.openToAppend("/dev/null"));
  // The stderr of the tests may be a pipe that only root can reopen, or a socket, which cannot be reopened.
  if (process.geteuid?.() === 0 && !fstatSync(2).isSocket())
    closeSync(trustedFiles.openToAppend("/dev/stderr"));
  expect(() => trustedFiles.openToAppend(makePipe(join(home, "pipe")))).toThrow("ENXIO");
  linkSync(file, join(home, "second"));
  closeSync(trustedFiles.openToAppend(join(home, "second")));
  chmodSync(home, 0o777);
  expect(refusal(() => trustedFiles.openToAppend(join(home, "second")))).toContain(
    "it has a second hard link",
  );
  expect(readFileSync(file, "utf8")).toBe("content");
  if (!canPlayOthers()) return;
  giveAway(log);
  expect(refusal(() => trustedFiles.openToAppend(log))).toContain("belongs to another user");
});
