/** Commands, each by the name of its question. */
type Questions = Readonly<Record<string, string>>;

const over = "<over>";

/**
 * A program that prints answers on the serial line of the machine in which it runs. The answers of a second start would
 * get between those of the first.
 */
export const askingProgram = (questions: Questions): string =>
  [
    "#!/bin/bash",
    "mkdir /run/asked || exit",
    "dmesg --console-off",
    "{",
    ...Object.entries(questions).flatMap(([name, command]) => [
      `echo; echo "<${name}>"`,
      `{ ${command}; } 2> /dev/null`,
      `echo "</${name}>"`,
    ]),
    `echo "${over}"`,
    "} > /dev/ttyS0",
    "",
  ].join("\n");

export const isOver = (said: string): boolean => said.includes(over);

/** The lines of the answer to a question, without empty lines and without lines that the system has coloured. */
export function answerIn(said: string, name: string): string[] {
  const [begin, end] = [`<${name}>\n`, `</${name}>`];
  const from = said.indexOf(begin) + begin.length;
  const lines = said.slice(from, said.indexOf(end, from)).split("\n");
  return lines.filter((line) => line.trim() !== "" && !line.includes("\u001B"));
}
