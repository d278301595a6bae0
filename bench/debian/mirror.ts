/** A catalogue of Debian, from the mirrors that this machine's apt uses. */
import { readFileSync } from "node:fs";
import { withMirrors } from "../../scripts/launch/debian.ts";
import { debianMirrors } from "../../scripts/launch/debian-mirrors.ts";
import { catalogues, type Codename } from "./release.ts";

export interface DebianCatalogue {
  name: string;
  /** The content in the form of a file in `templates/`. */
  content: { sets: { templates: { applianceId: number; name: string }[] }[]; baseSystem: { bootstrap: string[] } };
  /** The catalogue's mirrors, comma-separated. */
  hosts: string;
}

export async function catalogueOf(codename: Codename, signal: AbortSignal): Promise<DebianCatalogue> {
  const name = catalogues[codename];
  const mirrors = await debianMirrors(signal);
  const text = readFileSync(new URL(`../../templates/${name}.json`, import.meta.url), "utf8");
  const hosts = Object.values(mirrors).map((mirror) => new URL(mirror).host);
  return { name, content: withMirrors(JSON.parse(text), mirrors), hosts: [...new Set(hosts)].join(",") };
}
