// Numbers as people read them, on a terminal as on a page.
export * from "../bytes/quantities.ts";
