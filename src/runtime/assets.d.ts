/** The path of a file that the build puts next to the importing module. */
declare module "*.wasm" {
  const path: string;
  export default path;
}

/** The style sheets of the playground, as text. */
declare module "*/page-style.css" {
  const text: string;
  export default text;
}
declare module "*/playground-style.css" {
  const text: string;
  export default text;
}
