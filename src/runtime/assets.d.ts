/** Files that the build puts beside the modules: the path of each. */
declare module "*.wasm" {
  const path: string;
  export default path;
}
