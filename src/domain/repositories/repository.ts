import { findBaseSystem } from "#storage/appliances";
import type { Database } from "#storage/db";
import { searchNames } from "#storage/packages";
import {
  addRepository,
  findRepository,
  findRepositoryByUid,
  findVisibleRepository,
  findVisibleRepositoryByUrl,
  listVisibleRepositories,
  removeFailed,
  removeUnimported,
  type Repository,
} from "#storage/repositories";
import { publicUrl } from "#lib/contract/repository-url";
import { makeOnce } from "#domain/accounts/idempotency";
import { limitsOf, type LimitsEnv, refuseOverLimit } from "#domain/accounts/limits";
import type { Services } from "#domain/services";
import { Refusal, type IdReason } from "#domain/refusal";
import { otherBaseSystem } from "#domain/repositories/base-system";
import { parseRepositoryUrl } from "#domain/repositories/address";
import { requestImports } from "#domain/repositories/turns";
import type { FrozenKey } from "#lib/contract/index";
import { signingKeysOf } from "#lib/repodata/signature";

/** How long a client waits for an import. After that, the import continues in the background. */
const importWaitMs = 30_000;
const lookEveryMs = 200;
/** How many package names are shown for each repository that a filter finds. */
const maxNames = 100;

/** The parts of a repository that match a filter, in lower case (compatibility.md, "Repositories"). */
interface RepositoryMatches {
  name?: string;
  url?: string;
  packages: string[];
}

/** A repository that this account may see. Any other repository is reported as unknown. */
export async function getRepository(
  db: Database,
  accountId: number,
  id: number,
  reason: IdReason = "unknown",
): Promise<Repository> {
  const repository = await findVisibleRepository(db, accountId, id);
  if (!repository) throw new Refusal("invalid_repository_id", { reason });
  return repository;
}

/** A repository in a list and, if there was a filter, the parts that match it. */
export type FoundRepository = Repository & { matches?: RepositoryMatches };

/**
 * The repositories that the account can use. If the first import of a repository failed, it is shown only if it belongs
 * to a catalogue. With a filter, only those whose name, URL or packages contain the text.
 */
export async function listRepositories(
  db: Database,
  accountId: number,
  { baseSystem, filter, baseUrl }: { baseSystem?: string | undefined; filter?: string | undefined; baseUrl: string },
): Promise<FoundRepository[]> {
  if (baseSystem !== undefined && baseSystem !== otherBaseSystem && !(await findBaseSystem(db, baseSystem))) {
    throw new Refusal("invalid_base_system");
  }
  const all = await listVisibleRepositories(db, accountId, { baseSystem });
  const usable = all.filter((one) => one.accountId === null || one.importState !== "failed");
  return filter === undefined ? usable : await filtered(db, usable, { filter, baseUrl });
}

async function filtered(
  db: Database,
  repositories: readonly Repository[],
  { filter, baseUrl }: { filter: string; baseUrl: string },
): Promise<FoundRepository[]> {
  const q = filter.toLowerCase();
  const names = await searchNames(db, { repositories, q, limit: maxNames });
  return repositories.flatMap((repository) => {
    const name = repository.name.toLowerCase();
    const url = publicUrl(repository.url, baseUrl)?.toLowerCase();
    const packages = names.get(repository.id) ?? [];
    const matches = { ...(name.includes(q) && { name }), ...(url?.includes(q) && { url }), packages };
    return (matches.name ?? matches.url ?? packages[0]) ? [{ ...repository, matches }] : [];
  });
}

interface NewRepositoryRequest {
  url: string;
  name: string;
  /** Keys for a Debian repository, in ASCII armour. At every import, one of them must have signed the index. */
  key?: string | undefined;
  /** Whether to accept an index that has expired. */
  acceptsExpired: boolean;
  requestId?: string | undefined;
}

/**
 * Adds a repository for this account only, and waits a while for its import. If the import fails, the repository is
 * removed. If the import takes longer, it continues in the background.
 */
export async function importForAccount(
  { env, db }: Services,
  accountId: number,
  request: NewRepositoryRequest,
): Promise<Repository> {
  const url = parseRepositoryUrl(env, request.url);
  const signingKeys = request.key === undefined ? null : await givenKeys(request.key);
  const { id, importState } = await makeOnce(request.requestId, {
    find: (uid) => findRepositoryByUid(db, uid),
    make: () => addRow({ env, db }, accountId, { ...request, url, signingKeys }),
  });
  if (importState === "importing") await requestImports({ env, db }, [id]);
  const repository = await waitForImport(db, id, importWaitMs);
  if (repository?.importState === "failed" || !repository) {
    await removeUnimported(db, id);
    const { problem } = repository ?? {};
    throw new Refusal("download_error", { message: `The repository could not be imported: ${problem ?? "unknown"}` });
  }
  return repository;
}

/** Checks any repository immediately instead of at its next turn. For the operator. */
export async function importNow({ env, db }: Services, id: number): Promise<Repository> {
  const repository = await findRepository(db, id);
  if (!repository) throw new Refusal("invalid_repository_id", { reason: "unknown" });
  await requestImports({ env, db }, [id]);
  return repository;
}

/** Waits until the import has ended or the time limit is reached, and returns the repository as it is then. */
export async function waitForImport(db: Database, id: number, timeoutMs: number): Promise<Repository | undefined> {
  for (const deadline = Date.now() + timeoutMs; ;) {
    const repository = await findRepository(db, id);
    if (repository?.importState !== "importing" || Date.now() >= deadline) return repository;
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
}

async function givenKeys(armour: string): Promise<FrozenKey[]> {
  const keys = await signingKeysOf(new TextEncoder().encode(armour)).catch(() => []);
  if (keys.length > 0) return keys;
  throw new Refusal("invalid_value", {
    message: "The key must be an OpenPGP public key in ASCII armour (gpg --armor --export).",
  });
}

/** Adds the row. If the account already has this repository, but its first import failed, the row is replaced. */
async function addRow(
  { env, db }: Services<LimitsEnv>,
  accountId: number,
  {
    url,
    name,
    requestId: uid,
    signingKeys,
    acceptsExpired,
  }: NewRepositoryRequest & { signingKeys: FrozenKey[] | null },
): Promise<Repository> {
  const known = await findVisibleRepositoryByUrl(db, accountId, url);
  if (known?.accountId === accountId && known.importState === "failed") await removeUnimported(db, known.id);
  else if (known) throw new Refusal("repository_already_exists");
  const own = { accountId, name, url, signingKeys, acceptsExpired, ...(uid && { uid }) };
  const row = { ...own, type: "rpm-md" as const, baseSystem: otherBaseSystem, arches: [] };
  const most = limitsOf(env).repositories;
  const added =
    (await addRepository(db, row, most)) ??
    // Repositories whose import failed are removed to make room. No list shows them.
    ((await removeFailed(db, accountId)) > 0 ? await addRepository(db, row, most) : undefined);
  if (added) return added;
  await refuseOverLimit({ env, db }, accountId, { repositories: 1 });
  throw new Refusal("repository_already_exists");
}
