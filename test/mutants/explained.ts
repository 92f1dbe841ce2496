/** Changes that no test can see, because the result is the same, or that are not worth a test; and why. */
export const explained: readonly { file: string; line: string; changed: string; why: string }[] = [];
