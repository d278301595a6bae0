import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";
import type { ModifiedOrder } from "#lib/contract/index";
import { builds } from "#storage/schema";
import { findTestdrive } from "#storage/testdrives";
import { signedIn, type Client } from "../support/client.ts";
import {
  asAgent,
  answerOrder,
  listOf,
  modifiedDrive,
  modifiedFile,
  type AgentAnswer,
  type ModifiedDrive,
} from "../support/modified.ts";
import { bootableBuild, db, objectOf, open, runningDrive } from "../support/testdrives.ts";
import { expectError, readXml } from "../support/xml.ts";

const gone: AgentAnswer = { kind: "refused", why: "gone", message: "The disk is gone." };

describe("GET modified_files", () => {
  it("shows the agent's changes, with owners and text differences", async () => {
    const tux = await signedIn();
    const difference = "--- a/etc/motd\n+++ b/etc/motd\n@@ -1 +1 @@\n-<a>\n+b & c\n";
    const drive = await modifiedDrive(tux, () =>
      listOf(
        [
          modifiedFile({ change: "changed", difference, mode: 0o4755 }),
          modifiedFile({
            change: "added",
            path: "/srv/l",
            type: "l",
            target: "../x",
            size: 0,
            owner: undefined,
            uid: 77,
          }),
          modifiedFile({ change: "deleted", path: "/srv/old", type: "d", mode: 0, size: 0 }),
        ],
        { unnamed: 2 },
      ),
    );
    const { modified_files: shown } = await readXml(await tux.get(`/testdrives/${drive.id}/modified_files`));
    expect(shown.truncated).toBe("false");
    expect(shown.unnamed).toBe("2");
    const [motd, link, old] = shown.files.file;
    expect(motd).toEqual({
      change: "changed",
      path: "/etc/motd",
      type: "file",
      permissions: "4755",
      owner: "root",
      group: "users",
      size: "6",
      content_changed: "true",
      difference: difference.trim(), // the tests' reader also trims
    });
    expect(link).toMatchObject({ type: "link", target: "../x", owner: "77" });
    expect(link).not.toHaveProperty("caution");
    expect(old).toMatchObject({ change: "deleted", type: "directory", permissions: "000" });
    const json = await tux.get(`/testdrives/${drive.id}/modified_files`, { headers: { accept: "application/json" } });
    expect(await json.json()).toMatchObject({
      modified_files: { unnamed: 2, files: [{ difference, size: 6 }, {}, {}] },
    });
  });

  it("asks the agent only for the requested paths", async () => {
    const tux = await signedIn();
    const drive = await modifiedDrive(tux, () => listOf([]));
    const query = "path=/etc/&path[]=//srv/./x&except=/etc/ssh&difference=false";
    expect((await tux.get(`/testdrives/${drive.id}/modified_files?${query}`)).status).toBe(200);
    expect(drive.orders[0]).toMatchObject({
      filter: { paths: ["/etc", "/srv/x"], except: ["/etc/ssh"] },
      wanted: { kind: "list", withDifferences: false },
    });
  });

  it.each([
    "path=etc",
    "path=/a/../b",
    `path=/${"x".repeat(5000)}`,
    "except=x",
    "difference=perhaps",
    "path=/a%00",
    "path=/a%1b",
  ])("refuses %s", async (query) => {
    const tux = await signedIn();
    const drive = await modifiedDrive(tux, () => listOf([]));
    const answer = await tux.get(`/testdrives/${drive.id}/modified_files?${query}`);
    await expectError(answer, 400, "invalid_value");
    expect(drive.orders).toEqual([]);
  });

  it("does not ask the agent for another account", async () => {
    const [tux, stranger] = [await signedIn(), await signedIn()];
    const drive = await modifiedDrive(tux, () => listOf([]));
    const path = `/testdrives/${drive.id}/modified_files`;
    await expectError(await stranger.get(path), 404, "unknown_error");
    await expectError(await stranger.get(`${path}/data?path=/etc/motd`), 404, "unknown_error");
    await expectError(await stranger.get(`${path}/archive`), 404, "unknown_error");
    await expectError(await stranger.post(`${path}/keep`, { path: "/" }), 404, "unknown_error");
    expect(drive.orders).toEqual([]);
  });

  it.each<[string, AgentAnswer]>([
    ["a refusal", gone],
    ["invalid JSON", { raw: "{" }],
    ["an invalid answer", { raw: '{"kind":"list"}' }],
    ["bytes", { bytes: "bytes" }],
  ])("reports that there are no files if the agent sends %s", async (_, told) => {
    const tux = await signedIn();
    const drive = await modifiedDrive(tux, () => told);
    await expectError(await tux.get(`/testdrives/${drive.id}/modified_files`), 400, "raw_image_unavailable");
  });

  it("reports an agent without the disk, or one that disconnects", async () => {
    const tux = await signedIn();
    const without = await runningDrive(tux);
    await expectError(await tux.get(`/testdrives/${without.id}/modified_files`), 400, "raw_image_unavailable");
    const drive = await runningDrive(tux);
    const line = await open(`/agent/testdrives/${drive.id}/modified`, asAgent(drive.claim));
    const asked = tux.get(`/testdrives/${drive.id}/modified_files`);
    await line.next();
    line.socket.close(1000);
    await expectError(await asked, 400, "raw_image_unavailable");
  });

  it("works after the session", async () => {
    const tux = await signedIn();
    const drive = await modifiedDrive(tux, () => listOf([modifiedFile()]));
    await objectOf(drive).stop();
    const { modified_files: shown } = await readXml(await tux.get(`/testdrives/${drive.id}/modified_files`));
    expect(shown.files.file.path).toBe("/etc/motd");
  });

  it("accepts one answer, of the current attempt only", async () => {
    const tux = await signedIn();
    const drive = await modifiedDrive(tux, () => listOf([]));
    await tux.get(`/testdrives/${drive.id}/modified_files`);
    const [order] = drive.orders;
    expect((await answerOrder(drive, order?.request ?? "", listOf([]))).status).toBe(410);
    const other = { ...drive, claim: { ...drive.claim, token: "x".repeat(32) } };
    expect((await answerOrder(other, order?.request ?? "", listOf([]))).status).toBe(410);
  });
});

