import { execFileSync } from "node:child_process";
import { mkdirSync, openAsBlob } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Person } from "./person.ts";
import { buildRpm } from "./rpm.ts";
import type { SharedService } from "./shared-services.ts";

// Software from every source: an uploaded package, one from a user-imported repository, and a pattern with a choice.

/** Makes another publisher's repository with the package `foreign-note`. Returns its URL. */
export function foreignRepository({ folder, url }: SharedService["elsewhere"]): string {
  const place = join(folder, "notes");
  mkdirSync(place);
  buildRpm(place, "foreign-note");
  execFileSync("createrepo_c", ["--quiet", join(place, "out")]);
  return `${url}/notes/out/`;
}

/** Uploads a package `own-note`, which requires `hello`. */
export async function uploadOwnNote({ send }: Person, folder: string, baseSystem: string): Promise<void> {
  const body = new FormData();
  body.set("file", await openAsBlob(buildRpm(folder, "own-note")), "own-note-1.0-1.noarch.rpm");
  const answer = await send("POST", `/rpms?base_system=${baseSystem}`, { body });
  expect(await answer.text()).toMatch(/^<rpm>/);
}

/** The packages that an image contains or will contain. */
export interface Listed {
  repository: string;
  /** Name and version. */
  software: string;
}

/** The packages that the next build will install, or that a build has installed. */
export async function listed({ rest }: Person, applianceId: string, buildId?: string): Promise<Listed[]> {
  const path = `/appliances/${applianceId}/software/installed`;
  const { software_map: map } = await rest.call("GET", path, buildId === undefined ? {} : { build_id: buildId });
  return [map.repository]
    .flat()
    .flatMap(({ "@name": repository, software }) =>
      [software.package].flat().map((one) => ({ repository, software: `${one["#text"]} ${one["@version"]}` })),
    )
    .toSorted((one, other) => one.software.localeCompare(other.software));
}

/**
 * Selects all of this software, and bans the web server that the pattern would install.
 *
 * @returns the packages of the appliance without the ban
 */
export async function selectSoftware(person: Person, applianceId: string, repositoryUrl: string): Promise<Listed[]> {
  const change = (verb: string, params: Record<string, string> = {}) =>
    person.rest.call("POST", `/appliances/${applianceId}/cmd/${verb}`, params);
  const { repository } = await person.rest.call("POST", "/repositories", { url: repositoryUrl, name: "Elsewhere" });
  await change("add_repository", { repo_id: repository.id });
  await change("add_package", { name: "foreign-note", repository_id: repository.id });
  await change("add_user_repository");
  const { success } = await change("add_package", { name: "own-note" });
  expect(success.details.status.state).toBe("changed");
  await change("add_pattern", { name: "web" });
  const unbanned = await listed(person, applianceId);
  await change("ban_package", { name: "webdemo-pro" });
  expect((await person.rest.call("GET", `/appliances/${applianceId}/status`)).status.state).toBe("ok");
  return unbanned;
}
