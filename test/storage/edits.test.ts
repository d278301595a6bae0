/** `If-Match` and the solver's cache identify an edit by its time, so no two edits may have the same time. */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { findAnyAppliance, type Appliance } from "#storage/appliances";
import { saveConfiguration } from "#storage/configurations";
import { openDatabase } from "#storage/db";
import { addGpgKey, deleteGpgKey, listGpgKeys } from "#storage/gpg-keys";
import { saveOverlayFiles } from "#storage/kept-files";
import {
  addOverlayFile,
  changeOverlayFile,
  deleteOverlayFile,
  listOverlayFiles,
  replaceContent,
} from "#storage/overlay-files";
import { savePicture } from "#storage/pictures";
import { addApplianceRepository, removeApplianceRepository, replaceApplianceRepositories } from "#storage/repositories";
import { removeSelection, replaceSelections, saveSelection } from "#storage/selections";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";
import { stopClock } from "../support/clock.ts";

const db = openDatabase(env);
const quotaBytes = 2 ** 30;
// The time of an edit that is ahead of the clock, as after two edits within a millisecond.
const at = Date.now() + 24 * 60 * 60_000;

let id: number;
let accountId: number;

const appliance = async (): Promise<Appliance> =>
  (await findAnyAppliance(db, id)) ?? expect.fail("the appliance is not there");
const editedAt = async () => (await appliance()).lastEditedAt.getTime();

beforeEach(async () => {
  const tux = await signedIn();
  accountId = tux.accountId;
  id = await createAppliance(tux);
  await setEditedAt(id);
});
afterEach(() => void vi.useRealTimers());

const setEditedAt = (applianceId: number) =>
  env.DB.prepare("UPDATE appliances SET last_edited_at = ? WHERE id = ?").bind(at, applianceId).run();

const metadata = { path: "/etc", owner: "root", group: "root", permissions: 0o644, enabled: true };
const content = () => ({ blobId: crypto.randomUUID(), size: 3, md5: "0".repeat(32), sha256: "0".repeat(64) });
const newFile = () => ({ ...metadata, ...content(), fileName: crypto.randomUUID() });
const key = { name: "tux", target: "rpm" as const, fingerprint: "f".repeat(40), key: "armour", requestId: null };
const limits = { maxCount: 10, maxCharacters: 1000 };
const entry = () => ({ applianceId: id, kind: "package" as const, name: "vim" });

async function file() {
  const added = await addOverlayFile(
    db,
    { ...newFile(), applianceId: id, createdAt: new Date() },
    { accountId, quotaBytes, most: 1000 },
  );
  return added ?? expect.fail("no file was added");
}

const edits: Record<string, () => Promise<unknown>> = {
  "a configuration": async () => {
    const read = await appliance();
    const { version, imageType, configuration } = read;
    const columns = { name: "Other", version, imageType, configuration };
    return await saveConfiguration(db, { read, columns, maxBytes: quotaBytes });
  },
  "a selected package": () => saveSelection(db, { ...entry(), version: null, repositoryId: null }),
  "a package that is not selected any more": () => removeSelection(db, entry()),
  "a new selection": () => replaceSelections(db, { applianceId: id }, []),
  "a new list of repositories": () => replaceApplianceRepositories(db, id, [1]),
  "one more repository": () => addApplianceRepository(db, id, 1),
  "one repository less": () => removeApplianceRepository(db, id, 1),
  "a new file": file,
  "a file's new metadata": async () => changeOverlayFile(db, await file(), { path: "/root" }, accountId),
  "a file's new content": async () => replaceContent(db, await file(), content(), { accountId, quotaBytes }),
  "a deleted file": async () => deleteOverlayFile(db, await file(), accountId),
  "files of a testdrive": () => saveOverlayFiles(db, id, [newFile()], { accountId, quotaBytes, most: 1000 }),
  "a new key": () => addGpgKey(db, { ...key, applianceId: id, createdAt: new Date(at) }, limits),
  "a deleted key": async () => {
    await addGpgKey(db, { ...key, applianceId: id, createdAt: new Date(at) }, limits);
    const before = await editedAt();
    await deleteGpgKey(db, id, (await listGpgKeys(db, id))[0]?.id ?? 0);
    expect(await editedAt()).toBeGreaterThan(before);
  },
  "a new logo": () =>
    savePicture(db, { id, accountId, quotaBytes }, { kind: "logo", blobId: crypto.randomUUID(), bytes: 3 }),
};

describe("the time of the last edit", () => {
  it.each(Object.entries(edits))("rises with %s", async (_what, edit) => {
    await edit();
    expect(await editedAt()).toBeGreaterThan(at);
  });

  it("does not change if an edit is refused", async () => {
    await addOverlayFile(
      db,
      { ...newFile(), applianceId: id, createdAt: new Date() },
      { accountId, quotaBytes: 0, most: 1000 },
    );
    await addGpgKey(db, { ...key, applianceId: id, createdAt: new Date(at) }, { maxCount: 0, maxCharacters: 0 });
    await saveOverlayFiles(db, id, [newFile()], { accountId, quotaBytes: 0, most: 1000 });
    await savePicture(db, { id, accountId, quotaBytes: 0 }, { kind: "logo", blobId: crypto.randomUUID(), bytes: 3 });
    expect(await listOverlayFiles(db, id)).toEqual([]);
    expect(await editedAt()).toBe(at);
  });

  it("rises when its catalogue is loaded again", async () => {
    const template = 1;
    await loadTemplates();
    await setEditedAt(template);
    await loadTemplates();
    expect((await findAnyAppliance(db, template))?.lastEditedAt.getTime()).toBeGreaterThan(at);
  });

  it("rises although the clock goes back", async () => {
    stopClock();
    vi.setSystemTime(at + 60_000);
    await saveSelection(db, { ...entry(), version: null, repositoryId: null });
    expect(await editedAt()).toBe(at + 60_000);
    vi.setSystemTime(at);
    await removeSelection(db, entry());
    expect(await editedAt()).toBe(at + 60_001);
  });

  it("tells two edits within a millisecond apart, so that the state of the first is refused after the second", async () => {
    stopClock();
    vi.setSystemTime(at + 60_000);
    await saveSelection(db, { ...entry(), version: null, repositoryId: null });
    const { lastEditedAt: unchangedSince } = await appliance();
    await saveSelection(db, { ...entry(), name: "bash", version: null, repositoryId: null });

    expect(await replaceSelections(db, { applianceId: id, unchangedSince }, [])).toBe(false);
    const { lastEditedAt } = await appliance();
    expect(await replaceSelections(db, { applianceId: id, unchangedSince: lastEditedAt }, [])).toBe(true);
  });
});
