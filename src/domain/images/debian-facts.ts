import type { FrozenKey } from "#lib/contract/index";
import { Refusal } from "#domain/refusal";
import type { AptSource, DebianFacts } from "#lib/kiwi/debian-facts";
import { parseAptAddress } from "#lib/repodata/apt-address";
import { bringsSecurityUpdates, packageTypeOfBase, type BaseSystemFacts } from "#model/catalogue";
import type { StoredRepository } from "#storage/repositories";

type Source = Pick<StoredRepository, "accountId" | "url" | "signer" | "signingKeys" | "acceptsExpired" | "purpose">;

/**
 * Facts that are needed only for the description of a Debian system. Undefined for other systems. `keys` are the
 * appliance's own keys.
 */
export function debianFacts(
  base: BaseSystemFacts,
  repositories: readonly Source[],
  keys: readonly FrozenKey[],
): DebianFacts | undefined {
  if (packageTypeOfBase(base) === "rpm") return undefined;
  const [release] = base.detection.codenames ?? [];
  if (release === undefined) {
    throw new Refusal("configuration_error", { message: `The Debian release of ${base.title} is not known.` });
  }
  const sources = repositories.flatMap((one) => aptSource(one, addressForImage(base, one)) ?? []);
  return { release, sources, keys };
}

/** For the image, replaces this service's mirror of a catalogue's repository with the public mirror. */
function addressForImage({ publicMirrors = {} }: BaseSystemFacts, { accountId, url }: Source): string {
  if (accountId !== null) return url;
  const [mirror, found] = Object.entries(publicMirrors).find(([begin]) => url.startsWith(`${begin}/`)) ?? [];
  return mirror === undefined ? url : `${found}${url.slice(mirror.length)}`;
}

/**
 * Undefined if only this service can reach the repository, or if the repository provides only some packages of another
 * release, because apt in the image would also install others from there.
 */
function aptSource(
  { accountId, signer, signingKeys, acceptsExpired, purpose }: Source,
  url: string,
): AptSource | undefined {
  if (!/^https?:\/\//.test(url)) return undefined;
  const { root, directory, components, only } = parseAptAddress(url);
  if (only.length > 0) return undefined;
  const isFlat = directory === "";
  return {
    url: root,
    suite: isFlat ? "./" : directory.replace(/^dists\//, ""),
    components: isFlat ? [] : components.length === 0 ? ["main"] : components,
    isSigned: signer !== null,
    // A package of the distribution contains the distribution's keys, and updates them when they change.
    keys: accountId === null || signer === null ? [] : (signingKeys ?? []),
    isExpired: acceptsExpired,
    isSecurity: bringsSecurityUpdates({ purpose }),
  };
}
