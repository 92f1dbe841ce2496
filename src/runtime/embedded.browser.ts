/** In the place of embedded.ts in the library for browsers: there are no files and no workers. */
export const embeddedDirectory = "";
