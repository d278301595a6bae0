/** Quotes a text as one word for a POSIX shell. The text must not contain a NUL. */
export const shellQuote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
