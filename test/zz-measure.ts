import { readFileSync, writeFileSync } from "node:fs";
import { launchChromium } from "./report/chromium.ts";

const english = readFileSync("/work/shared/corpora/english.txt");
const browser = await launchChromium();
for (const [name, bytes, size] of [
  ["1 MB", 1e6, "8000"],
  ["10 MB", 1e7, "32000"],
] as const) {
  const results: string[] = [];
  for (let round = 0; round < 5; round++) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.goto("file:///work/wt/lead/dist/playground/playground.html");
    await page.waitForSelector("#token-view .node");
    const path = `/tmp/pm/${bytes}.txt`;
    writeFileSync(path, english.subarray(0, bytes));
    await page.setInputFiles("#train-files", path);
    await page.fill("#train-size", size);
    await page.evaluate(
      `(() => { window.gaps = []; let last = performance.now(); const f = () => { const now = performance.now(); window.gaps.push(now - last); last = now; requestAnimationFrame(f); }; requestAnimationFrame(f); window.tasks = []; new PerformanceObserver((l) => l.getEntries().forEach((e) => window.tasks.push(e.duration))).observe({ entryTypes: ["longtask"] }); })()`,
    );
    const t = performance.now();
    await page.click("#train-go");
    await page.waitForFunction(`/^Learned/.test(document.querySelector("#train-status").textContent)`);
    const s = (performance.now() - t) / 1000;
    await page.waitForTimeout(700);
    const gaps = (await page.evaluate("Math.max(...window.gaps)")) as number;
    const tasks = (await page.evaluate("window.tasks")) as number[];
    results.push(`${s.toFixed(2)} s, gap ${gaps.toFixed(0)} ms, longest task ${Math.max(0, ...tasks)} ms`);
    if (bytes === 1e7 && round === 4) {
      // slider
      const steps = (await page.evaluate(`(async () => {
        const slider = document.querySelector("#watch-slider"); slider.scrollIntoView();
        const max = Number(slider.max); const out = []; const script = [];
        for (let i = 0; i < 150; i++) {
          const to = Math.floor(((i * 7919) % 1000) / 1000 * max);
          const a = performance.now();
          slider.value = String(to); slider.dispatchEvent(new Event("input", { bubbles: true }));
          script.push(performance.now() - a);
          await new Promise((r) => requestAnimationFrame(() => setTimeout(r)));
          out.push(performance.now() - a);
        }
        const q = (l, p) => l.sort((x, y) => x - y)[Math.floor(l.length * p)].toFixed(1);
        return [max, q(out, .5), q(out, .95), q(script, .5), q(script, .95)];
      })()`)) as string[];
      console.log(
        "slider: merges, step to the task after its frame median, p95; script median, p95:",
        steps.join(" "),
      );
    }
    await page.close();
  }
  console.log(name, results.join(" | "));
}
await browser.close();
