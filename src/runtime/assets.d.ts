/** The path of a file that the build puts next to the importing module. */
declare module "*.wasm" {
  const path: string;
  export default path;
}
