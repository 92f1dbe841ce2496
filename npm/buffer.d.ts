// For the type checker: the type that the global Buffer has in the library for browsers, whose build replaces Buffer.
type Buffer = import("../src/runtime/host.browser.ts").Buffer;
declare const Buffer: typeof import("../src/runtime/host.browser.ts").Buffer;
