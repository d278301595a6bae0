/** The mirror of Debian that this machine's apt uses, and a catalogue that names it. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const catalogues = { bookworm: "debian-12", trixie: "debian-13" } as const;
type Codename = keyof typeof catalogues;

export interface DebianCatalogue {
  name: string;
  codename: string;
  /** As a file of `templates/`. */
  content: { sets: { templates: { applianceId: number; name: string }[] }[]; baseSystem: { bootstrap: string[] } };
  /** Its mirror. */
  host: string;
}

/** Throws if this machine is none of a Debian that has a catalogue. */
export function hostsCatalogue(): DebianCatalogue {
  const listed = execFileSync(
    "apt-get",
    ["indextargets", "--format", "$(REPO_URI) $(CODENAME)", "Created-By: Packages", "Origin: Debian"],
    { encoding: "utf8" },
  );
  const mirrors = listed
    .trim()
    .split("\n")
    .map((line) => line.split(" "));
  const isKnown = (codename: string | undefined): codename is Codename => Object.hasOwn(catalogues, codename ?? "");
  const codename = mirrors.map(([, name]) => name).find(isKnown);
  const uri = mirrors.find(([, name]) => name === codename)?.[0];
  if (codename === undefined || uri === undefined)
    throw new Error("this machine's apt has no lists of Debian 12 or 13");
  const name = catalogues[codename];
  const { origin, host } = new URL(uri);
  const text = readFileSync(new URL(`../../templates/${name}.json`, import.meta.url), "utf8");
  return { name, codename, content: JSON.parse(text.replaceAll("http://deb.debian.org", origin)), host };
}
