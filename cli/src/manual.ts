import manifest from "../package.json" with { type: "json" };
import { globalOptions, shownOption, shownParameter, type Command, type Option } from "./command.ts";
import { commands } from "./commands.ts";
import { exitCodes } from "./complaint.ts";
import { placeholders, type Placeholder } from "./placeholders.ts";

/** The manual as a man(7) page, with the texts of the help. */
export const manual = (): string =>
  [
    `.TH KILN 1 "" "kiln ${manifest.version}"`,
    section("NAME"),
    String.raw`kiln \- make, build and download appliances`,
    section("SYNOPSIS"),
    bold("kiln", String.raw`\fIcommand\fR [\fIargument\fR ...] [\fB\-\-json\fR] [\fB\-\-url\fR \fIaddress\fR]`),
    section("DESCRIPTION"),
    roff(about),
    section("COMMANDS"),
    ...commands.map(entry),
    section("OPTIONS OF EVERY COMMAND"),
    ...options(globalOptions),
    section("ARGUMENTS"),
    ...usedPlaceholders().map((name) => term(italic(name), placeholders[name])),
    section("EXIT STATUS"),
    ...Object.values(exitCodes).map(({ code, about: meaning }) => term(bold(String(code)), meaning)),
    section("ENVIRONMENT"),
    ...Object.entries(environment).map(([name, meaning]) => term(bold(name), meaning)),
    section("FILES"),
    term(italic("~/.config/kiln"), "What `kiln login` stores: one file for each address, which only you can read."),
    "",
  ].join("\n");

const about =
  "Works with a Kiln service, which builds bootable images from packages. `kiln login` signs in; then `kiln clone`, " +
  "`kiln add`, `kiln build` and `kiln download` make an image of a template. Results go to the standard output, as " +
  "tables or, with --json, as the service's own answer. Everything else goes to the standard error.";

export const environment: Readonly<Record<string, string>> = {
  KILN_URL: "Address of the service.",
  KILN_TOKEN: "API key or token, in place of a stored one: for CI.",
  KILN_ACCOUNT: "The account that KILN_TOKEN belongs to.",
  KILN_INSECURE: "If it is set, KILN_TOKEN is also sent over http to another machine.",
  KILN_KEY: "File with the public key of the service, in PEM, in place of pinned ones.",
  XDG_CONFIG_HOME: "Folder in which `kiln login` stores, in place of ~/.config.",
  NO_COLOR: "If it is set, there are no colours.",
};

function entry({ words, parameters, options: own, summary, details, examples }: Command): string {
  const usage = [...parameters.map(shownParameter), ...(Object.keys(own).length > 0 ? ["[options]"] : [])];
  return [
    term(bold(words.join(" "), roff(usage.join(" "))), [`${summary}.`, details].filter(Boolean).join(" ")),
    ...(Object.keys(own).length > 0 ? [".RS", ...options(own), ".RE"] : []),
    ...examples.flatMap((line) => [".RS", ".nf", `$ ${roff(line)}`, ".fi", ".RE"]),
  ].join("\n");
}

const options = (all: Readonly<Record<string, Option>>): string[] =>
  Object.entries(all).map(([key, option]) => term(bold(roff(shownOption(key, option))), option.about));

function usedPlaceholders(): Placeholder[] {
  const used = commands.flatMap(({ parameters, options: own }) => [
    ...parameters.map(({ name }) => name),
    ...Object.values(own).flatMap(({ placeholder }) => placeholder ?? []),
  ]);
  return [...new Set(used)].toSorted();
}

const section = (title: string): string => `.SH ${title}`;
const term = (name: string, meaning: string): string => `.TP\n${name}\n${roff(meaning)}`;
const bold = (text: string, rest = ""): string => String.raw`\fB${text}\fR ${rest}`.trimEnd();
const italic = (text: string): string => String.raw`\fI${text}\fR`;

/** Escapes text for roff. The dashes of options can still be copied. */
function roff(text: string): string {
  const escaped = text.replaceAll("\\", String.raw`\e`).replaceAll("-", String.raw`\-`);
  return escaped.replaceAll(/^([.'])/gm, String.raw`\&$1`);
}
