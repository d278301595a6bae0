import { restClient, type RestClient } from "../../test/acceptance/support/rest.ts";
import type { BareService } from "./service.ts";
import type { Universe } from "./universe.ts";
import type { Timed } from "./zypper.ts";
import { jeosTemplate } from "../place.ts";
import { waitUntil } from "../wait.ts";

/** The result of a change to the selection, which is `broken` if it does not resolve. */
export type ChangeState = "changed" | "equal" | "broken";

/** Calls the service's API for one appliance, like any other client. */
export class ApplianceClient {
  readonly rest: RestClient;
  readonly id: string;
  readonly #ready: BareService["ready"];

  constructor(ready: BareService["ready"], id: string) {
    this.rest = restClient(ready);
    this.id = id;
    this.#ready = ready;
  }

  add(kind: "package" | "pattern", name: string): Promise<Timed<ChangeState>> {
    return this.#change(`add_${kind}`, name);
  }

  remove(kind: "package" | "pattern", name: string): Promise<Timed<ChangeState>> {
    return this.#change(`remove_${kind}`, name);
  }

  /** name-version-release.arch of all packages of the next image. */
  async installed(): Promise<Set<string>> {
    return packagesIn((await this.#get("software/installed")).value);
  }

  /** The answer of a search in all repositories, as text. */
  search(text: string): Promise<Timed<string>> {
    return this.#get(`software/search?all_repos=true&q=${encodeURIComponent(text)}`);
  }

  /** Replaces the template's software and repositories by these repositories. */
  async useOnly(repositoryIds: readonly string[]): Promise<void> {
    const { software } = await this.rest.call("GET", `/appliances/${this.id}/software`);
    for (const kind of ["package", "pattern"] as const) {
      for (const entry of list(software[kind])) await this.remove(kind, entry["#text"] ?? entry);
    }
    const { repositories } = await this.rest.call("GET", `/appliances/${this.id}/repositories`);
    const path = `/appliances/${this.id}/cmd`;
    for (const { id } of list(repositories.repository)) {
      await this.rest.call("POST", `${path}/remove_repository`, { repo_id: id });
    }
    for (const id of repositoryIds) await this.rest.call("POST", `${path}/add_repository`, { repo_id: id });
  }

  async #change(command: string, name: string): Promise<Timed<ChangeState>> {
    const startedAt = performance.now();
    const { success } = await this.rest.call("POST", `/appliances/${this.id}/cmd/${command}`, { name });
    return { ms: performance.now() - startedAt, value: success.details.status.state };
  }

  async #get(path: string): Promise<Timed<string>> {
    const { url, username, api_key: apiKey } = this.#ready;
    const headers = { authorization: `Basic ${Buffer.from(`${username}:${apiKey}`).toString("base64")}` };
    const startedAt = performance.now();
    const answer = await fetch(`${url}/api/v2/user/appliances/${this.id}/${path}`, { headers });
    const value = await answer.text();
    if (!answer.ok) throw new Error(`GET ${path}: ${answer.status} ${value}`);
    return { ms: performance.now() - startedAt, value };
  }
}

/** A new appliance with only the given repositories. */
export async function newAppliance(service: BareService, repositoryIds: readonly string[]): Promise<ApplianceClient> {
  const rest = restClient(service.ready);
  const { appliance } = await rest.call("POST", "/appliances", {
    clone_from: await jeosTemplate(rest),
    arch: "x86_64",
  });
  const client = new ApplianceClient(service.ready, appliance.id);
  await client.useOnly(repositoryIds);
  return client;
}

/** Imports one repository, waits until its packages can be found, and returns its id. */
export async function importRepository(
  service: Pick<BareService, "ready">,
  { name, somePackage }: Universe["repositories"][number],
  url: string,
): Promise<Timed<string>> {
  const rest = restClient(service.ready);
  const startedAt = performance.now();
  const { repository } = await rest.call("POST", "/repositories", { url, name });
  // POST answers after at most 30 s, even if the import is not finished.
  await waitUntil(`${name} is imported`, { seconds: 600, everyMs: 100 }, async () => {
    const { repositories } = await rest.call("GET", "/repositories", { filter: somePackage });
    const found = list(repositories.repository).find(({ id }) => id === repository.id);
    return found && list(found.matches.software_name).length > 0;
  });
  return { ms: performance.now() - startedAt, value: repository.id };
}

/** The packages of a `software_map`. */
const packagesIn = (xml: string): Set<string> =>
  new Set(
    [...xml.matchAll(/<package ([^>]*)>([^<]*)<\/package>/g)].map(([, attributes = "", name = ""]) => {
      const value = (attribute: string) => new RegExp(`\\b${attribute}="([^"]*)"`).exec(attributes)?.[1];
      return `${name}-${value("version")}.${value("arch")}`;
    }),
  );

/** The elements of one name in a document: none, one or several. */
const list = <Element>(elements: Element | Element[] | undefined): Element[] =>
  elements === undefined ? [] : Array.isArray(elements) ? elements : [elements];
