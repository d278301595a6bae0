import type { RepositoryTrust } from "#contract/index";
import type { Repository } from "#storage/repositories";

/**
 * How the agent must check the repository. Null: it is not signed; the service's own files of an account need no signature,
 * because only the account and the agents can reach them. Undefined: its keys are not known yet, and come with its next check.
 */
export function trustOf(
  repository: Pick<Repository, "type" | "revision" | "signer" | "signingKeys">,
): RepositoryTrust | null | undefined {
  const { type, revision, signer, signingKeys } = repository;
  if (signer === null) return null;
  if (revision === null || !signingKeys || signingKeys.length === 0) return undefined;
  return {
    index: type === "yast2" ? "content" : "repodata/repomd.xml",
    indexSha256: revision,
    signedBy: signer.toLowerCase(),
    keys: signingKeys,
  };
}
