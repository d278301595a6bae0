/**
 * KIWI's debug log shows the command lines of programs that set passwords, and the URLs of repositories with their
 * credentials. Takes time in proportion to the line: scripts of an appliance write such lines too.
 */
export function withoutSecrets(line: string): string {
  const program = passwordProgramIn(line.slice(commandAt(line)));
  return withoutCredentials(program === undefined ? line : withoutCommand(line, program));
}

/** What follows a line's head and is not shown. */
export interface Dropped {
  bytes: number;
  /** A program that sets passwords, named there. */
  program?: string | undefined;
}

/** The head of a line that was cut: what tells that something in it is secret may be in the part that was dropped. */
export function cutWithoutSecrets(head: string, { bytes, program }: Dropped): string {
  const shown = withoutSecrets(program === undefined ? head : withoutCommand(head, program));
  return `${shown.replace(openAuthority, "…")} … (${bytes} more bytes of this line are not shown)`;
}

const passwordProgram = /\b(usermod|useradd|chpasswd|passwd)\b/;

/** No longer than this, with a character on each side. */
export const passwordProgramBytes = "chpasswd".length + 2;

export const passwordProgramIn = (text: string): string | undefined => passwordProgram.exec(text)?.[1];

const command = "EXEC: [";

/** The end of the line when there is none. */
function commandAt(line: string): number {
  const at = line.indexOf(command);
  return at === -1 ? line.length : at;
}

function withoutCommand(line: string, program: string): string {
  const at = commandAt(line);
  return at === line.length ? line : `${line.slice(0, at)}${command}${program} …] (not shown: it may carry a password)`;
}

// A match begins only after "x://" and ends before the next slash, so that no character is read by many of them.
const credentials = /(?<=[a-z0-9+.-]:\/\/)[^\s/]+@/gi;
/** Where the "@" may have been dropped. */
const openAuthority = /(?<=[a-z0-9+.-]:\/\/)[^\s/]+$/i;

const withoutCredentials = (line: string): string => line.replaceAll(credentials, "…@");
