import { type Argument, Command as Program, CommanderError, Option as ProgramOption } from "commander";
import manifest from "../package.json" with { type: "json" };
import {
  flagOf,
  globalOptions,
  optionValues,
  shownOption,
  shownParameter,
  type Command,
  type Option,
  type Parameter,
} from "./command.ts";
import { commands, groups } from "./commands.ts";
import { codeOf, Complaint, exitCodes, type Exit } from "./complaint.ts";
import { complete } from "./completion/complete.ts";
import { Kiln } from "./kiln.ts";
import { visible } from "./output/table.ts";
import { placeholders } from "./placeholders.ts";
import { complaintOf } from "./system-error.ts";

/** The completion scripts call `kiln __complete -- WORD…`. The last word is being typed. */
const completing = "__complete";

/** Runs a command line, and returns its exit code. */
export async function run(args: readonly string[]): Promise<number> {
  let exit: Exit = "done";
  const isJson = args.includes(flagOf("json"));
  const misuse: string[] = [];
  try {
    if (args[0] === completing) return await printCandidates(args.slice(2));
    const all = program(
      (ended) => (exit = ended),
      (text) => void (isJson ? misuse.push(text) : process.stderr.write(text)),
    );
    await all.parseAsync([...args], { from: "user" });
    return exitCodes[exit].code;
  } catch (error) {
    const isMisuse = error instanceof CommanderError;
    if (isMisuse && error.exitCode === 0) return exitCodes.done.code;
    const complaint = isMisuse ? misused(misuse.join("")) : error instanceof Complaint ? error : complaintOf(error);
    if (!complaint) throw error;
    if (isJson) process.stderr.write(asJson(complaint));
    else if (!isMisuse) process.stderr.write(`kiln: ${visible(complaint.message)}\n${visible(complaint.next)}\n`);
    return exitCodes[complaint.exit].code;
  }
}

/** Turns commander's message about a wrong command line into a Complaint. The message's last line is the advice. */
function misused(text: string): Complaint {
  const lines = text
    .trim()
    .replace(/^kiln: /, "")
    .split("\n")
    .filter((line) => line !== "");
  const next = lines.length > 1 ? lines.pop() : undefined;
  // Without one of its commands, commander prints the whole help of a group.
  const group = /^Usage: (kiln(?: [a-z]+)*) /.exec(text)?.[1];
  if (group) return new Complaint("misused", "The command is missing.", `\`${group} --help\` lists the commands.`);
  return new Complaint("misused", lines.join(" "), next ?? "`kiln --help` lists the commands.");
}

/** An error in the form of the service's own errors. */
function asJson({ message, next, exit, ...more }: Complaint): string {
  const code = "code" in more ? more.code : codeOf(exit);
  return `${JSON.stringify({ error: { code, message, next } }, null, 2)}\n`;
}

function program(onEnd: OnEnd, writeErr: (text: string) => void): Program {
  const all = new Program("kiln")
    .description("Make, build and download appliances.")
    .version(manifest.version)
    .showHelpAfterError("`kiln --help` lists the commands.")
    .configureOutput({ writeErr, outputError: (text, write) => write(text.replace(/^error:/, "kiln:")) })
    .configureHelp({ subcommandTerm: (one) => [one.name(), ...one.registeredArguments.map(termOf)].join(" ") })
    .addHelpText(
      "after",
      "\nBegin with `kiln login ADDRESS`. The manual has exit codes, variables and files: `man kiln`.",
    )
    // Otherwise, a command's --version would be that of the program.
    .enablePositionalOptions()
    .exitOverride();
  addOptions(all, globalOptions);
  const parents = new Map<string, Program>();
  for (const one of commands) {
    const [first = "", second] = one.words;
    const [parent, name] = second === undefined ? [all, first] : [parentOf(all, parents, first), second];
    add(parent.command(name), one, onEnd);
  }
  return all;
}

const termOf = (one: Argument): string => {
  const name = `${one.name()}${one.variadic ? "..." : ""}`;
  return one.required ? `<${name}>` : `[${name}]`;
};

function parentOf(all: Program, parents: Map<string, Program>, name: string): Program {
  const known = parents.get(name);
  if (known) return known;
  const made = all.command(name).description(groups[name] ?? "");
  addOptions(made, globalOptions);
  parents.set(name, made);
  return made;
}

async function printCandidates(words: readonly string[]): Promise<number> {
  const found = await complete(words);
  const lines =
    found === "files" ? [":files"] : found.map(({ text, about }) => `${text}${about ? `\t${visible(about)}` : ""}`);
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
  return exitCodes.done.code;
}

type OnEnd = (exit: Exit) => void;

function add(
  made: Program,
  { words, parameters, options, summary, details, examples, act }: Command,
  onEnd: OnEnd,
): void {
  made.showHelpAfterError(`\`kiln ${words.join(" ")} --help\` shows its arguments.`);
  made.summary(summary).description([`${summary}.`, details].filter(Boolean).join("\n\n"));
  for (const one of parameters) made.argument(shownParameter(one), placeholders[one.name]);
  addOptions(made, { ...options, ...globalOptions });
  if (examples.length > 0) made.addHelpText("after", `\nExamples:\n${examples.map((line) => `  ${line}`).join("\n")}`);
  made.action(async (...all: unknown[]) => {
    const given = made.optsWithGlobals<Record<string, unknown>>();
    const kiln = new Kiln({ isJson: given["json"] === true, url: textOf(given["url"]) });
    const ended = await act(kiln, {
      ...given,
      ...valuesOf(parameters, all),
      ...optionValues(options, (key) => given[key]),
    });
    if (ended) onEnd(ended);
  });
}

function addOptions(to: Program, options: Command["options"]): void {
  for (const [key, option] of Object.entries(options)) to.addOption(programOption(key, option));
}

function programOption(key: string, option: Option): ProgramOption {
  const made = new ProgramOption(shownOption(key, option), option.about);
  if (option.isRepeated) made.argParser((one: string, before: string[] = []) => [...before, one]);
  return made;
}

const valuesOf = (parameters: readonly Parameter[], all: readonly unknown[]): Record<string, unknown> =>
  Object.fromEntries(parameters.map(({ name }, index) => [name, all[index]]));

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
