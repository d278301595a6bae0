/** A catalogue of this machine's Debian, from the mirrors that its apt uses. */
import { readFileSync } from "node:fs";
import { withMirrors } from "../../scripts/launch/debian.ts";
import { debianMirrors } from "../../scripts/launch/debian-mirrors.ts";

const catalogues = { bookworm: "debian-12", trixie: "debian-13" } as const;
type Codename = keyof typeof catalogues;

export interface DebianCatalogue {
  name: string;
  /** As a file of `templates/`. */
  content: { sets: { templates: { applianceId: number; name: string }[] }[]; baseSystem: { bootstrap: string[] } };
  /** Its mirrors, by commas. */
  hosts: string;
}

const isKnown = (codename: string): codename is Codename => Object.hasOwn(catalogues, codename);

/** Throws if this machine is none of a Debian that has a catalogue. */
export async function hostsCatalogue(signal: AbortSignal): Promise<DebianCatalogue> {
  const [, codename = ""] = /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync("/etc/os-release", "utf8")) ?? [];
  if (!isKnown(codename)) throw new Error("this machine runs neither Debian 12 nor 13");
  const name = catalogues[codename];
  const mirrors = await debianMirrors(signal);
  const text = readFileSync(new URL(`../../templates/${name}.json`, import.meta.url), "utf8");
  const hosts = Object.values(mirrors).map((mirror) => new URL(mirror).host);
  return { name, content: withMirrors(JSON.parse(text), mirrors), hosts: [...new Set(hosts)].join(",") };
}
