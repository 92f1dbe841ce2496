/** Files that the build puts beside the modules: the path of each. */
declare module "*.wasm" {
  const path: string;
  export default path;
}

/** The script and the style sheets of pages, as text. */
declare module "*/page-script.js" {
  const text: string;
  export default text;
}
declare module "*/page-tips.js" {
  const text: string;
  export default text;
}
declare module "*/page-style.css" {
  const text: string;
  export default text;
}
declare module "*/playground-style.css" {
  const text: string;
  export default text;
}
