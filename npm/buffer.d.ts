// For the type checker: what the build of the library for browsers puts in the place of the global Buffer.
type Buffer = import("../src/runtime/host.browser.ts").Buffer;
declare const Buffer: typeof import("../src/runtime/host.browser.ts").Buffer;
