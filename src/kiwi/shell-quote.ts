/** Quotes a text as one word for a POSIX shell. The text must not contain a NUL. */
export const shellQuote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A command and its arguments, each exactly as given. */
export const shellCommand = (...words: readonly string[]): string => words.map(shellQuote).join(" ");
