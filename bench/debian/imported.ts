/** A service that has imported a release of Debian. */
import { restClient } from "../../test/acceptance/support/rest.ts";
import type { Place } from "../place.ts";
import { type InspectedService, startInspected } from "../software/import-cost.ts";
import { waitUntil } from "../wait.ts";
import type { DebianCatalogue } from "./mirror.ts";

/** Starts a service that may import from the mirrors of the catalogue. */
export const startWithMirrors = (place: Place, { hosts, proxy }: DebianCatalogue): Promise<InspectedService> =>
  startInspected(place.folder(), { host: hosts.names.join(","), cidrs: hosts.cidrs, proxy });

/** Waits until a template resolves. */
export async function importCatalogue(service: InspectedService, catalogue: DebianCatalogue): Promise<void> {
  await service.loadCatalogue(catalogue.name, catalogue.content);
  const template = templateOf(catalogue, "");
  const rest = restClient(service.ready);
  await waitUntil(`${catalogue.name} is imported`, { seconds: 300, everyMs: 500 }, async () => {
    const { status } = await rest.call("GET", `/appliances/${template}/status`);
    return status.state === "ok";
  });
}

/** The id of the first template whose name contains a word. */
export function templateOf({ content, name: catalogue }: DebianCatalogue, word: string): string {
  const found = content.sets.flatMap(({ templates }) => templates).find(({ name }) => name.includes(word));
  if (!found) throw new Error(`${catalogue} has no template ${word}`);
  return String(found.applianceId);
}
