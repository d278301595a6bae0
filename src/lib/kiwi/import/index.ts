import { chosenFrom, type Choice } from "#lib/kiwi/import/chosen";
import { importDescription } from "#lib/kiwi/import/description";
import type { Imported, NextTo } from "#lib/kiwi/import/imported";
import { withIncludes, type ReadIncluded } from "#lib/kiwi/import/included";
import { importManifest } from "#lib/kiwi/import/manifest";
import { WireFault } from "#lib/wire/fault";
import { readXml } from "#lib/wire/read-xml";

export type { Imported, ImportedFile, NextTo } from "#lib/kiwi/import/imported";

/** The files next to a document, and the service that may have written it. */
interface Surroundings {
  nextTo: NextTo;
  /** Default: there are no files to include. */
  readIncluded?: ReadIncluded;
  /** Default: no profile, and no architecture. */
  choice?: Choice;
  /** The start of all URLs of the service. */
  serviceUrl: string;
}

/** Reads a KIWI description or the manifest of a build. Refuses anything else with a `WireFault`. */
export function importXml(
  document: string,
  { nextTo, serviceUrl, readIncluded = () => undefined, choice = { profiles: [], arch: undefined } }: Surroundings,
): Imported {
  const root = readXml(document);
  if (root.name === "image") {
    const { image, omitted } = withIncludes(root, readIncluded);
    const imported = importDescription(chosenFrom(image, choice), nextTo);
    return { ...imported, omitted: [...omitted, ...imported.omitted] };
  }
  if (root.name === "manifest") return importManifest(root, serviceUrl);
  throw new WireFault(
    "invalid_xml",
    `The root element is ${root.name}. It must be image (of KIWI) or manifest (of a build).`,
  );
}
