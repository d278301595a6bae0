import { shownPermissions } from "#lib/contract/file-mode";
import type { ModifiedFile, ModifiedFilter } from "#lib/contract/index";
import { limitsOf, refuseOverLimit } from "#domain/accounts/limits";
import { getOwnAppliance } from "#domain/appliances/appliance";
import type { Caution } from "#domain/testdrives/caution";
import {
  listModified,
  mayRead,
  openModified,
  openModifiedArchive,
  unreadable,
  type ListedFile,
  type ModifiedContent,
  type OwnTestdrive,
} from "#domain/testdrives/modified-files";
import { discardContent, stageContent, type FileTarget, type StagedFile } from "#domain/contents/overlay-file-content";
import { parseMetadata, type FileMetadata } from "#domain/contents/overlay-file-metadata";
import { leftBytes, quotaBytes, quotaExceeded } from "#domain/accounts/quota";
import { Refusal } from "#domain/refusal";
import { logFailure } from "#log/log";
import { findAppliance, type Appliance } from "#storage/appliances";
import { findAnyBuild } from "#storage/builds";
import { saveOverlayFiles } from "#storage/kept-files";
import type { OverlayFile } from "#storage/overlay-files";

export interface KeepRequest {
  filter: ModifiedFilter;
  /** Whether to store all files as one tar.gz, instead of file by file. */
  asArchive: boolean;
  /** By default, the appliance whose build is running. */
  applianceId: number | undefined;
}

export interface Kept {
  applianceId: number;
  files: OverlayFile[];
  /** Files that cannot be overlay files. */
  leftOut: { path: string; reason: string }[];
}

/** The maximum number of files, because each is a separate upload. */
const maxFiles = 200;

/**
 * Turns the files that a session has added or changed into overlay files, with their owner, group and mode. They
 * replace the appliance's files at the same paths. Either all of them are added, or none.
 */
export async function saveModifiedFiles(
  target: FileTarget,
  testdrive: OwnTestdrive,
  request: KeepRequest,
): Promise<Kept> {
  const appliance = await applianceOf(target, testdrive, request.applianceId);
  const { filter, asArchive } = request;
  const { kept, leftOut } = asArchive
    ? { kept: [archiveOf(target, testdrive, filter)], leftOut: [] }
    : await choose(target, testdrive, filter);
  const staged = await stageAll(target, kept);
  const rows = staged.map(({ metadata, content: { sentName: _sentName, ...content } }) => ({
    ...metadata,
    ...content,
  }));
  const { env, db, accountId } = target;
  const writer = { accountId, quotaBytes: await quotaBytes(target, accountId), most: limitsOf(env).files };
  const files = await saveOverlayFiles(db, appliance.id, rows, writer);
  if (files) return { applianceId: appliance.id, files, leftOut };
  await discard(target, staged);
  await getOwnAppliance(db, accountId, appliance.id, "invalid"); // or the appliance was deleted in the meantime
  await refuseOverLimit(target, accountId, { files: rows.length });
  throw quotaExceeded();
}

async function applianceOf(
  { db, accountId }: FileTarget,
  { buildId }: OwnTestdrive,
  given: number | undefined,
): Promise<Appliance> {
  if (given !== undefined) return await getOwnAppliance(db, accountId, given, "invalid");
  const build = await findAnyBuild(db, buildId);
  const own = build && (await findAppliance(db, accountId, build.applianceId));
  if (own) return own;
  const message =
    "This testdrive runs another account's appliance. Pass appliance_id to choose which of yours gets the files.";
  throw new Refusal("missing_appliance_id", { message });
}

/** A file to store. */
interface Wanted {
  metadata: FileMetadata;
  open: () => Promise<ModifiedContent>;
}

