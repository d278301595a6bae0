import { openClient, type Client } from "../client/client.ts";
import { flagOf, globalOptions, type Command, type Option } from "../command.ts";
import { commands, groups } from "../commands.ts";
import { readLogin } from "../login/login.ts";
import { visible } from "../output/table.ts";
import type { Placeholder } from "../placeholders.ts";
import { sources, type Candidate, type Candidates } from "./candidates.ts";

/** A short limit, because the shell waits for the completion. */
const maxMs = 3_000;

/** The candidates for the last word. */
export async function complete(words: readonly string[]): Promise<Candidates> {
  const typed = words.at(-1) ?? "";
  const before = withoutGlobal(words.slice(0, -1));
  const command = commands.find(({ words: name }) => name.every((word, index) => before[index] === word));
  const url = words[words.indexOf(flagOf("url")) + 1];
  const context = { typed, url: words.includes(flagOf("url")) ? url : undefined };
  const found = command ? await inCommand(command, before.slice(command.words.length), context) : firstWords(before);
  // A word with characters that must not reach a terminal cannot be completed.
  return found === "files" ? found : found.filter(({ text }) => text.startsWith(typed) && visible(text) === text);
}

/** The words from the command on: `kiln --url ADDRESS show`. */
function withoutGlobal(words: readonly string[]): readonly string[] {
  const option = Object.entries(globalOptions).find(([key]) => flagOf(key) === words[0])?.[1];
  return option ? withoutGlobal(words.slice(option.placeholder === undefined ? 1 : 2)) : words;
}

/** Names of commands, or the second words of a group. */
function firstWords(before: readonly string[]): Candidate[] {
  const inGroup = commands.filter(
    ({ words }) => words.length > before.length && before.every((word, i) => word === words[i]),
  );
  const named = inGroup.map(({ words, summary }) => {
    const text = words[before.length] ?? "";
    return { text, about: words.length > before.length + 1 ? (groups[text] ?? "") : summary };
  });
  return [...new Map(named.map((one) => [one.text, one])).values()];
}

/** The word that is typed, and the value of --url. */
interface Typed {
  typed: string;
  url: string | undefined;
}

async function inCommand(command: Command, before: readonly string[], { typed, url }: Typed): Promise<Candidates> {
  const options: Record<string, Option> = { ...command.options, ...globalOptions };
  const { open, values } = readBefore(before, options);
  const [, flag, value] = /^(--[\w-]+)=(.*)$/.exec(typed) ?? [];
  const option = open ? undefined : optionOf(flag, options);
  if (option?.placeholder !== undefined) {
    const found = await fromService(option.placeholder, { typed: value ?? "", url, given: {} });
    return found === "files" ? [] : found.map(({ text, ...rest }) => ({ ...rest, text: `${flag}=${text}` }));
  }
  if (!open && typed.startsWith("-"))
    return Object.entries(options).map(([key, { about }]) => ({ text: flagOf(key), about }));
  const parameter = command.parameters[values.length] ?? command.parameters.findLast(({ isRepeated }) => isRepeated);
  const placeholder = open ?? parameter?.name;
  const given = Object.fromEntries(command.parameters.map(({ name }, index) => [name, values[index]]));
  return placeholder === undefined ? [] : await fromService(placeholder, { typed, url, given });
}

/** The arguments among words, and the placeholder of an option whose value comes next. */
function readBefore(words: readonly string[], options: Readonly<Record<string, Option>>) {
  const values: string[] = [];
  let open: Placeholder | undefined;
  for (const word of words) {
    const option = optionOf(word, options);
    if (open === undefined && option === undefined && !word.startsWith("-")) values.push(word);
    open = open === undefined ? option?.placeholder : undefined;
  }
  return { open, values };
}

const optionOf = (flag: string | undefined, options: Readonly<Record<string, Option>>): Option | undefined =>
  Object.entries(options).find(([key]) => flagOf(key) === flag)?.[1];

/**
 * Candidates from the service. Empty if it does not answer or the user is not signed in, because an error would disturb
 * the prompt.
 */
async function fromService(
  placeholder: Placeholder,
  { url, ...context }: Typed & { given: Readonly<Record<string, string | undefined>> },
): Promise<Candidates> {
  const source = sources[placeholder];
  if (!source) return [];
  const late = new Promise<Candidates>((resolve) => setTimeout(resolve, maxMs, []).unref());
  try {
    const given = Object.fromEntries(Object.entries(context.given).filter(([, value]) => value !== undefined));
    return await Promise.race([source({ ...context, given, client: lazyClient(url) }), late]);
  } catch {
    return [];
  }
}

/** Signs in only if a call is made, because some words need no service. */
const lazyClient = (url: string | undefined): Client => ({
  url: "",
  call: async (name, request, extra) =>
    // Ends repeats, too: a shell waits for the end of the program.
    await openClient(readLogin(url)).call(name, request, { ...extra, signal: AbortSignal.timeout(maxMs) }),
});
