/** One word for a POSIX shell that stands for exactly this text. The text must not hold a NUL. */
export const shellQuote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A command and its arguments, each exactly as given. */
export const shellCommand = (...words: readonly string[]): string => words.map(shellQuote).join(" ");
