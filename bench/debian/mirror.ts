/** A catalogue of Debian, from the mirrors that this machine's apt uses. */
import { join } from "node:path";
import { z } from "zod";
import { readCatalogue } from "../../scripts/launch/catalogue-file.ts";
import { type Debian, debianFor, withMirrors } from "../../scripts/launch/debian.ts";
import { catalogues, type Codename } from "./release.ts";

const Content = z.looseObject({
  sets: z.array(z.looseObject({ templates: z.array(z.looseObject({ applianceId: z.number(), name: z.string() })) })),
  baseSystem: z.looseObject({ bootstrap: z.array(z.string()) }),
});

export interface DebianCatalogue extends Pick<Debian, "hosts" | "proxy"> {
  name: string;
  /** The content in the form of a file in `templates/`. */
  content: z.infer<typeof Content>;
}

export async function catalogueOf(codename: Codename, signal: AbortSignal): Promise<DebianCatalogue> {
  const name = catalogues[codename];
  const debian = await debianFor({ withDebian: true, debianMirror: undefined }, () => false, signal);
  if (!debian) throw new Error("there is no mirror of Debian");
  const { mirrors, hosts, proxy } = debian;
  const content = Content.parse(readCatalogue(join(import.meta.dirname, `../../templates/${name}.json`)));
  return { name, content: withMirrors(content, mirrors), hosts, proxy };
}