describe("GET modified_files/data and /archive", () => {
  it("returns the bytes of a file, with their length, as a download", async () => {
    const tux = await signedIn();
    const drive = await modifiedDrive(tux, () => ({ bytes: "<script>\n", size: 9 }));
    const answer = await tux.get(`/testdrives/${drive.id}/modified_files/data?path=/srv/index.html`);
    expect(await answer.text()).toBe("<script>\n");
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "application/octet-stream",
      "content-disposition": "attachment",
      "content-length": "9",
    });
    expect(drive.orders[0]?.wanted).toEqual({ kind: "data", path: "/srv/index.html" });
  });

  it("returns an archive of the requested paths", async () => {
    const tux = await signedIn();
    const drive = await modifiedDrive(tux, () => ({ bytes: "packed" }));
    const answer = await tux.get(`/testdrives/${drive.id}/modified_files/archive?path=/etc`);
    expect(answer.headers.get("content-type")).toBe("application/gzip");
    expect(await answer.text()).toBe("packed");
    expect(drive.orders[0]).toMatchObject({ filter: { paths: ["/etc"] }, wanted: { kind: "archive" } });
  });

  it("refuses a file that the machine does not have", async () => {
    const tux = await signedIn();
    const drive = await modifiedDrive(tux, () => ({ kind: "refused", why: "no_file", message: "No such file." }));
    const data = `/testdrives/${drive.id}/modified_files/data`;
    await expectError(await tux.get(`${data}?path=/none`), 400, "invalid_path");
  });
});

/** The listed files that come with their difference. */
const shownIn = async (client: Client, { id }: ModifiedDrive) => {
  const { modified_files: shown } = await readXml(await client.get(`/testdrives/${id}/modified_files`));
  return shown.files.file.map((file: Record<string, unknown>) => "difference" in file);
};

describe("secrets of a testdrive of another account's image", () => {
  const difference = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-root:$6$a\n+root:$6$b\n";
  const files = [
    modifiedFile({ path: "/etc/passwd", change: "changed", difference }),
    modifiedFile({ path: "/etc/shadow", change: "changed", difference }),
    modifiedFile({ path: "/etc/ssh/ssh_host_rsa_key", difference }),
  ];
  const answerTo = ({ wanted }: ModifiedOrder): AgentAnswer =>
    wanted.kind === "list" ? listOf(files) : { bytes: "secret", size: 6 };
  let tux: Client;
  let drive: ModifiedDrive;
  let path: string;
  beforeEach(async () => {
    tux = await signedIn();
    drive = await modifiedDrive(tux, answerTo);
    path = `/testdrives/${drive.id}/modified_files`;
  });
  const publishIt = async () => {
    const [owner, session] = [await signedIn(), await findTestdrive(db, drive.id)];
    await db
      .update(builds)
      .set({ accountId: owner.accountId })
      .where(eq(builds.id, session?.buildId ?? 0));
  };

  it("are shown to the owner of the image", async () => {
    expect(await shownIn(tux, drive)).toEqual([true, true, true]);
    expect(await (await tux.get(`${path}/data?path=/etc/shadow`)).text()).toBe("secret");
    await tux.get(`${path}/archive`);
    expect(drive.orders.at(-1)?.filter.withoutSecrets).toBeUndefined();
    const { kept_files: kept } = await readXml(await tux.post(`${path}/keep`, { path: "/etc/shadow" }));
    expect([kept.files.file].flat()).toContainEqual(expect.objectContaining({ filename: "shadow", path: "/etc" }));
  });

  it("are listed without their content", async () => {
    await publishIt();
    expect(await shownIn(tux, drive)).toEqual([true, false, false]);
  });

  it.each(["/etc/shadow", "//etc/./shadow", "/etc/ssh/ssh_host_rsa_key"])("do not come as data: %s", async (secret) => {
    await publishIt();
    await expectError(await tux.get(`${path}/data?path=${secret}`), 403, "access_denied");
    expect(drive.orders).toEqual([]);
    expect((await tux.get(`${path}/data?path=/etc/passwd`)).status).toBe(200);
  });

  it("are not in the archive", async () => {
    await publishIt();
    await (await tux.get(`${path}/archive?path=/etc`)).text();
    expect(drive.orders.at(-1)).toMatchObject({ filter: { paths: ["/etc"], withoutSecrets: true } });
  });

  it("do not become overlay files", async () => {
    await publishIt();
    const mine = await bootableBuild(tux);
    const keep = (more = {}) => tux.post(`${path}/keep`, { path: "/", appliance_id: mine.applianceId, ...more });
    const { kept_files: kept } = await readXml(await keep());
    expect(kept.files.file.filename).toBe("passwd");
    expect(kept.left_out.file.map((file: { path: string }) => file.path)).toEqual([
      "/etc/shadow",
      "/etc/ssh/ssh_host_rsa_key",
    ]);
    await keep({ archive: "true" });
    expect(drive.orders.at(-1)?.filter.withoutSecrets).toBe(true);
  });
});
