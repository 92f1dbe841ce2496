// For the type checker: in code for browsers, the global Buffer is the one of host.browser.ts, which the build puts there.
type Buffer = import("../src/runtime/host.browser.ts").Buffer;
declare const Buffer: typeof import("../src/runtime/host.browser.ts").Buffer;
