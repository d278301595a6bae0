/** Fetches source packages with the machine's own apt, without changing its configuration. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { command } from "../launch/command.ts";
import type { SourcePackage } from "./pins.ts";

/**
 * Downloads the packages' files into `folder`. `privateFolder` is for apt's lists and sources, separate from the
 * machine's.
 */
export async function downloadWithApt(wanted: readonly SourcePackage[], folder: string, privateFolder: string) {
  const options = aptOptions(privateFolder);
  await command("apt-get", [...options, "--quiet", "update"]);
  const versions = wanted.map(({ name, version }) => `${name}=${version}`);
  await command("apt-get", [...options, "--quiet", "source", "--download-only", ...versions], { cwd: folder });
}

function aptOptions(folder: string): string[] {
  const places = { "Dir::Etc::sourceparts": "sources", "Dir::State::lists": "lists", "Dir::Cache": "cache" };
  for (const place of ["sources", "lists/partial", "cache/archives/partial"]) {
    mkdirSync(join(folder, place), { recursive: true });
  }
  writeSources(join(folder, "sources"));
  return Object.entries({
    ...Object.fromEntries(Object.entries(places).map(([option, place]) => [option, join(folder, place)])),
    "Dir::Etc::sourcelist": "/dev/null",
    // Only this user may write to the temporary folder, so apt must not switch to its own user.
    "APT::Sandbox::User": "root",
  }).flatMap(([option, value]) => ["-o", `${option}=${value}`]);
}

/** The machine's Debian sources, with `deb` turned into `deb-src`: same mirrors, same keys. */
function writeSources(folder: string): void {
  const parts = "/etc/apt/sources.list.d";
  const files = existsSync(parts) ? readdirSync(parts).map((name) => join(parts, name)) : [];
  for (const file of ["/etc/apt/sources.list", ...files].filter((name) => existsSync(name))) {
    const text = readFileSync(file, "utf8");
    if (file.endsWith(".list")) writeFileSync(join(folder, basename(file)), sourceLines(text));
    if (file.endsWith(".sources")) writeFileSync(join(folder, basename(file)), sourceStanzas(text));
  }
}

// Other publishers' repositories may have no sources, so only URLs that end like those of Debian's archives are used.
const debianArchive = /[/]debian(-security)?(\.list)?[/]?(\s|$)/m;

/** The one-line form: `deb [options] http://deb.debian.org/debian bookworm main`. */
export function sourceLines(text: string): string {
  const lines = text.split("\n").filter((line) => /^deb\s/.test(line) && debianArchive.test(line));
  return lines.map((line) => `${line.replace(/^deb\s/, "deb-src ")}\n`).join("");
}

/** The deb822 form: stanzas of fields, `Types: deb`. */
export function sourceStanzas(text: string): string {
  const stanzas = text
    .split(/\n\s*\n/)
    .filter((stanza) => /^Types:.*\bdeb\b/m.test(stanza) && debianArchive.test(stanza));
  return stanzas.map((stanza) => `${stanza.replace(/^Types:.*$/m, "Types: deb-src").trim()}\n\n`).join("");
}