async function choose({ env, db, accountId }: FileTarget, testdrive: OwnTestdrive, filter: ModifiedFilter) {
  const { files, truncated, reading } = await listModified(env, testdrive, { filter, withDifferences: false });
  const reasons = new Map(files.map((file) => [file, whyLeftOut(testdrive, filter, file)]));
  const keepable = files.filter((file) => reasons.get(file) === undefined);
  const leftOut = [...reasons].flatMap(([{ path }, reason]) => (reason === undefined ? [] : [{ path, reason }]));
  if (keepable.length === 0) {
    const [first] = leftOut;
    const message = first ? `${first.path}: ${first.reason}` : "No file at these paths has changed.";
    throw new Refusal("invalid_path", { message });
  }
  if (truncated || keepable.length > maxFiles) {
    throw new Refusal("invalid_value", {
      message: `At most ${maxFiles} files can be saved together: name fewer paths, or save them as an archive.`,
    });
  }
  const bytes = keepable.reduce((sum, { size }) => sum + size, 0);
  if (bytes > (await leftBytes({ env, db }, accountId))) throw quotaExceeded();
  const kept = keepable.map((file): Wanted => ({
    metadata: metadataOf(file),
    open: () => openModified(env, testdrive, { path: file.path, reading }),
  }));
  return { kept, leftOut };
}

/**
 * Why a file is not stored. Undefined if it is stored. A file with a caution is skipped if only its folder was named,
 * but stored if the file itself was named.
 */
function whyLeftOut(testdrive: OwnTestdrive, { paths }: ModifiedFilter, file: ListedFile): string | undefined {
  if (!mayRead(testdrive, file.path)) return "It has secrets of the appliance's owner.";
  if (file.change === "deleted") return "It was deleted, but overlay files can only add files.";
  if (file.type === "d") return "Directories are created automatically for the files in them.";
  if (file.type !== "f") return "Only regular files can be overlay files.";
  return paths.includes(file.path) ? undefined : cautions[file.caution ?? "none"];
}

const unlessNamed = "To keep it anyway, name the file itself.";
const cautions: Record<Caution | "none", string | undefined> = {
  none: undefined,
  secret: `It is a secret that all copies of the appliance would share. ${unlessNamed}`,
  identity: `It identifies a single machine, and all copies of the appliance would share it. ${unlessNamed}`,
  state: `It is the state of one machine. ${unlessNamed}`,
  log: `It is a log, a cache or a temporary file. ${unlessNamed}`,
  large: `It is large. ${unlessNamed}`,
};

/**
 * Uses numbers for users and groups that were created in the session, because the next build does not know their names.
 */
function metadataOf({ path, mode, uid, gid, owner, group, isNewName }: ModifiedFile): FileMetadata {
  const at = path.lastIndexOf("/");
  const named = isNewName === true ? {} : { owner, group };
  return parseMetadata(
    {
      filename: path.slice(at + 1),
      path: path.slice(0, at) || "/",
      permissions: shownPermissions(mode),
      owner: named.owner ?? String(uid),
      group: named.group ?? String(gid),
    },
    undefined,
  );
}

/** The archive, without secrets: all copies of the appliance would share them, and the user has not named them. */
const archiveOf = ({ env }: FileTarget, testdrive: OwnTestdrive, filter: ModifiedFilter): Wanted => ({
  metadata: parseMetadata(
    { filename: `modified-files-${testdrive.id}.tar.gz`, path: "/", permissions: "600", owner: "0", group: "0" },
    undefined,
  ),
  open: () => openModifiedArchive(env, testdrive, { ...filter, withoutSecrets: true }),
});

interface Staged {
  metadata: FileMetadata;
  content: StagedFile;
}

/** Stores all contents. If one of them is refused, removes the others. */
async function stageAll(target: FileTarget, wanted: readonly Wanted[]): Promise<Staged[]> {
  const staged: Staged[] = [];
  try {
    for (const { metadata, open } of wanted) {
      const { body } = await open();
      staged.push({ metadata, content: await stageContent(target, { body, fileName: undefined }) });
    }
    return staged;
  } catch (error) {
    await discard(target, staged);
    if (error instanceof Refusal) throw error;
    logFailure("files of a testdrive were not stored", error);
    throw unreadable(); // most likely the agent or its machine disappeared during the transfer
  }
}

const discard = async (target: FileTarget, staged: readonly Staged[]): Promise<void> =>
  void (await Promise.all(staged.map(({ content }) => discardContent(target, content))));
