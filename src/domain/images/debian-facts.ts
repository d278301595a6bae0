import type { FrozenKey } from "#contract/index";
import { Refusal } from "#domain/refusal";
import type { AptSource, DebianFacts } from "#kiwi/debian-facts";
import { parseAptAddress } from "#model/apt-address";
import { packageTypeOfBase, type BaseSystemFacts } from "#model/catalogue";
import type { Repository } from "#storage/repositories";

type Source = Pick<Repository, "accountId" | "url" | "signer" | "signingKeys">;

/** What only the description of a Debian system needs; undefined: it is none. `keys`: the appliance's own. */
export function debianFacts(
  base: BaseSystemFacts,
  repositories: readonly Source[],
  keys: readonly FrozenKey[],
): DebianFacts | undefined {
  if (packageTypeOfBase(base) === "rpm") return undefined;
  const [release] = base.detection.codenames ?? [];
  if (release === undefined) {
    throw new Refusal("configuration_error", { message: `It is not known which release of Debian ${base.title} is.` });
  }
  // The keys of the distribution itself are in a package of it, which is updated when they change.
  const added = repositories
    .filter(({ accountId }) => accountId !== null)
    .flatMap(({ signingKeys }) => signingKeys ?? []);
  const all = new Map([...added, ...keys].map((key) => [key.fingerprint, key]));
  return { release, sources: repositories.flatMap((one) => aptSource(one) ?? []), keys: [...all.values()] };
}

/** Undefined: only this service can reach it. */
function aptSource({ url, signer }: Source): AptSource | undefined {
  if (!/^https?:\/\//.test(url)) return undefined;
  const { root, directory, components } = parseAptAddress(url);
  const isFlat = directory === "";
  return {
    url: root,
    suite: isFlat ? "./" : directory.replace(/^dists\//, ""),
    components: isFlat ? [] : components.length === 0 ? ["main"] : components,
    isSigned: signer !== null,
  };
}
