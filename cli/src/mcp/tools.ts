import { readApplianceFile } from "../appliance-file/read.ts";
import { type Command, globalOptions, type Option, optionValues, shownParameter } from "../command.ts";
import { Complaint, type Exit } from "../complaint.ts";
import { Kiln } from "../kiln.ts";
import { Painter } from "../output/painter.ts";
import { localPaths, placeholders } from "../placeholders.ts";

/** A command as a tool of the Model Context Protocol. */
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

/** The result for an assistant. */
interface Called {
  text: string;
  isError: boolean;
}

/** The commands that an assistant may use: those that read, and with `mayWrite` those that change something. */
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

/** Options that no tool has, each with the reason. */
const unoffered = new Map([
  ["follow", "An assistant would wait too long."],
  ["showSecrets", "An assistant must not learn secrets."],
  ["quorum", "It is only for the file of --witnesses."],
  ["bare", "It is only for a provenance file."],
]);

/** Whether an option is a path on this machine. Even an error message could reveal a line of the file. */
const isPath = ({ placeholder }: Option): boolean => placeholder !== undefined && localPaths.has(placeholder);

const optionsOf = ({ options }: Command): [key: string, option: Option][] =>
  Object.entries({ ...options, json: globalOptions.json }).filter(
    ([key, option]) => !unoffered.has(key) && !isPath(option),
  );

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

/** An assistant sends the file's text, because tools do not read files of this machine. */
const fileAsText = "text of appliance.yaml, in which contents are inline; what it omits stays as it is";

/** Does not resolve references to files and variables: an assistant could use them to send private data away. */
const sentAsText = {
  read: (text: string) => readApplianceFile(text, { name: "file", read: () => undefined, env: {} }),
  nameOf: () => "FILE",
};

function propertyOf({ about: description, placeholder, isRepeated }: Option): Property {
  if (placeholder === undefined) return { description, type: "boolean" };
  return isRepeated ? { description, type: "array", items: { type: "string" } } : { description, type: "string" };
}

/** Runs a command, and returns what it would write to a terminal. */
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
    hidesSecrets: true,
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

/** Whether a build was started or a change was made, and not refused because the software cannot be installed. */
const isDone = (exit: Exit): boolean => exit === "done" || exit === "difference";

const shownParameters = ({ words, parameters }: Command): string =>
  [...words, ...parameters.map(shownParameter)].join(" ");

/** The arguments in the form that a command gets from the command line. */
function argumentsOf(one: Command, given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const parameters = one.parameters.map(({ name, isRepeated }) => [name, given[name] ?? (isRepeated ? [] : undefined)]);
  return { ...Object.fromEntries(parameters), ...optionValues(one.options, (key) => given[nameOf(key)]) };
}

const longest = 60_000;

/** The beginning and the end of a long text: a whole log could fill an assistant's context. */
function shortened(text: string): string {
  if (text.length <= longest) return text;
  const half = longest / 2;
  return `${text.slice(0, half)}\n… ${text.length - longest} characters are omitted …\n${text.slice(-half)}`;
}
