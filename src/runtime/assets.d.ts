/**
 * The path of a file that the build puts next to the importing module. Builds for browsers replace it
 * (embedded.browser.ts, embedded.wasm-files.ts).
 */
declare module "*.wasm" {
  const path: string;
  export default path;
}
