import type { Access } from "#domain/accounts/access";
import { Refusal } from "#domain/refusal";
import { keyedHash, sameSecret } from "#domain/secrets";
import type { Account } from "#storage/accounts";
import { findDownload, type Build } from "#storage/builds";
import type { Database } from "#storage/db";
import { findLinked, type LinkNames } from "#storage/download-links";

/*
 * A download link needs no credentials. The owner's link contains the build's token, and works as long as the build
 * exists. Every other account, and every API token, gets its own link, `build-account-token-signature`, which expires
 * together with the right to read the image (decision 37). The key of the signature is the build's token, so nothing is
 * stored for a link.
 */

/** The account that receives a link, and how it signed in. */
export interface LinkReader {
  account: Pick<Account, "id" | "uid" | "apiKeyHmac">;
  access: Access;
}

/** The parts of a build that its link needs. */
type Linked = Pick<Build, "id" | "downloadToken">;

/** The same build, with the part of the download address that is for this reader. */
export function withLink<B extends Linked>(build: B, ownerId: number | null, reader: LinkReader): B {
  const { account, access } = reader;
  if (account.id === ownerId && access.by === "key") return build;
  const tokenId = access.by === "token" ? access.id : null;
  const signature = signatureOf(build, account, tokenId);
  return { ...build, downloadToken: `${build.id}-${account.id}-${tokenId ?? 0}-${signature}` };
}

export const withLinks = <B extends Linked>(builds: readonly B[], ownerId: number | null, reader: LinkReader): B[] =>
  builds.map((build) => withLink(build, ownerId, reader));

/**
 * The finished build of a link. Undefined if there is none. Refused if the link has expired. `isLasting`: the link
 * stays valid as long as the build exists. `readerId`: the account that received the link.
 */
export async function findByLink(
  db: Database,
  link: string,
): Promise<{ build: Build; isLasting: boolean; readerId?: number } | undefined> {
  const [, buildId, accountId, tokenId, signature] =
    /^(\d{1,15})-(\d{1,15})-(\d{1,15})-([0-9a-f]{64})$/.exec(link) ?? [];
  if (signature === undefined) {
    const build = await findDownload(db, link);
    return build && { build, isLasting: true };
  }
  const names: LinkNames = {
    buildId: Number(buildId),
    accountId: Number(accountId),
    tokenId: Number(tokenId) || null,
  };
  const found = await findLinked(db, names, new Date());
  if (found && sameSecret(signature, signatureOf(found.build, found.account, names.tokenId))) {
    return { build: found.build, isLasting: false, readerId: found.account.id };
  }
  throw new Refusal("access_denied", { message: ended });
}

/** A link expires with the API key or token that it was created for. A renewed key counts as a different key. */
const signatureOf = (
  { id, downloadToken }: Linked,
  { uid, apiKeyHmac }: LinkReader["account"],
  tokenId: number | null,
): string => keyedHash(downloadToken, [id, uid, tokenId === null ? apiKeyHmac : `token ${tokenId}`].join(" "));

const ended =
  "This link has expired. Either the appliance is no longer published, or shared with the account that got the link; or that account was " +
  "locked, or its key or token was replaced. If you may read the build, GET builds/<id> returns a new link.";
