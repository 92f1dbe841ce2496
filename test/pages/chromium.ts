import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";

/** The directory into which setup.ts installs Chromium and its libraries. */
export const chromiumHome = join(import.meta.dir, "../../dist/chromium");
export const unpackedChromium = join(chromiumHome, "root/usr/lib/chromium/chromium");
export const chromiumOnPath = Bun.which("chromium") ?? Bun.which("chromium-browser");

/** Starts a headless Chromium: the system's, or the one that setup.ts installed. */
export function launchChromium(): Promise<Browser> {
  const environment = {
    HOME: chromiumHome,
    PATH: process.env.PATH ?? "",
    TMPDIR: process.env.TMPDIR ?? "/tmp",
    // Stops Chromium from looking for D-Bus.
    DBUS_SESSION_BUS_ADDRESS: "disabled:",
  };
  if (chromiumOnPath !== null) return chromium.launch({ executablePath: chromiumOnPath, env: environment });
  const libraries = join(chromiumHome, "root/usr/lib");
  const triplet = readdirSync(libraries).find((name) => name.endsWith("-linux-gnu"))!;
  const paths = [join(libraries, triplet), join(libraries, triplet, "pulseaudio")];
  const env = { ...environment, LD_LIBRARY_PATH: paths.join(":") };
  return chromium.launch({ executablePath: unpackedChromium, env });
}
