import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { contentKey } from "#storage/blobs";
import { saveOverlayFiles } from "#storage/kept-files";
import { appliances, overlayFiles } from "#storage/schema";
import { signedIn, type Client } from "../support/client.ts";
import { listOf, modifiedDrive, modifiedFile, type AgentAnswer } from "../support/modified.ts";
import { bootableBuild, db } from "../support/testdrives.ts";
import { expectError, readXml } from "../support/xml.ts";

const gone: AgentAnswer = { kind: "refused", why: "gone", message: "The disk is gone." };
const applianceOf = async (owner: Client) => (await bootableBuild(owner)).applianceId;
const rowsOf = (applianceId: number) => db.select().from(overlayFiles).where(eq(overlayFiles.applianceId, applianceId));

describe("POST modified_files/keep", () => {
  const contents: Record<string, string> = { "/etc/motd": "hello\n", "/srv/a b": "text" };
  const files = [
    modifiedFile({ change: "changed" }),
    modifiedFile({ path: "/srv/a b", size: 4, owner: "clerk", group: "clerks", uid: 1234, gid: 99, isNewName: true }),
    modifiedFile({ path: "/srv/new", type: "d" }),
    modifiedFile({ path: "/srv/old", change: "deleted" }),
  ];
  const answerTo = ({ wanted }: { wanted: { kind: string; path?: string } }): AgentAnswer => {
    if (wanted.kind === "list") return listOf(files);
    const bytes = contents[wanted.path ?? ""] ?? "packed";
    return wanted.kind === "archive" ? { bytes } : { bytes, size: bytes.length };
  };

  it("makes overlay files in the appliance of the running build", async () => {
    const tux = await signedIn();
    const drive = await modifiedDrive(tux, answerTo);
    const { kept_files: kept } = await readXml(
      await tux.post(`/testdrives/${drive.id}/modified_files/keep`, { path: "/" }),
    );
    expect(
      kept.files.file.map(
        ({ id: _id, checksum: _checksum, download_url: _url, ...file }: Record<string, unknown>) => file,
      ),
    ).toEqual([
      { filename: "motd", path: "/etc", owner: "root", group: "users", permissions: "640", enabled: "true", size: "6" },
      { filename: "a b", path: "/srv", owner: "1234", group: "99", permissions: "640", enabled: "true", size: "4" },
    ]);
    expect(kept.left_out.file.map(({ path }: { path: string }) => path)).toEqual(["/srv/new", "/srv/old"]);
    const listed = await readXml(await tux.get(`/files?appliance_id=${kept.appliance_id}`));
    expect(listed.files.file).toHaveLength(2);
    const data = await tux.get(`/files/${kept.files.file[0].id}/data`);
    expect(await data.text()).toBe("hello\n");
    expect(drive.orders.slice(1).map(({ wanted }) => "reading" in wanted && wanted.reading)).toEqual(["one", "one"]);
  });

  it("stores a file with a caution only if its own path is given", async () => {
    const tux = await signedIn();
    const key = "/etc/ssh/ssh_host_ed25519_key";
    const changed = [modifiedFile({ change: "changed" }), modifiedFile({ path: key, change: "added", size: 6 })];
    const drive = await modifiedDrive(tux, ({ wanted, filter }) =>
      wanted.kind === "list"
        ? listOf(changed.filter((file) => filter.paths.some((given) => file.path.startsWith(given))))
        : { bytes: "hello\n", size: 6 },
    );
    const path = `/testdrives/${drive.id}/modified_files/keep`;
    const { kept_files: kept } = await readXml(await tux.post(path, { path: "/etc" }));
    expect(kept.files.file).toMatchObject({ filename: "motd" });
    expect(kept.left_out.file).toMatchObject({ path: key, reason: expect.stringContaining("secret") });
    await expectError(await tux.post(path, { path: "/etc/ssh" }), 400, "invalid_path");
    const { kept_files: named } = await readXml(await tux.post(path, { path: key }));
    expect(named.files.file).toMatchObject({ filename: "ssh_host_ed25519_key", path: "/etc/ssh" });
  });

  it("stores an archive without secrets", async () => {
    const tux = await signedIn();
    const drive = await modifiedDrive(tux, answerTo);
    await tux.post(`/testdrives/${drive.id}/modified_files/keep`, { path: "/etc", archive: "true" });
    expect(drive.orders.at(-1)?.filter).toMatchObject({ paths: ["/etc"], withoutSecrets: true });
  });

  it("replaces files that were kept before, and releases them", async () => {
    const tux = await signedIn();
    const drive = await modifiedDrive(tux, answerTo);
    const applianceId = await applianceOf(tux);
    const path = `/testdrives/${drive.id}/modified_files/keep`;
    await tux.post(path, { path: "/", appliance_id: applianceId });
    const before = await rowsOf(applianceId);
    await tux.post(path, { path: "/", appliance_id: applianceId });
    const after = await rowsOf(applianceId);
    expect(after.map(({ fileName }) => fileName)).toEqual(["motd", "a b"]);
    expect(after[0]?.blobId).not.toBe(before[0]?.blobId);
    const { results } = await env.DB.prepare("SELECT blob_id FROM released_blobs").all<{ blob_id: string }>();
    expect(results.map((row) => row.blob_id)).toEqual(expect.arrayContaining(before.map(({ blobId }) => blobId)));
  });

  it("keeps all files as one archive", async () => {
    const tux = await signedIn();
    const drive = await modifiedDrive(tux, answerTo);
    const request = { path: "/etc", archive: "true" };
    const { kept_files: kept } = await readXml(await tux.post(`/testdrives/${drive.id}/modified_files/keep`, request));
    expect([kept.files.file]).toMatchObject([
      { filename: `modified-files-${drive.id}.tar.gz`, path: "/", owner: "0", permissions: "600", size: "6" },
    ]);
  });

  it("keeps nothing if one of the files breaks off or is missing", async () => {
    const tux = await signedIn();
    const applianceId = await applianceOf(tux);
    for (const last of [{ bytes: "te", size: 4 }, gone] satisfies AgentAnswer[]) {
      const drive = await modifiedDrive(tux, (order) =>
        order.wanted.kind === "data" && order.wanted.path === "/srv/a b" ? last : answerTo(order),
      );
      const request = { path: "/", appliance_id: applianceId };
      const answer = await tux.post(`/testdrives/${drive.id}/modified_files/keep`, request);
      await expectError(answer, 400, "raw_image_unavailable");
    }
    expect(await rowsOf(applianceId)).toEqual([]);
  });

  it("keeps nothing beyond the quota", async () => {
    const tux = await signedIn();
    const applianceId = await applianceOf(tux);
    const huge = modifiedFile({ size: 10 ** 15 });
    const drive = await modifiedDrive(tux, (order) =>
      order.wanted.kind === "list" ? listOf([huge]) : answerTo(order),
    );
    const answer = await tux.post(`/testdrives/${drive.id}/modified_files/keep`, {
      path: huge.path,
      appliance_id: applianceId,
    });
    await expectError(answer, 400, "unknown_error");
    expect(drive.orders).toHaveLength(1);
    expect(await rowsOf(applianceId)).toEqual([]);
  });

  it("changes nothing if the quota is used up meanwhile", async () => {
    const tux = await signedIn();
    const drive = await modifiedDrive(tux, answerTo);
    const applianceId = await applianceOf(tux);
    await tux.post(`/testdrives/${drive.id}/modified_files/keep`, { path: "/", appliance_id: applianceId });
    const kept = await rowsOf(applianceId);
    const edited = () =>
      db.select({ at: appliances.lastEditedAt }).from(appliances).where(eq(appliances.id, applianceId));
    const editedAt = await edited();
    const again = kept.map(({ id: _id, applianceId: _applianceId, createdAt: _at, ...file }) => ({
      ...file,
      blobId: crypto.randomUUID(),
    }));
    const writer = { accountId: tux.accountId, quotaBytes: 10, most: 1000 };
    expect(await saveOverlayFiles(db, applianceId, again, writer)).toBeUndefined();
    const other = { accountId: (await signedIn()).accountId, quotaBytes: 10 ** 12, most: 1000 };
    expect(await saveOverlayFiles(db, applianceId, again, other)).toBeUndefined();
    expect(await rowsOf(applianceId)).toEqual(kept);
    expect(await edited()).toEqual(editedAt);
  });

  it("refuses another account's appliance, unchanged paths and too many files", async () => {
    const [tux, other] = [await signedIn(), await signedIn()];
    const foreign = await applianceOf(other);
    const many = Array.from({ length: 201 }, (_, at) => modifiedFile({ path: `/srv/${at}` }));
    const drive = await modifiedDrive(tux, ({ filter }) => listOf(filter.paths.includes("/srv") ? many : []));
    const path = `/testdrives/${drive.id}/modified_files/keep`;
    await expectError(await tux.post(path, { path: "/", appliance_id: foreign }), 400, "invalid_appliance_id");
    await expectError(await tux.post(path, { path: "/etc" }), 400, "invalid_path");
    await expectError(await tux.post(path, { path: "/srv" }), 400, "invalid_value");
    expect(await rowsOf(foreign)).toEqual([]);
  });

  it("requires a target for another account's published build", async () => {
    const [tux, publisher] = [await signedIn(), await signedIn()];
    const drive = await modifiedDrive(tux, answerTo);
    const build = await bootableBuild(publisher);
    await env.DB.prepare("UPDATE testdrives SET build_id = ? WHERE id = ?").bind(build.id, drive.id).run();
    const path = `/testdrives/${drive.id}/modified_files/keep`;
    await expectError(await tux.post(path, { path: "/" }), 400, "missing_appliance_id");
    const applianceId = await applianceOf(tux);
    expect((await tux.post(path, { path: "/", appliance_id: applianceId })).status).toBe(200);
    const [row] = await rowsOf(applianceId);
    expect(await env.BLOBS.head(contentKey(row?.blobId ?? ""))).toMatchObject({ size: 6 });
  });
});
