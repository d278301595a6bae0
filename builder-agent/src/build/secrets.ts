/**
 * KIWI's debug log shows the command lines of the programs that set passwords, and the addresses of repositories with the
 * credentials in them. Such a line is kept without the part that nobody may read.
 */
export function withoutSecrets(line: string): string {
  return line
    .replace(
      /EXEC: \[.*\b(usermod|useradd|chpasswd|passwd)\b.*\]?/,
      "EXEC: [$1 …] (not shown: it may carry a password)",
    )
    .replaceAll(/([a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/gi, "$1…@");
}
