import { env } from "cloudflare:workers";
import { Buffer } from "node:buffer";
import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { app } from "../../src/app.ts";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";
import { rpmOf } from "../support/packages.ts";
import { base, listed } from "../support/rpm-uploads.ts";
import {
  begun,
  blobIdOf,
  expectRefused,
  mebibyte,
  offsetOf,
  openBody,
  someBytes,
  tailsOf,
  tusClient,
  uploadsWith,
  type TusClient,
} from "../support/uploads.ts";
import { expectError, readXml } from "../support/xml.ts";

beforeAll(loadTemplates);

let tux: Client;
let tus: TusClient;
let applianceId: number;
beforeEach(async () => {
  tux = await signedIn();
  tus = tusClient(tux);
  applianceId = await createAppliance(tux);
});

const aFile = () => ({ appliance_id: applianceId, filename: "model.bin", path: "/srv", permissions: "600" });
const content = async (fileId: string) => new Uint8Array(await (await tux.get(`/files/${fileId}/data`)).arrayBuffer());
const filesOf = async () => (await readXml(await tux.get(`/files?appliance_id=${applianceId}`))).files.file;
const same = (one: Uint8Array, other: Uint8Array) => Buffer.from(one).equals(Buffer.from(other));

describe("an upload in several requests", () => {
  it("becomes an overlay file, bit for bit, whatever the requests bring", async () => {
    const file = someBytes(17 * mebibyte + 11);
    const id = await begun(tus, aFile(), file.byteLength);

    const ends = [1, 3 * mebibyte, 8 * mebibyte, 16 * mebibyte, 16 * mebibyte + 5, file.byteLength];
    let offset = 0;
    for (const end of ends) {
      const answer = await tus.send(id, offset, file.subarray(offset, end));
      expect([answer.status, answer.headers.get("upload-offset")]).toEqual([204, String(end)]);
      offset = end;
    }

    const { file_id: fileId, finished_at: finishedAt } = await tus.show(id);
    expect(finishedAt).toMatch(/^20/);
    expect(await filesOf()).toMatchObject({ id: fileId, filename: "model.bin", path: "/srv", permissions: "600" });
    expect(same(await content(fileId), file)).toBe(true);
    expect(await tailsOf(await blobIdOf(id))).toEqual([]);
  });

  it("takes bytes by POST under an Idempotency-Key once, and then refuses their offset", async () => {
    const id = await begun(tus, aFile(), 10);
    const keys = [crypto.randomUUID(), crypto.randomUUID()] as const;

    expect((await tus.post(id, 0, "hello", keys[0])).status).toBe(204);
    const repeated = await tus.post(id, 0, "hello", keys[0]);
    expect([repeated.status, repeated.headers.get("idempotency-replayed")]).toEqual([204, "true"]);
    expect((await tus.post(id, 0, "hello", keys[1])).status).toBe(409);
    expect(await offsetOf(tus, id)).toBe(5);
  });

  it("becomes a package", async () => {
    const rpm = rpmOf("counter", { payload: "p".repeat(9 * mebibyte) });
    const id = await begun(tus, { base_system: base }, rpm.byteLength);
    await tus.send(id, 0, rpm.subarray(0, 5000));
    expect(await listed(tux)).toEqual([]);

    expect((await tus.send(id, 5000, rpm.subarray(5000))).status).toBe(204);

    const { rpm_id: rpmId } = await tus.show(id);
    expect(await listed(tux)).toEqual([expect.stringContaining("counter")]);
    expect(same(new Uint8Array(await (await tux.get(`/rpms/${rpmId}/data`)).arrayBuffer()), rpm)).toBe(true);
  });

  it("leaves nothing behind if it is not a package", async () => {
    const id = await begun(tus, { base_system: base }, 5000);

    await expectError(await tus.send(id, 0, someBytes(5000)), 400, "invalid_file");

    expect((await tus.head(id)).status).toBe(404);
    const { results } = await env.DB.prepare("SELECT id FROM resumable_uploads WHERE account_id = ?")
      .bind(tux.accountId)
      .all();
    expect(results).toEqual([]);
    expect(await listed(tux)).toEqual([]);
  });

  it("takes its parameters from Upload-Metadata too", async () => {
    const metadata = {
      appliance_id: String(applianceId),
      filename: "C:\\träge.conf",
      filetype: "text/plain",
      owner: "",
    };
    const header = Object.entries(metadata).map(([name, value]) => `${name} ${Buffer.from(value).toString("base64")}`);
    const answer = await tus.begin({ path: "/etc" }, 5, { "upload-metadata": header.join(",") });
    const { upload } = await readXml(answer);

    expect(answer.headers.get("location")).toBe(`https://kiln.test/api/v2/user/uploads/${upload.id}`);
    await tus.send(upload.id, 0, "hello");

    expect(await filesOf()).toMatchObject({ filename: "träge.conf", path: "/etc", owner: "nobody" });
  });

  it("reports what the service can do, and how far an upload is", async () => {
    const options = await app.fetch(new Request("https://kiln.test/api/v2/user/uploads", { method: "OPTIONS" }), env);
    expect(options.status).toBe(204);
    expect(Object.fromEntries(options.headers)).toMatchObject({
      "tus-version": "1.0.0",
      "tus-extension": "creation,termination,expiration",
      "tus-max-size": "2147483648",
    });
    const id = await begun(tus, aFile(), 5);
    await tus.send(id, 0, "he");
    const { status, headers } = await tus.head(id);
    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toMatchObject({
      "tus-resumable": "1.0.0",
      "upload-offset": "2",
      "upload-length": "5",
      "cache-control": "no-store",
    });
    const inADay = Date.now() + 24 * 60 * 60_000;
    expect(Math.abs(Date.parse(headers.get("upload-expires") ?? "") - inADay)).toBeLessThan(60_000);
    expect((await tus.send(id, 2, "")).headers.get("upload-offset")).toBe("2");
  });

  it("takes an empty request after its last byte: the answer to that one may have been lost", async () => {
    const id = await begun(tus, aFile(), 5);
    await tus.send(id, 0, "hello");
    const finished = await tus.show(id);
    const again = await tus.send(id, 5, "");
    expect([again.status, again.headers.get("upload-offset")]).toEqual([204, "5"]);
    expect(await tus.show(id)).toEqual(finished);
    expect(await filesOf()).toMatchObject({ id: finished.file_id, size: "5" });
  });

  it("ends when its client wants that", async () => {
    const id = await begun(tus, aFile(), 5);
    await tus.send(id, 0, "he");

    const blobId = await blobIdOf(id);
    expect(await tailsOf(blobId)).toHaveLength(1);

    expect((await tus.end(id)).status).toBe(204);

    expect((await tus.head(id)).status).toBe(404);
    await expectRefused(await tus.send(id, 2, "llo"), 404);
    expect(await tailsOf(blobId)).toEqual([]);
    expect(await filesOf()).toBeUndefined();
  });
});

