/**
 * Splits a shell script into commands and words. Knows only single quotes and backslashes, which is exact for scripts that Kiln
 * writes. Other scripts are only searched for such commands.
 */
export function shellCommands(script: string): string[][] {
  const commands: string[][] = [[]];
  let word: string | undefined;
  const endWord = () => {
    if (word !== undefined) commands.at(-1)?.push(word);
    word = undefined;
  };
  for (const [token] of script.matchAll(/'[^']*'|\\[^]|\n|[^\S\n]+|[^\s'\\]+|['\\]/g)) {
    if (token === "\n") {
      endWord();
      commands.push([]);
    } else if (/^\s/.test(token)) endWord();
    else word = (word ?? "") + unquoted(token);
  }
  endWord();
  return commands.filter((words) => words.length > 0);
}

function unquoted(token: string): string {
  if (token.length > 1 && token.startsWith("'")) return token.slice(1, -1);
  return token.length > 1 && token.startsWith("\\") ? token.slice(1) : token;
}
