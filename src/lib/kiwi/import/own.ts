/** A description that Kiln has written: what reads a part of it stands beside what writes it. */
export interface Own {
  /** Those of config.sh, below its functions. */
  commands: Commands;
  textAt: TextAt;
}

export type Commands = readonly (readonly string[])[];
/** The text of a file of the description. */
export type TextAt = (path: string) => string | undefined;

/** The arguments of each call of a command. */
export const argumentsOf = (commands: Commands, name: string): (readonly string[])[] =>
  commands.filter(([first]) => first === name).map((words) => words.slice(1));
