import type { BuildFinished, RebuiltImage } from "#lib/contract/index";
import { signedStatement } from "#lib/attest/signed-statement";
import { packageList } from "#lib/attest/package-list";
import { rebuildStatement } from "#lib/attest/rebuild";
import { rest } from "#lib/loop/pace";
import { builderIdOf, signingKey, type AttestationEnv } from "#domain/builds/attestation-keys";
import { fileDifference, type FileChange, type FileRange } from "#domain/difference/files";
import { FileIndex, type StoredBlob } from "#domain/images/file-store";
import { Refusal } from "#domain/refusal";
import type { Services } from "#domain/services";
import type { Rebuilt, RebuiltDifference } from "#lib/attest/rebuild";
import { findInstalled } from "#storage/build-blobs";
import { findAnyBuild, findBuildByUid, type Build } from "#storage/builds";
import type { Database } from "#storage/db";
import { saveRebuilt } from "#storage/rebuilds";

/** The image that an attempt has reported, before it learned whether the image equals the first one. */
export interface Stated extends RebuiltImage {
  attempt: number;
  agentId: number;
  isSame: boolean;
}

/** An agent's report of a finished rebuild. `index` is the index of the image's files, if the images differ. */
export type RebuildOutcome = Omit<BuildFinished, "installed"> & { rebuilt: Stated & { index?: StoredBlob } };

/** The limits of the list of differences, which is stored with the rebuild and in its statement. */
const most = { differences: 100, characters: 16 * 1024, pages: 8 };

/** Whether the image of a rebuild equals that of the first build. Undefined if either of them is gone. */
export async function isSameImage(db: Database, uid: string, { sha256 }: RebuiltImage): Promise<boolean | undefined> {
  const both = await findBoth(db, uid);
  return both && both.first.sha256 === sha256;
}

/** Records the result of a rebuild, and signs it. Repeating it is safe. */
export async function recordRebuilt(
  { env, db }: Services<Pick<Env, "BLOBS"> & AttestationEnv>,
  uid: string,
  { rebuilt: stated, builder, builderRoot, conditions, steps }: RebuildOutcome,
  endedAt: number,
): Promise<void> {
  const both = await findBoth(db, uid);
  if (!both) return;
  const { first } = both;
  const { sha256, size, agentId, index } = stated;
  const packages = await differingPackages(env.BLOBS, both);
  const files = index ? await differencesOf(env.BLOBS, first, index) : {};
  const differences = [...packages, ...(files.differences ?? [])];
  const isSame = stated.isSame && differences.length === 0;
  const found = isSame ? {} : { ...files, ...(differences.length > 0 && { differences }), sameBytes: stated.isSame };
  const byOther = first.madeBy === null ? null : first.madeBy !== agentId;
  const rebuilt: Rebuilt = { sha256, size, isSame, byOther, ...found };
  const result = {
    builder,
    builtIn: builtInOf(builderRoot),
    conditions: conditions ?? null,
    steps,
    rebuilt,
    completedAt: new Date(endedAt),
  };
  await saveRebuilt(db, uid, { ...result, rebuiltStatement: await signed(env, { ...both, result }) });
}

/** The builder root in which an image was built, as the row names it. Null for the host's own programs. */
export const builtInOf = (root: BuildFinished["builderRoot"]): string | null =>
  root ? `${root.name}@${root.sha256}` : null;

/** A rebuild and the build that it repeats. */
interface Both {
  rebuild: Build;
  first: Build;
}

async function findBoth(db: Database, uid: string): Promise<Both | undefined> {
  const rebuild = await findBuildByUid(db, uid);
  const first = rebuild?.rebuildOf ? await findAnyBuild(db, rebuild.rebuildOf) : undefined;
  return rebuild && first && { rebuild, first };
}

/** Null if the service signs nothing. */
async function signed(
  env: AttestationEnv,
  {
    rebuild,
    first,
    result,
  }: Both & {
    result: Pick<Build, "builtIn" | "conditions"> & { builder: string; rebuilt: Rebuilt; completedAt: Date };
  },
): Promise<string | null> {
  if (!env.ATTESTATION_KEY || first.fileName === null || first.sha256 === null) return null;
  const key = await signingKey(env);
  const statement = rebuildStatement({
    ...result,
    image: { fileName: first.fileName, sha256: first.sha256 },
    builderId: builderIdOf(env, key),
    buildId: first.id,
    rebuildId: rebuild.id,
    inputSha256: rebuild.inputSha256,
    startedAt: rebuild.startedAt ?? rebuild.createdAt,
    finishedAt: result.completedAt,
  });
  return await signedStatement(statement, key);
}

/**
 * The packages that only one of the two agents has reported. They matter because the bills of materials of an image are
 * made from its agent's report. Empty if one of the reports is gone.
 */
async function differingPackages(blobs: R2Bucket, { rebuild, first }: Both): Promise<RebuiltDifference[]> {
  const [from, to] = await Promise.all([findInstalled(blobs, first.uid), findInstalled(blobs, rebuild.uid)]);
  if (!from || !to) return [];
  const [before, now] = [packageList(from), packageList(to)].map((lines) => new Set(lines)) as [
    Set<string>,
    Set<string>,
  ];
  const gone = [...before.difference(now)].map((path) => ({ path, change: "removed" as const, what: ["package"] }));
  const more = [...now.difference(before)].map((path) => ({ path, change: "added" as const, what: ["package"] }));
  return withinCharacters([...gone, ...more].slice(0, most.differences));
}

/** The files that differ, according to the indexes. Undefined if one of the indexes is gone or cannot be read. */
async function differencesOf(
  blobs: R2Bucket,
  { filesIndexKey: key, filesIndexSize: size }: Build,
  index: StoredBlob,
): Promise<Pick<Rebuilt, "differences" | "hasMore">> {
  if (key === null || size === null) return {};
  try {
    const [from, to] = await Promise.all([FileIndex.open(blobs, { key, size }), FileIndex.open(blobs, index)]);
    return await changesBetween((range) => fileDifference(from, to, range));
  } catch (error) {
    // The index came from an agent. If it is damaged, another try would fail, too.
    if (error instanceof Refusal) return {};
    throw error;
  }
}

async function changesBetween(
  pageOf: (range: FileRange) => ReturnType<typeof fileDifference>,
): Promise<Pick<Rebuilt, "differences" | "hasMore">> {
  const all: FileChange[] = [];
  let after: string | undefined;
  for (let page = 0; page < most.pages && all.length < most.differences; page++) {
    const { changes, next } = await pageOf({ path: "/", after, limit: most.differences - all.length });
    all.push(...changes);
    after = next;
    if (next === undefined) break;
    await rest();
  }
  const differences = withinCharacters(all.map(differenceOf));
  const hasMore = after !== undefined || differences.length < all.length;
  return { differences, ...(hasMore && { hasMore }) };
}

function withinCharacters(all: readonly RebuiltDifference[]): RebuiltDifference[] {
  let left = most.characters;
  return all.filter(({ path }) => (left -= path.length) >= 0);
}

function differenceOf({ path, change, from, to }: FileChange): RebuiltDifference {
  if (!from || !to) return { path, change, what: [] };
  const facts = [
    ["type", from.type !== to.type],
    ["mode", from.mode !== to.mode],
    ["owner", from.owner !== to.owner || from.group !== to.group],
    ["target", from.target !== to.target],
    ["content", from.size !== to.size || from.sha256 !== to.sha256],
  ] as const;
  return { path, change, what: facts.filter(([, differs]) => differs).map(([name]) => name) };
}
