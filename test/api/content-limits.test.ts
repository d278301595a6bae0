/** The limits on an account's overlay files and uploaded packages. */
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, type Client } from "../support/client.ts";
import { json, refused, stored } from "../support/definitions.ts";
import { createAppliance, createBuild } from "../support/factories.ts";
import { contentCount, fileForm, send, uploadFile } from "../support/files.ts";
import { publish } from "../support/gallery.ts";
import { listOf, modifiedDrive, modifiedFile } from "../support/modified.ts";
import { rpmOf } from "../support/packages.ts";
import * as rpms from "../support/rpm-uploads.ts";
import { uploadsWith } from "../support/uploads.ts";
import { expectError, readXml } from "../support/xml.ts";

beforeAll(loadTemplates);

let tux: Client;
let applianceId: number;
beforeEach(async () => {
  tux = await signedIn();
  applianceId = await createAppliance(tux);
});

const tooMany = (answer: Response) => expectError(answer, 400, "unknown_error");

/** The names of the overlay files of an appliance. */
async function namesOf(id: number): Promise<string[]> {
  const { files } = await readXml(await tux.get(`/files?appliance_id=${id}`));
  return [files.file ?? []].flat().map(({ filename }: { filename: string }) => filename);
}

/** A file of a definition, whose content the service already has. */
const fileOf = async (name: string) => ({ path: `/etc/${name}`, ...(await stored(tux, name)) });

describe("overlay files", () => {
  const one = { MAX_FILES_PER_ACCOUNT: "1" };
  const fileMessage = /at most 1 overlay files together/;
  const upload = (name: string) =>
    send(tux, fileForm("hello", { name }), { path: `/files?appliance_id=${applianceId}`, settings: one });
  const sendDefinition = (call: string, definition: object) => {
    const [method, path = ""] = call.split(" ") as ["POST" | "PUT", string];
    const headers = { ...json, "content-type": "application/json" };
    return send(tux, JSON.stringify({ definition }), { method, path, headers, settings: one });
  };

  it("that are one too many are refused, and leave nothing stored", async () => {
    expect((await upload("first")).status).toBe(200);
    const contents = await contentCount();
    expect(await tooMany(await upload("second"))).toMatch(fileMessage);
    expect(await contentCount()).toBe(contents);
    expect(await namesOf(applianceId)).toEqual(["first"]);
    const { limits } = await readXml(await tux.get("/account/limits"));
    expect(limits.files).toMatchObject({ used: "1", most: "20000" });
  });

  it("come at most to the limit from simultaneous requests", async () => {
    const answers = await Promise.all(["a", "b", "c"].map(upload));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400]);
    expect(await namesOf(applianceId)).toHaveLength(1);
  });

  it("are refused before the first byte of an upload in several requests", async () => {
    expect((await upload("first")).status).toBe(200);
    const answer = await uploadsWith(one, tux).begin({ appliance_id: String(applianceId), filename: "x" }, 5);
    expect(await tooMany(answer)).toMatch(fileMessage);
  });

  it("count in a clone", async () => {
    const clone = (id: number) => send(tux, null, { path: `/appliances?clone_from=${id}`, settings: one });
    const empty = await createAppliance(tux);
    await uploadFile(tux, applianceId, "hello", { name: "first" });
    expect(await tooMany(await clone(applianceId))).toMatch(fileMessage);
    expect((await clone(empty)).status).toBe(200);
  });

  it("count in a clone of a published appliance", async () => {
    const publisher = await signedIn();
    const { applianceId: published } = await createBuild(publisher);
    for (const name of ["a", "b"]) await uploadFile(publisher, published, "hello", { name });
    expect((await publish(publisher, published)).status).toBe(200);
    const clone = (settings: Partial<Env>) =>
      send(tux, null, { path: `/appliances?clone_from=${published}`, settings });
    expect(await tooMany(await clone(one))).toMatch(fileMessage);
    expect((await clone({ MAX_FILES_PER_ACCOUNT: "2" })).status).toBe(200);
  });

  it("count in a definition, which may replace them", async () => {
    const definition = `PUT /appliances/${applianceId}/definition`;
    expect((await sendDefinition(definition, { files: [await fileOf("a")] })).status).toBe(200);
    expect((await sendDefinition(definition, { files: [await fileOf("b")] })).status).toBe(200);
    const both = { files: [await fileOf("c"), await fileOf("d")] };
    expect(await refused(await sendDefinition(definition, both))).toMatch(fileMessage);
    expect(await namesOf(applianceId)).toEqual(["b"]);
    const made = await sendDefinition("POST /definitions", {
      name: "New",
      base_system: "tiny-1.0",
      files: [await fileOf("e")],
    });
    expect(await refused(made)).toMatch(fileMessage);
  });

  it("are not kept from a testdrive if there are too many", async () => {
    const files = ["/etc/a", "/etc/b"].map((path) => modifiedFile({ path, change: "added", size: 1 }));
    const drive = await modifiedDrive(tux, ({ wanted }) =>
      wanted.kind === "list" ? listOf(files) : { bytes: "x", size: 1 },
    );
    const contents = await contentCount();
    const path = `/testdrives/${drive.id}/modified_files/keep?path=/etc`;
    expect(await tooMany(await send(tux, null, { path, settings: one }))).toMatch(fileMessage);
    expect(await contentCount()).toBe(contents);
  });
});

describe("uploaded packages", () => {
  const settings = { MAX_UPLOADED_PACKAGES_PER_ACCOUNT: "1" };
  const upload = (name: string, payload = "") => rpms.send(tux, rpms.form(rpmOf(name, { payload })), { settings });

  it("that are one too many are refused, and a newer build of one is not", async () => {
    expect((await upload("a", "old")).status).toBe(200);
    const blobs = await rpms.blobCount();
    expect(await tooMany(await upload("b"))).toMatch(/at most 1 uploaded packages/);
    expect(await rpms.blobCount()).toBe(blobs);
    expect((await upload("a", "new")).status).toBe(200);
    expect(await rpms.listed(tux)).toHaveLength(1);
  });

  it("are refused before the first byte of an upload in several requests", async () => {
    expect((await upload("a")).status).toBe(200);
    const answer = await uploadsWith(settings, tux).begin({ base_system: rpms.base }, 5);
    expect(await tooMany(answer)).toMatch(/at most 1 uploaded packages/);
  });
});
