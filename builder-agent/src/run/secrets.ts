/**
 * Removes secrets from a line of KIWI's debug log: it shows the command lines of programs that set passwords, and the
 * URLs of repositories with their credentials. Takes linear time, because scripts of an appliance can write such lines
 * too.
 */
export function withoutSecrets(line: string): string {
  const program = passwordProgramIn(line.slice(commandAt(line)));
  return withoutCredentials(program === undefined ? line : withoutCommand(line, program));
}

/** The end of a long line, which is not shown. */
export interface Dropped {
  bytes: number;
  /** The program that sets passwords, if the end names one. */
  program?: string | undefined;
}

/**
 * Removes secrets from the head of a long line. The dropped end may contain the part that marks something as secret.
 */
export function cutWithoutSecrets(head: string, { bytes, program }: Dropped): string {
  const shown = withoutSecrets(program === undefined ? head : withoutCommand(head, program));
  return `${shown.replace(openAuthority, "…")} … (${bytes} more bytes of this line are not shown)`;
}

const passwordProgram = /\b(usermod|useradd|chpasswd|passwd)\b/;

/** The length of the longest name of such a program, with a character on each side. */
export const passwordProgramBytes = "chpasswd".length + 2;

export const passwordProgramIn = (text: string): string | undefined => passwordProgram.exec(text)?.[1];

const command = "EXEC: [";

/** The position at which the command begins, or the end of the line if there is none. */
function commandAt(line: string): number {
  const at = line.indexOf(command);
  return at === -1 ? line.length : at;
}

function withoutCommand(line: string, program: string): string {
  const at = commandAt(line);
  return at === line.length ? line : `${line.slice(0, at)}${command}${program} …] (hidden: it may contain a password)`;
}

// A match starts only after "x://" and ends before the next slash, so that many matches do not read the same character.
const credentials = /(?<=[a-z0-9+.-]:\/\/)[^\s/]+@/gi;
/** Where the "@" may have been dropped. */
const openAuthority = /(?<=[a-z0-9+.-]:\/\/)[^\s/]+$/i;

const withoutCredentials = (line: string): string => line.replaceAll(credentials, "…@");
