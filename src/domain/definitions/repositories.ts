import { isOwnRepository } from "#lib/contract/index";
import type { wantedDefinition } from "#lib/definition/document";
import { publicUrl } from "#lib/contract/repository-url";
import { Refusal } from "#domain/refusal";
import type { Repository } from "#storage/repositories";

/* Names of repositories in a definition. They mean the same on every service and for every account. */

/** A repository that the service stores has a different URL in each service, so it is named instead. */
export function repositoryOf({ name, url, isUserRepository }: Repository, baseUrl: string) {
  if (isUserRepository) return { uploads: true };
  return isOwnRepository(url) ? { name } : { name, url: publicUrl(url, baseUrl) };
}

type WantedRepository = NonNullable<NonNullable<(typeof wantedDefinition)["reads"]>["repositories"]>[number];

/** Finds repositories that a definition refers to, among those that the account can see. */
export function repositoryFinder(
  visible: readonly Repository[],
  { baseUrl, baseSystem }: { baseUrl: string; baseSystem: string },
): (wanted: WantedRepository) => Repository {
  const shown = visible.map((known) => ({ known, ...repositoryOf(known, baseUrl) }));
  return (wanted) => meantBy(wanted, shown, baseSystem);
}

type Shown = { known: Repository } & ReturnType<typeof repositoryOf>;

function meantBy({ name, url, uploads }: WantedRepository, shown: readonly Shown[], baseSystem: string): Repository {
  const called = shown.filter((one) => "name" in one && (name === undefined || one.name === name));
  const ranked = [
    uploads === true ? shown.filter((one) => "uploads" in one && one.known.baseSystem === baseSystem) : [],
    url === undefined ? [] : called.filter((one) => "url" in one && one.url === url),
    url === undefined ? [] : shown.filter((one) => "url" in one && one.url === url),
    name === undefined || url !== undefined
      ? []
      : called.filter((one) => !("url" in one) && one.known.baseSystem === baseSystem),
    name === undefined || url !== undefined ? [] : called,
  ];
  const [first, second] = ranked.find((found) => found.length > 0) ?? [];
  if (first && (url !== undefined || !second)) return first.known;
  const address = url ?? name ?? "of your uploads";
  const message = first
    ? `There are several repositories called ${address}: give the url of one.`
    : `This service has no repository ${address}. Import it first.`;
  throw new Refusal("invalid_repository_id", { message });
}

const uploadsPin = "uploads";

/**
 * The text that pins to a repository: its name, or its URL if another repository of the appliance has the same name.
 */
export function pinOf(pinned: Repository, all: readonly Repository[], baseUrl: string): string {
  if (pinned.isUserRepository) return uploadsPin;
  const isClear = pinned.name !== uploadsPin && all.filter(({ name }) => name === pinned.name).length === 1;
  return isClear ? pinned.name : (urlOf(pinned, baseUrl) ?? pinned.name);
}

/** The repositories that a pin may refer to. */
export function pinnedTo(pin: string, all: readonly Repository[], baseUrl: string): Repository[] {
  const exact = all.filter((one) => (one.isUserRepository ? pin === uploadsPin : pin === urlOf(one, baseUrl)));
  return exact.length > 0 ? exact : all.filter(({ name }) => name === pin);
}

const urlOf = (one: Repository, baseUrl: string): string | undefined => {
  const shown = repositoryOf(one, baseUrl);
  return "url" in shown ? shown.url : undefined;
};
