import type { Exit } from "./complaint.ts";
import type { Kiln } from "./kiln.ts";
import type { Placeholder } from "./placeholders.ts";

/** One command of the command line. Its help, its completion and its page in the manual come from it. */
export interface Command {
  /** `config get`: its name, and what it takes, as in the usage. */
  words: readonly string[];
  parameters: readonly Parameter[];
  options: Readonly<Record<string, Option>>;
  summary: string;
  details?: string;
  examples: readonly string[];
  /** What an assistant can do with it through `kiln mcp`; absent: an assistant has no such tool. */
  tool?: ToolKind;
  /** Returns how it ended, if that is not what usually is. */
  act(kiln: Kiln, given: Readonly<Record<string, unknown>>): Promise<Exit | void>;
}

/** `destroys`: what it takes away does not come back. */
type ToolKind = "reads" | "writes" | "destroys";

export interface Parameter {
  name: Placeholder;
  isRequired: boolean;
  isRepeated: boolean;
}

/** `placeholder` is missing from a flag. */
export interface Option<T = unknown> {
  about: string;
  placeholder?: Placeholder;
  /** `f` for `-f`. */
  short?: string;
  isRepeated: boolean;
  /** Only for the compiler: what `act` is given. */
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
    // The types of `given` are those of its usage and its options, from which the program reads it.
    act: act as Command["act"],
  };
}

function parameterOf(part: string): Parameter {
  const [, bracket = "", name = "", dots = ""] = /^([<[])(\w+)(\.{3})?/.exec(part) ?? [];
  return { name: name as Placeholder, isRequired: bracket === "<", isRepeated: dots !== "" };
}

/** `<appliance>` or `[file...]`, as a usage shows it. */
export function shownParameter({ name, isRequired, isRepeated }: Parameter): string {
  const dots = isRepeated ? "..." : "";
  return isRequired ? `<${name}${dots}>` : `[${name}${dots}]`;
}

/** `-t, --image-type <types>` for the key `imageType`. */
export const shownOption = (key: string, { placeholder, short }: Option): string =>
  `${short ? `-${short}, ` : ""}${flagOf(key)}${placeholder ? ` <${placeholder}>` : ""}`;

export const flagOf = (key: string): string => `--${key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
