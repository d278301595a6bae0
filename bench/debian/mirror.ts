/** A catalogue of Debian, from the mirrors that this machine's apt uses. */
import { join } from "node:path";
import { z } from "zod";
import { readCatalogue } from "../../scripts/launch/catalogue-file.ts";
import { withMirrors } from "../../scripts/launch/debian.ts";
import { debianMirrors } from "../../scripts/launch/debian-mirrors.ts";
import { catalogues, type Codename } from "./release.ts";

const Content = z.looseObject({
  sets: z.array(z.looseObject({ templates: z.array(z.looseObject({ applianceId: z.number(), name: z.string() })) })),
  baseSystem: z.looseObject({ bootstrap: z.array(z.string()) }),
});

export interface DebianCatalogue {
  name: string;
  /** The content in the form of a file in `templates/`. */
  content: z.infer<typeof Content>;
  /** The catalogue's mirrors, comma-separated. */
  hosts: string;
}

export async function catalogueOf(codename: Codename, signal: AbortSignal): Promise<DebianCatalogue> {
  const name = catalogues[codename];
  const mirrors = await debianMirrors(signal);
  const content = Content.parse(readCatalogue(join(import.meta.dirname, `../../templates/${name}.json`)));
  const hosts = Object.values(mirrors).map((mirror) => new URL(mirror).host);
  return { name, content: withMirrors(content, mirrors), hosts: [...new Set(hosts)].join(",") };
}
