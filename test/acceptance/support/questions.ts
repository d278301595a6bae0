/** Commands by the names of their questions. */
type Questions = Readonly<Record<string, string>>;

const over = "<over>";

/** A program that prints answers on the serial line of its machine. If it ran twice, the answers would be mixed. */
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

/** The lines of the answer to a question, without empty lines and lines that the system has coloured. */
export function answerIn(said: string, name: string): string[] {
  const [begin, end] = [`<${name}>\n`, `</${name}>`];
  const from = said.indexOf(begin) + begin.length;
  const lines = said.slice(from, said.indexOf(end, from)).split("\n");
  return lines.filter((line) => line.trim() !== "" && !line.includes("\u001B"));
}
