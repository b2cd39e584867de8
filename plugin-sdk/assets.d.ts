// Files besides code that a plugin may import. The host makes them part of the bundle.

/** A style sheet is its text. */
declare module "*.css" {
  const text: string;
  export default text;
}
/** A CSS module is its class names, and its text for the styles of the widget. */
declare module "*.module.css" {
  export const css: string;
  const names: Readonly<Record<string, string>>;
  export default names;
}
/** An image is a `data:` address. */
declare module "*.svg" {
  const address: string;
  export default address;
}
declare module "*.png" {
  const address: string;
  export default address;
}
declare module "*.jpg" {
  const address: string;
  export default address;
}
declare module "*.webp" {
  const address: string;
  export default address;
}
/** A font is its bytes, for `new FontFace(name, bytes)`. */
declare module "*.woff2" {
  const bytes: Uint8Array<ArrayBuffer>;
  export default bytes;
}
/** A WebAssembly file is its bytes, for `WebAssembly.instantiate(bytes)`. */
declare module "*.wasm" {
  const bytes: Uint8Array<ArrayBuffer>;
  export default bytes;
}
