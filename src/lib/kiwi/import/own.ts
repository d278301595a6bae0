/** A description that Kiln has written. The reader of each part is next to its writer. */
export interface Own {
  /** The commands of config.sh below its functions. */
  commands: Commands;
  textAt: TextAt;
}

export type Commands = readonly (readonly string[])[];
/** The text of a file of the description. */
export type TextAt = (path: string) => string | undefined;

/** The arguments of each call of a command. */
export const argumentsOf = (commands: Commands, name: string): (readonly string[])[] =>
  commands.filter(([first]) => first === name).map((words) => words.slice(1));
