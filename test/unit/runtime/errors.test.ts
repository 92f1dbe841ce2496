import { expect, test } from "bun:test";
import { outOfMemory, UserError } from "../../../src/runtime/errors.ts";

function caught(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}

test("a value of 100 kB is shortened in an error: its middle is left out, and no character is split", () => {
  const path = `"${"p".repeat(4096)}": no such file`;
  expect(new UserError(path).message).toBe(path);
  for (const value of ["a".repeat(100_000), "𝒜".repeat(50_000), `x${"𝒜".repeat(50_000)}`]) {
    const whole = `pattern: ${value} is not closed`;
    const { message, hint } = new UserError(whole, { hint: value });
    const [note, leftOut] = / … \((\d+) characters\) … /.exec(message)!;
    expect(message.length - note.length + Number(leftOut)).toBe(whole.length);
    expect(message).toMatch(/^pattern: .{1,600} … \(\d+ characters\) … .{1,200} is not closed$/u);
    expect(message.length).toBeLessThan(900);
    expect(message.isWellFormed()).toBe(true);
    expect(hint!.length).toBeLessThan(900);
  }
});

test("only a failed allocation is reported as such", () => {
  const refused = caught(() => new Uint8Array(2 ** 52));
  expect(outOfMemory(refused)?.message).toStartWith("out of memory: ");
  expect(outOfMemory(Object.assign(new Error("no"), { code: "ENOMEM" }))).toBeInstanceOf(UserError);
  const deep = (): number => 1 + deep();
  for (const other of [
    caught(deep),
    caught(() => (1).toFixed(101)),
    new Error("memory"),
    new UserError("x"),
    7,
  ]) {
    expect(outOfMemory(other)).toBeUndefined();
  }
});
