// For the type checker: what replaces the global Buffer in browsers.
type Buffer = import("../src/runtime/host.browser.ts").Buffer;
declare const Buffer: typeof import("../src/runtime/host.browser.ts").Buffer;
