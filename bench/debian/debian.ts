/** The real archive of Debian: import, resolution and search through the API, and the solver's answers compared with apt's. */
import { restClient } from "../../test/acceptance/support/rest.ts";
import { type Figure, verdict } from "../figure.ts";
import type { Place } from "../place.ts";
import { ApplianceClient } from "../software/client.ts";
import { type InspectedService, measureCost } from "../software/import-cost.ts";
import { median, percentile, spread } from "../statistics.ts";
import { importCatalogue, startWithMirrors, templateOf } from "./imported.ts";
import { catalogueOf, type DebianCatalogue } from "./mirror.ts";
import { measureParity } from "./parity.ts";
import { type Codename, releaseOfHost, useRelease } from "./release.ts";
import { seededSelections } from "./selections.ts";

/** Searches with few to thousands of hits. Some texts have two letters. */
const texts = ["apache", "qt", "ssh", "openssh", "nginx", "libreoffice", "django", "xz"];
const searches = 25;
const warmUps = 5;
const changes = 40;

/** Measures this machine's release. */
export const measureDebian = (place: Place): Promise<Figure[]> => measureRelease(place, releaseOfHost());

/** Measures a fixed release, independent of this machine's. */
export async function measureDebian13(place: Place): Promise<Figure[]> {
  using _ = await useRelease("trixie", place.folder());
  return await measureRelease(place, "trixie");
}

async function measureRelease(place: Place, codename: Codename): Promise<Figure[]> {
  const catalogue = await catalogueOf(codename, AbortSignal.timeout(60_000));
  await using service = await startWithMirrors(place, catalogue);
  place.say(`importing ${catalogue.name}`);
  const costs = await measureCost(service, `import of ${catalogue.name} with updates and security`, () =>
    importCatalogue(service, catalogue),
  );
  const client = await newAppliance(service, catalogue);
  const figures = [...costs, await measureChanges(client), ...(await measureSearches(client))];
  const { bootstrap } = catalogue.content.baseSystem;
  return [...figures, ...(await measureParity({ say: place.say, folder: place.folder() }, bootstrap))];
}

async function newAppliance({ ready }: InspectedService, catalogue: DebianCatalogue): Promise<ApplianceClient> {
  const server = templateOf(catalogue, "Server");
  const { appliance } = await restClient(ready).call("POST", "/appliances", { clone_from: server, arch: "x86_64" });
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
    for (let n = -warmUps; n < searches; n++) {
      const { ms } = await client.search(text);
      if (n >= 0) times.push(ms);
    }
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
