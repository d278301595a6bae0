/** The real archive of Debian: import, resolution and search through the API, and the solver's answers beside apt's. */
import { restClient } from "../../test/acceptance/support/rest.ts";
import { type Figure, verdict } from "../figure.ts";
import type { Place } from "../place.ts";
import { ApplianceClient } from "../software/client.ts";
import { type InspectedService, measureCost, startInspected } from "../software/import-cost.ts";
import { median, percentile, spread } from "../statistics.ts";
import { waitUntil } from "../wait.ts";
import { catalogueOf, type DebianCatalogue } from "./mirror.ts";
import { measureParity } from "./parity.ts";
import { type Codename, releaseOfHost, useRelease } from "./release.ts";
import { seededSelections } from "./selections.ts";

/** From few hits to thousands, some of two letters. */
const texts = ["apache", "qt", "ssh", "openssh", "nginx", "libreoffice", "django", "xz"];
const searches = 25;
const changes = 40;

/** The release of this machine. */
export const measureDebian = (place: Place): Promise<Figure[]> => measureRelease(place, releaseOfHost());

/** A release whatever this machine's is. */
export async function measureDebian13(place: Place): Promise<Figure[]> {
  using _ = await useRelease("trixie", place.folder());
  return await measureRelease(place, "trixie");
}

async function measureRelease(place: Place, codename: Codename): Promise<Figure[]> {
  const catalogue = await catalogueOf(codename, AbortSignal.timeout(60_000));
  await using service = await startInspected(place.folder(), { host: catalogue.hosts, cidrs: ["0.0.0.0/0", "::/0"] });
  place.say(`importing ${catalogue.name}`);
  const costs = await measureCost(service, `import of ${catalogue.name} with updates and security`, () =>
    importCatalogue(service, catalogue),
  );
  const client = await newAppliance(service, catalogue);
  const figures = [...costs, await measureChanges(client), ...(await measureSearches(client))];
  const { bootstrap } = catalogue.content.baseSystem;
  return [...figures, ...(await measureParity({ say: place.say, folder: place.folder() }, bootstrap))];
}

const templatesOf = ({ content }: DebianCatalogue) => content.sets.flatMap(({ templates }) => templates);

/** Until a template resolves. */
async function importCatalogue(service: InspectedService, catalogue: DebianCatalogue): Promise<void> {
  await service.loadCatalogue(catalogue.name, catalogue.content);
  const [template] = templatesOf(catalogue);
  const rest = restClient(service.ready);
  await waitUntil(`${catalogue.name} is imported`, { seconds: 300, everyMs: 500 }, async () => {
    const { status } = await rest.call("GET", `/appliances/${template?.applianceId}/status`);
    return status.state === "ok";
  });
}

async function newAppliance({ ready }: InspectedService, catalogue: DebianCatalogue): Promise<ApplianceClient> {
  const server = templatesOf(catalogue).find(({ name }) => name.endsWith("Server"));
  const { appliance } = await restClient(ready).call("POST", "/appliances", {
    clone_from: String(server?.applianceId),
    arch: "x86_64",
  });
  return new ApplianceClient(ready, appliance.id);
}

async function measureChanges(client: ApplianceClient): Promise<Figure> {
  const times: number[] = [];
  for (const [name = ""] of seededSelections(2 * changes).slice(0, changes)) {
    times.push((await client.add("package", name)).ms);
    await client.remove("package", name);
  }
  return {
    what: `one package added to a server, ${changes} times, p50 and p99`,
    ours: `${median(times).toFixed(0)} ms, ${percentile(times, 0.99).toFixed(0)} ms`,
    against: "",
    ratio: `${median(times).toFixed(0)} ms`,
    bar: "≤ 100 ms",
    verdict: verdict(median(times) <= 100),
  };
}

async function measureSearches(client: ApplianceClient): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const text of texts) {
    const times: number[] = [];
    for (let n = 0; n < searches; n++) times.push((await client.search(text)).ms);
    figures.push({
      what: `search for ${text}`,
      ours: spread(times, 1, " ms"),
      against: "",
      ratio: `${median(times).toFixed(1)} ms`,
      bar: "≤ 8 ms",
      verdict: verdict(median(times) <= 8),
    });
  }
  return figures;
}
