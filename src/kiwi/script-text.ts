/** A user's script, by bash unless its first line names another interpreter. */
export const withInterpreter = (script: string): string => {
  const text = script.endsWith("\n") ? script : `${script}\n`;
  return text.startsWith("#!") ? text : `#!/bin/bash\n${text}`;
};
