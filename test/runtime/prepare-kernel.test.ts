import { expect, test } from "bun:test";
import { createKernel, kernelModule, prepareKernel } from "../../src/runtime/kernel.ts";

test("a kernel that was prepared is the one that all use, however often it is prepared", async () => {
  await Promise.all([prepareKernel(), prepareKernel()]);
  const module = kernelModule();
  await prepareKernel();
  expect(kernelModule()).toBe(module);
  expect(createKernel().exports.memoryBytes()).toBeGreaterThan(0);
});
