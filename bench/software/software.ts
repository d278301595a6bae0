/** Resolution and search at the size of a distribution, compared with zypper on the same repositories. */
import type { Figure } from "../figure.ts";
import type { Place } from "../place.ts";
import { type ApplianceClient, importRepository } from "./client.ts";
import { type FileServer, serveFiles } from "./file-server.ts";
import { fillAppliance, measureCold, measureWarm, selections } from "./resolve.ts";
import { measureSearch } from "./search.ts";
import { type BareService, startBareService } from "./service.ts";
import { measureImportCost } from "./import-cost.ts";
import { openUniverse } from "./universe.ts";
import { type Bench, reported, seconds } from "./bench.ts";
import { ZypperRoot } from "./zypper.ts";

export async function measureSoftware(place: Place): Promise<Figure[]> {
  const universe = await openUniverse(place.say);
  await using server = await serveFiles(universe.folder);
  place.say("importing the largest repository on its own");
  const importCost = await measureImportCost(universe, { stateDir: place.folder(), host: server.host });
  const stateDir = place.folder();
  const zypper = new ZypperRoot(place.folder());
  const bench: Bench = { say: place.say, universe, zypper, start: () => startBareService(stateDir, server.host) };
  place.say("filling zypper's cache");
  await zypper.addRepositories(universe.repositories.map(({ name }) => ({ name, url: urlOf(server, name) })));
  const { applianceIds, figures } = await inOneIsolate(bench, server);
  return [...importCost, ...figures, ...(await measureCold(bench, applianceIds))];
}

async function inOneIsolate(bench: Bench, server: FileServer) {
  await using service = await bench.start();
  const { repositoryIds, figures } = await importUniverse(bench, service, server);
  const applianceIds: string[] = [];
  let last: ApplianceClient | undefined;
  for (const selection of selections) {
    const client = await fillAppliance(bench, { service, repositoryIds, selection });
    applianceIds.push(client.id);
    figures.push(await measureWarm(bench, client, selection));
    last = client;
  }
  if (last) figures.push(await measureSearch(bench, last));
  figures.push(reported("memory of workerd after all of that", memoryOf(service)));
  return { applianceIds, figures };
}

async function importUniverse({ say, universe }: Bench, service: BareService, server: FileServer) {
  const before = memoryOf(service);
  const repositoryIds: string[] = [];
  const imports: string[] = [];
  for (const repository of universe.repositories) {
    const { ms, value } = await importRepository(service, repository, urlOf(server, repository.name));
    repositoryIds.push(value);
    imports.push(`${repository.packageCount} packages in ${seconds(ms)}`);
    say(`${repository.name}: ${imports.at(-1)} imported`);
  }
  const figures = [
    reported("import of repositories, until they can be searched", imports.join(", ")),
    reported("memory of workerd before the imports, and after", `${before}, ${memoryOf(service)}`),
  ];
  return { repositoryIds, figures };
}

function memoryOf(service: BareService): string {
  const { now, most } = service.memoryMib();
  return `${now.toFixed(0)} MiB (at most ${most.toFixed(0)})`;
}

const urlOf = ({ host }: FileServer, name: string) => `http://${host}/${name}`;
