import { readApplianceFile } from "../appliance-file/read.ts";
import { type Command, type Option, shownParameter } from "../command.ts";
import { Complaint, type Exit } from "../complaint.ts";
import { globalOptions } from "../global-options.ts";
import { Kiln } from "../kiln.ts";
import { Painter } from "../output/painter.ts";
import { placeholders } from "../placeholders.ts";

/** A command as the Model Context Protocol describes it. */
export interface Tool {
  name: string;
  title: string;
  description: string;
  inputSchema: Schema;
  annotations: { readOnlyHint: boolean; destructiveHint: boolean; openWorldHint: boolean };
  call(given: Readonly<Record<string, unknown>>): Promise<Called>;
}

interface Schema {
  type: "object";
  properties: Record<string, Property>;
  required: string[];
  additionalProperties: false;
}
type Property = { description: string } & (
  | { type: "string" | "boolean" }
  | { type: "array"; items: { type: "string" }; minItems?: number }
);

/** What an assistant reads. */
interface Called {
  text: string;
  isError: boolean;
}

/** Those of the commands that an assistant may use: all that read, and with `mayWrite` those that change something. */
export const toolsFor = (
  commands: readonly Command[],
  { mayWrite, url }: { mayWrite: "yes" | "no"; url: string | undefined },
): Tool[] =>
  commands.flatMap((one) =>
    one.tool === undefined || (one.tool !== "reads" && mayWrite === "no") ? [] : [toolOf(one, url)],
  );

function toolOf(one: Command, url: string | undefined): Tool {
  const { words, summary, details, tool } = one;
  return {
    name: words.join("_").replaceAll("-", "_"),
    title: summary,
    description: [`${summary}.`, details].filter(Boolean).join(" "),
    inputSchema: schemaOf(one),
    annotations: { readOnlyHint: tool === "reads", destructiveHint: tool === "destroys", openWorldHint: false },
    call: (given) => callOf(one, given, url),
  };
}

/** What goes on until something ends would outlast the patience of an assistant. */
const withoutEnd = new Set(["follow"]);

const optionsOf = ({ options }: Command): [key: string, option: Option][] =>
  Object.entries({ ...options, json: globalOptions.json }).filter(([key]) => !withoutEnd.has(key));

const nameOf = (key: string): string => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function schemaOf(one: Command): Schema {
  const parameters = one.parameters.map(({ name, isRequired, isRepeated }): [string, Property] => {
    const description = name === "file" ? fileAsText : placeholders[name];
    if (!isRepeated) return [name, { description, type: "string" }];
    return [name, { description, type: "array", items: { type: "string" }, ...(isRequired && { minItems: 1 }) }];
  });
  const options = optionsOf(one).map(([key, option]): [string, Property] => [nameOf(key), propertyOf(option)]);
  return {
    type: "object",
    properties: Object.fromEntries([...parameters, ...options]),
    required: one.parameters.filter(({ isRequired }) => isRequired).map(({ name }) => name),
    additionalProperties: false,
  };
}

/** An assistant sends the text, because a tool reads no file of this machine. */
const fileAsText = "text of appliance.yaml, in which contents stand inline; what it omits stays as it is";

/** References to files and variables would let an assistant send away what only the user may see. */
const sentAsText = {
  read: (text: string) => readApplianceFile(text, { name: "file", read: () => undefined, env: {} }),
  nameOf: () => "FILE",
};

function propertyOf({ about: description, placeholder, isRepeated }: Option): Property {
  if (placeholder === undefined) return { description, type: "boolean" };
  return isRepeated ? { description, type: "array", items: { type: "string" } } : { description, type: "string" };
}

/** Runs a command, and returns what it would have written to a terminal. */
async function callOf(
  one: Command,
  given: Readonly<Record<string, unknown>>,
  url: string | undefined,
): Promise<Called> {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const kiln = new Kiln({
    isJson: given["json"] === true,
    url,
    applianceFiles: sentAsText,
    output: { print: write, note: write, paint: new Painter({ isTTY: false }) },
  });
  try {
    const exit = (await one.act(kiln, argumentsOf(one, given))) ?? "done";
    return { text: shortened(lines.join("\n")), isError: one.tool !== "reads" && !isDone(exit) };
  } catch (error) {
    if (!(error instanceof Complaint)) console.error(`kiln: ${shownParameters(one)}:`, error);
    const reason = error instanceof Complaint ? `${error.message}\n${error.next}` : `kiln failed: ${String(error)}`;
    return { text: shortened([...lines, reason].join("\n")), isError: true };
  }
}

/** A build that was started, or a change that was made: not one that is refused because nothing could be installed then. */
const isDone = (exit: Exit): boolean => exit === "done" || exit === "difference";

const shownParameters = ({ words, parameters }: Command): string =>
  [...words, ...parameters.map(shownParameter)].join(" ");

/** As a command gets them from the command line: every flag, every list. */
function argumentsOf(one: Command, given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const parameters = one.parameters.map(({ name, isRepeated }) => [name, given[name] ?? (isRepeated ? [] : undefined)]);
  const options = Object.entries(one.options).map(([key, { placeholder, isRepeated }]) => [
    key,
    given[nameOf(key)] ?? (placeholder === undefined ? false : isRepeated ? [] : undefined),
  ]);
  return Object.fromEntries([...parameters, ...options]);
}

const longest = 60_000;

/** The beginning and the end of a long text: a log would fill all that an assistant can remember. */
function shortened(text: string): string {
  if (text.length <= longest) return text;
  const half = longest / 2;
  return `${text.slice(0, half)}\n… ${text.length - longest} characters are left out …\n${text.slice(-half)}`;
}
