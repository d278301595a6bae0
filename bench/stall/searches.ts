import { serveFiles } from "../software/file-server.ts";
import { importRepository } from "../software/client.ts";
import { openUniverse, type Universe } from "../software/universe.ts";
import { restClient } from "../../test/acceptance/support/rest.ts";
import type { FileServer } from "../software/file-server.ts";
import { cloneJeos, type Place } from "../place.ts";
import { authorizationOf, counted, type Scenario } from "./scenario.ts";

const atOnce = 8;
const seconds = 12;

let served: { universe: Universe; files: FileServer } | undefined;

/** Searches that no index in memory can answer, in the packages of a whole distribution. */
export const searches: Scenario = {
  name: "searches",
  what: `${atOnce} searches at the same time (all_fields, all_repos), for ${seconds} s`,
  options: async (place) => ["--allow-host", (await serve(place)).files.host],
  prepare: async ({ place, service, account }) => {
    const { universe, files } = await serve(place);
    for (const repository of universe.repositories) {
      await importRepository({ ready: service.ready() }, repository, `http://${files.host}/${repository.name}`);
      place.say(`imported ${repository.packageCount} packages`);
    }
    const id = await cloneJeos(restClient(account));
    const headers = { authorization: authorizationOf(account) };
    const search = async (text: string) => {
      const query = `q=${text}&all_fields=true&all_repos=true`;
      const answer = await fetch(`${account.url}/api/v2/user/appliances/${id}/software/search?${query}`, { headers });
      await answer.arrayBuffer();
      return answer;
    };
    return () => searchOn(search);
  },
};

const serve = async (place: Place) =>
  (served ??= await (async () => {
    const universe = await openUniverse(place.say);
    const files = await serveFiles(universe.folder);
    place.atEnd(async () => await files[Symbol.asyncDispose]());
    return { universe, files };
  })());

/** A refused client waits as long as the answer requires. */
async function searchOn(search: (text: string) => Promise<Response>): Promise<string> {
  const statuses: number[] = [];
  const endsAt = performance.now() + seconds * 1000;
  const keepSearching = async () => {
    while (performance.now() < endsAt) {
      const { status, headers } = await search(`zq${statuses.length % 97}`);
      statuses.push(status);
      const waitMs = Number(headers.get("retry-after") ?? 0) * 1000;
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, Math.min(waitMs, endsAt - performance.now())));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, keepSearching));
  return counted(statuses);
}
