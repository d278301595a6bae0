/** Output of at least this many bytes, with which an image's script may keep an agent busy. */
const of = (unit: string) => (bytes: number) => unit.repeat(Math.ceil(bytes / unit.length));

/** As many different lines as possible. */
const numbered = (line: (n: number) => string) => (bytes: number) => {
  const length = line(100_000).length + 1;
  return Array.from({ length: Math.ceil(bytes / length) }, (_, n) => `${line(100_000 + n)}\n`).join("");
};

const filled = (head: string, unit: string, tail = "") => of(`${head}${unit.repeat(4000 / unit.length)}${tail}\n`);

const zypper = "[ DEBUG   ]: 13:46:09 | bootstrap:";

export const worstOutput = {
  "a line without an end": of("a"),
  "addresses in a line without an end": of("x://a"),
  "lines of letters": filled("", "a"),
  "lines of schemes": filled("", "x://"),
  "an address without a host": filled("https://", "u"),
  "commands in commands": filled("", "EXEC: ["),
  "commands that almost set passwords": filled("EXEC: [", "passw "),
  "empty lines": of("\n"),
  "sizes of points and digits": filled(`${zypper} Overall download size: `, "1.", `${" additional 1.1.".repeat(100)}`),
  "packages with many blanks": filled(`${zypper} Retrieving package x (`, " "),
  "packages of one name": filled("", ": Retrieving package x (1/1), "),
  "many packages": numbered((n) => `${zypper} Retrieving package p${n}-1-1.noarch (1/2), 1 KiB (1 KiB unpacked)`),
  "many problems": numbered((n) => `${zypper} Problem: 1: nothing provides p${n}`),
  "errors that never end": numbered((n) => (n === 100_000 ? "[ ERROR   ]: 1 | no" : `more ${n}`)),
  "paths in a record": filled("[ INFO    ]: 13:46:09 | ", " on /x"),
};
