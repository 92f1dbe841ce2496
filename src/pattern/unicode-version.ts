/** The version of the Unicode tables (unicode-data.ts, which scripts/generate-unicode-data.ts makes). */
export const unicodeVersion = "16.0.0";
