import { imageFormats, imageTypes } from "#lib/contract/index";
import { getPublication } from "#domain/gallery/access";
import { noteUse } from "#domain/gallery/clone";
import type { Services } from "#domain/services";
import { Refusal } from "#domain/refusal";
import { startTestdriveOf, type StartedTestdrive, type TestdriveEnv } from "#domain/testdrives/testdrive";
import type { PublishedFormat } from "#model/published";
import type { Account } from "#storage/accounts";
import { findAnyBuild } from "#storage/builds";
import type { Publication } from "#storage/publications";

interface TryRequest {
  applianceId: number;
  version?: string | undefined;
  /** Whether the user can open the machine's web page, which has its own origin (decision 25). */
  hasNetwork?: boolean;
  requestId?: string | undefined;
}

/** Boots a published version for any account. It counts as that account's testdrive. */
export async function tryPublication(
  { env, db }: Services<TestdriveEnv>,
  account: Account,
  request: TryRequest,
): Promise<StartedTestdrive> {
  const { applianceId, version, requestId, hasNetwork = false } = request;
  const publication = await getPublication(db, account.id, { applianceId, version, reason: "invalid" });
  const build = await findAnyBuild(db, formatToTry(publication).buildId);
  if (!build) throw new Refusal("build_not_found");
  const started = await startTestdriveOf({ env, db }, account, { build, hasNetwork, requestId });
  await noteUse(db, account, publication, "testdrive");
  return started;
}

/**
 * The order in which image types are tried. Disks boot fastest. Installers come last, because they show no prompt until
 * the installation is done.
 */
const triedFirst = (["disk", "live"] as const).flatMap((product) =>
  imageTypes.filter((type) => imageFormats[type].product === product),
);

function formatToTry({ formats }: Publication): PublishedFormat {
  const [first] = triedFirst.flatMap((type) => formats.filter(({ imageType }) => imageType === type));
  const format = first ?? formats[0];
  if (!format) throw new Refusal("build_not_found");
  return format;
}