describe("an upload that is cut off", () => {
  it("stores what has come, and goes on there", async () => {
    const file = someBytes(9 * mebibyte);
    const id = await begun(tus, aFile(), file.byteLength);
    const first = openBody(file.subarray(0, 8 * mebibyte + 200_000));
    const sent = tus.send(id, 0, first.body);
    await first.written;
    await first.cut();
    await sent.catch(() => {});

    const offset = await offsetOf(tus, id);

    expect(offset).toBeGreaterThan(8 * mebibyte);
    expect((await tus.send(id, offset, file.subarray(offset))).status).toBe(204);
    expect(same(await content((await tus.show(id)).file_id), file)).toBe(true);
  });

  it("stores what has come of a body that stops coming", async () => {
    const file = someBytes(300_000);
    const id = await begun(tus, aFile(), file.byteLength);
    const silent = openBody(file.subarray(0, 200_000));

    await expectRefused(await uploadsWith({ BODY_SECONDS: "1" }, tux).send(id, silent.body), 409);

    const offset = await offsetOf(tus, id);
    expect(offset).toBe(128 * 1024);
    expect((await tus.send(id, offset, file.subarray(offset))).status).toBe(204);
    expect(same(await content((await tus.show(id)).file_id), file)).toBe(true);
  });

  it.each([
    ["before its file has a row", "BEFORE INSERT ON overlay_files"],
    ["before it knows its file", "BEFORE UPDATE OF finished_at ON resumable_uploads"],
  ])("is finished once if the service stops %s", async (_, moment) => {
    const file = someBytes(8 * mebibyte + 5);
    const id = await begun(tus, aFile(), file.byteLength);
    await tus.send(id, 0, file.subarray(0, 8 * mebibyte + 1));
    const complaint = vi.spyOn(console, "error").mockImplementation(() => {});
    const stop = `CREATE TRIGGER stopped ${moment} BEGIN SELECT RAISE(ABORT, 'the isolate is gone'); END`;
    await env.DB.prepare(stop).run();
    await expectError(await tus.send(id, 8 * mebibyte + 1, file.subarray(8 * mebibyte + 1)), 500, "internal_error");
    await env.DB.prepare("DROP TRIGGER stopped").run();
    complaint.mockRestore();

    const offset = await offsetOf(tus, id);
    expect(offset).toBe(8 * mebibyte + 1);
    expect((await tus.send(id, offset, file.subarray(offset))).status).toBe(204);

    const { file_id: fileId } = await tus.show(id);
    expect(await filesOf()).toMatchObject({ id: fileId });
    expect(same(await content(fileId), file)).toBe(true);
  });
});

describe("two clients with one upload", () => {
  it("take turns: the second is refused while the first sends", async () => {
    const id = await begun(tus, aFile(), 100_000);
    const file = someBytes(100_000);
    const first = openBody(file.subarray(0, 70_000));
    const sent = tus.send(id, 0, first.body);
    await first.written;
    await expectRefused(await tus.send(id, 0, file), 423);
    await expectRefused(await tus.end(id), 423);
    await first.end();
    expect((await sent).headers.get("upload-offset")).toBe("70000");

    await expectRefused(await tus.send(id, 0, file), 409);

    expect((await tus.send(id, 70_000, file.subarray(70_000))).status).toBe(204);
    expect(same(await content((await tus.show(id)).file_id), file)).toBe(true);
  });

  it("do not both write when they begin at the same moment", async () => {
    const id = await begun(tus, aFile(), 5);

    const answers = await Promise.all([tus.send(id, 0, "hello"), tus.send(id, 0, "HELLO")]);

    const statuses = answers.map(({ status }) => status).toSorted();
    expect(statuses[0]).toBe(204);
    expect([409, 423]).toContain(statuses[1]);
    const won = answers[0]?.status === 204 ? "hello" : "HELLO";
    expect(new TextDecoder().decode(await content((await tus.show(id)).file_id))).toBe(won);
  });
});
