import { isSecretPath, nvra, versionRelease, type FrozenInput, type InstalledPackage } from "#lib/contract/index";
import {
  fileDifference,
  type ComparedFile,
  type FileChange,
  type FileDifference,
  type FileRange,
} from "#domain/difference/files";
import { FileIndex, type StoredBlob } from "#domain/images/file-store";
import {
  licenseDifference,
  packageDifference,
  type ComparedPackage,
  type LicenseDifference,
  type PackageChange,
} from "#domain/difference/packages";
import { rest } from "#lib/loop/pace";
import { Refusal } from "#domain/refusal";
import { settingDifference, type SettingChange } from "#domain/difference/settings";
import type { Services } from "#domain/services";
import { findInput, findInstalled } from "#storage/build-blobs";
import type { Build } from "#storage/builds";
import { findVisibleBuild } from "#storage/visible-builds";

/** A finished build, with the data that is stored in addition to its image. */
export interface ComparedBuild {
  build: Build;
  input: FrozenInput;
  packages: ComparedPackage[];
}

/** How the second of two builds differs from the first. */
export interface BuildDifference {
  from: ComparedBuild;
  to: ComparedBuild;
  packages: PackageChange[];
  licenses: LicenseDifference;
  settings: SettingChange[];
}

/** `gone`: one of the images has expired, or was built before files were stored. */
export type ComparedFiles = ({ state: "compared" } & FileDifference) | { state: "gone" };

/** Gets two builds that this account may compare: its own builds, shared ones or published ones. */
export async function getCompared(
  { env, db }: Services<Pick<Env, "BLOBS">>,
  accountId: number,
  ids: { from: number; to: number },
): Promise<Record<"from" | "to", ComparedBuild>> {
  const [from, to] = await Promise.all([
    findVisibleBuild(db, accountId, ids.from),
    findVisibleBuild(db, accountId, ids.to),
  ]);
  if (!from) throw new Refusal("invalid_build_id", { reason: "unknown" });
  if (!to) throw new Refusal("invalid_build_id");
  return { from: await comparedBuild(env, from), to: await comparedBuild(env, to) };
}

/** Refused for a build that is not finished, because its contents are unknown. */
export async function comparedBuild(env: Pick<Env, "BLOBS">, build: Build): Promise<ComparedBuild> {
  const installed = build.status === "finished" ? await findInstalled(env.BLOBS, build.uid) : undefined;
  const input = installed && (await findInput(env.BLOBS, build.inputSha256));
  if (!installed || !input) throw new Refusal("build_not_found", { message: `Build ${build.id} has no image.` });
  await rest();
  return { build, input, packages: packagesOf(installed, input) };
}

/** All differences except those of files, which are compared page by page. */
export const buildDifference = (from: ComparedBuild, to: ComparedBuild): BuildDifference => ({
  from,
  to,
  packages: packageDifference(from.packages, to.packages),
  licenses: licenseDifference(from.packages, to.packages),
  settings: settingDifference(from.input, to.input),
});

/** A page of the differences between the files of two images. */
export async function compareFiles(
  env: Pick<Env, "BLOBS">,
  { from, to, readerId }: Record<"from" | "to", ComparedBuild> & { readerId: number },
  range: FileRange,
): Promise<ComparedFiles> {
  const [before, after] = [indexOf(from.build), indexOf(to.build)];
  if (!before || !after) return { state: "gone" };
  const [one, other] = await Promise.all([FileIndex.open(env.BLOBS, before), FileIndex.open(env.BLOBS, after)]);
  const { changes, ...page } = await fileDifference(one, other, range);
  const isOwn = { from: from.build.accountId === readerId, to: to.build.accountId === readerId };
  return { state: "compared", ...page, changes: changes.map((change) => shownChange(change, isOwn)) };
}

/**
 * Everyone sees that a secret has changed. Only the owner of its image sees the checksum, because others could use it
 * to verify a guess of the content.
 */
function shownChange(change: FileChange, isOwn: Record<"from" | "to", boolean>): FileChange {
  if (!isSecretPath(change.path)) return change;
  const { from, to, ...rest } = change;
  return {
    ...rest,
    ...(from && { from: isOwn.from ? from : withoutChecksum(from) }),
    ...(to && { to: isOwn.to ? to : withoutChecksum(to) }),
  };
}

function withoutChecksum(file: ComparedFile): ComparedFile {
  const { sha256: _, ...shown } = file;
  return shown;
}

const indexOf = ({ filesIndexKey: key, filesIndexSize: size }: Build): StoredBlob | undefined =>
  key === null || size === null ? undefined : { key, size };

/** The packages that rpm reported in the image, with additional facts from the frozen packages. */
function packagesOf(installed: readonly InstalledPackage[], input: FrozenInput): ComparedPackage[] {
  const names = new Map(input.repositories.map(({ alias, name }) => [alias, name]));
  const frozen = new Map(input.packages.map((one) => [nvra(one), one]));
  return installed.map((one) => {
    const source = frozen.get(nvra(one));
    return {
      name: one.name,
      version: `${one.epoch === undefined ? "" : `${one.epoch}:`}${versionRelease(one)}`,
      arch: one.arch,
      repository: source && names.get(source.repository),
      license: one.license,
      checksum: source && `${source.checksum.type}:${source.checksum.value}`,
    };
  });
}
