import type { RepositoryTrust } from "#lib/contract/index";
import { parseAptAddress } from "#lib/repodata/apt-address";
import type { StoredRepository } from "#storage/repositories";

/**
 * How the agent must check the repository. Null if it is not signed: an account's own packages in the service need no
 * signature, because only the account and the agents can access them. Undefined if its keys are not known yet. Its next
 * check will find them.
 */
export function trustOf(
  repository: Pick<StoredRepository, "type" | "url" | "revision" | "signer" | "signingKeys">,
): RepositoryTrust | null | undefined {
  const { revision, signer, signingKeys } = repository;
  if (signer === null) return null;
  if (revision === null || !signingKeys || signingKeys.length === 0) return undefined;
  return {
    index: indexOf(repository),
    indexSha256: revision,
    signedBy: signer.toLowerCase(),
    keys: signingKeys,
  };
}

function indexOf({ type, url }: Pick<StoredRepository, "type" | "url">): string {
  if (type !== "deb") return type === "yast2" ? "content" : "repodata/repomd.xml";
  const { directory } = parseAptAddress(url);
  return directory === "" ? "InRelease" : `${directory}/InRelease`;
}
