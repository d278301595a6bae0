import { shellQuote } from "#lib/contract/shell-quote";

/** A command and its arguments, each exactly as given. */
export const shellCommand = (...words: readonly string[]): string => words.map(shellQuote).join(" ");

/** A user's script. bash runs it, unless its first line names another interpreter. */
export const withInterpreter = (script: string): string => {
  const text = script.endsWith("\n") ? script : `${script}\n`;
  return text.startsWith("#!") ? text : `#!/bin/bash\n${text}`;
};
