import { expect, test } from "bun:test";
import { outOfMemory, UserError } from "../src/errors.ts";

function caught(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}

test("an allocation that fails is told as such, and nothing else is", () => {
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
