import type { Exit } from "./complaint.ts";
import type { Kiln } from "./kiln.ts";
import type { Placeholder } from "./placeholders.ts";

/** One command of the command line. Its help, its completion and its part of the manual are made from it. */
export interface Command {
  /** The words of its name: `config` and `get`. */
  words: readonly string[];
  parameters: readonly Parameter[];
  options: Readonly<Record<string, Option>>;
  summary: string;
  details?: string;
  examples: readonly string[];
  /** Its effect as a tool of `kiln mcp`. Without it, the command is not a tool. */
  tool?: ToolKind;
  /** Returns the result. Undefined means "done". */
  act(kiln: Kiln, given: Readonly<Record<string, unknown>>): Promise<Exit | void>;
}

/** The effect of `destroys` cannot be undone. */
type ToolKind = "reads" | "writes" | "destroys";

export interface Parameter {
  name: Placeholder;
  isRequired: boolean;
  isRepeated: boolean;
}

/** An option. A flag has no `placeholder`. */
export interface Option<T = unknown> {
  about: string;
  placeholder?: Placeholder;
  /** `f` for `-f`. */
  short?: string;
  isRepeated: boolean;
  /** Only for the compiler: the type of the value. */
  readonly gives?: T;
}

export const flag = (about: string, short?: string): Option<boolean> => ({
  about,
  isRepeated: false,
  ...(short && { short }),
});
export const value = (placeholder: Placeholder, about: string): Option<string | undefined> => ({
  about,
  placeholder,
  isRepeated: false,
});
export const values = (placeholder: Placeholder, about: string): Option<readonly string[]> => ({
  about,
  placeholder,
  isRepeated: true,
});

type Options = Readonly<Record<string, Option>>;

interface Given<U extends string, O extends Options> {
  summary: string;
  details?: string;
  options?: O;
  examples?: readonly string[];
  tool?: ToolKind;
  act(
    kiln: Kiln,
    given: ParametersIn<U> & { [N in keyof O]: O[N] extends Option<infer T> ? T : never },
  ): Promise<Exit | void>;
}

type ParametersIn<U extends string> = U extends `${infer Word} ${infer Rest}`
  ? ParameterIn<Word> & ParametersIn<Rest>
  : ParameterIn<U>;
type ParameterIn<W extends string> = W extends `<${infer N}...>` | `[${infer N}...]`
  ? { [P in N]: readonly string[] }
  : W extends `<${infer N}>`
    ? { [P in N]: string }
    : W extends `[${infer N}]`
      ? { [P in N]: string | undefined }
      : unknown;

/** Describes a command: `command("config get <appliance> [setting]", { … })`. */
export function command<const U extends string, const O extends Options = Record<never, Option>>(
  usage: U,
  { summary, details, options, examples = [], tool, act }: Given<U, O>,
): Command {
  const parts = usage.split(" ");
  return {
    words: parts.filter((part) => /^[a-z]/.test(part)),
    parameters: parts.filter((part) => /^[<[]/.test(part)).map(parameterOf),
    options: options ?? {},
    summary,
    ...(details && { details }),
    examples,
    ...(tool && { tool }),
    // The program makes `given` from the usage and the options, which also give its type.
    act: act as Command["act"],
  };
}

function parameterOf(part: string): Parameter {
  const [, bracket = "", name = "", dots = ""] = /^([<[])(\w+)(\.{3})?/.exec(part) ?? [];
  return { name: name as Placeholder, isRequired: bracket === "<", isRepeated: dots !== "" };
}

/** `<appliance>` or `[file...]`, as in the usage. */
export function shownParameter({ name, isRequired, isRepeated }: Parameter): string {
  const dots = isRepeated ? "..." : "";
  return isRequired ? `<${name}${dots}>` : `[${name}${dots}]`;
}

/** `-t, --image-type <types>` for the key `imageType`. */
export const shownOption = (key: string, { placeholder, short }: Option): string =>
  `${short ? `-${short}, ` : ""}${flagOf(key)}${placeholder ? ` <${placeholder}>` : ""}`;

export const flagOf = (key: string): string => `--${key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** Options of every command. */
export const globalOptions = {
  json: flag("print the service's answer as JSON"),
  url: value("address", "the service to use; otherwise KILN_URL, or that of the last `kiln login`"),
};

/** The value of each option for `act`. An absent flag is false, and an absent list is empty. */
export const optionValues = (options: Command["options"], find: (key: string) => unknown): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(options).map(([key, { placeholder, isRepeated }]) => [
      key,
      find(key) ?? (placeholder === undefined ? false : isRepeated ? [] : undefined),
    ]),
  );
