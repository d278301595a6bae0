import { beforeAll, describe, expect, it } from "vitest";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn } from "../support/client.ts";
import { rpmOf } from "../support/packages.ts";
import { base, blobCount, expectNothingLeft, form, listed, pair, send, uploaded } from "../support/rpm-uploads.ts";
import { expectError, readXml } from "../support/xml.ts";

beforeAll(loadTemplates);

describe("GET /rpms", () => {
  it("lists the account's uploads of a base system, named only there", async () => {
    const tux = await signedIn();
    const rpm = await uploaded(send(tux, form(rpmOf("a"))));
    const { base_system: _, ...entry } = rpm;
    const document = await readXml(await tux.get(`/rpms?base_system=${base}`));
    expect(document.rpms).toEqual({ "@type": "array", "@base_system": base, rpm: entry });
  });

  it("is an empty list without uploads, in both versions", async () => {
    const tux = await signedIn();
    for (const client of [tux, tux.on("v1")]) {
      const document = await readXml(await client.get(`/rpms?base_system=${base}`));
      expect(document.rpms).toEqual({ "@type": "array", "@base_system": base });
    }
  });

  it("shows nothing of other accounts", async () => {
    const [tux, rhea] = [await signedIn(), await signedIn()];
    await uploaded(send(tux, form(rpmOf("a"))));
    expect((await readXml(await rhea.get(`/rpms?base_system=${base}`))).rpms.rpm).toBeUndefined();
  });
});

describe("one upload", () => {
  it("is shown and returned byte for byte", async () => {
    const tux = await signedIn();
    const file = rpmOf("a");
    const rpm = await uploaded(send(tux, form(file, { name: "a.rpm" })));
    expect((await readXml(await tux.get(`/rpms/${rpm.id}/`))).rpm).toEqual(rpm);
    const data = await tux.get(`/rpms/${rpm.id}/data`);
    expect(data.headers.get("content-type")).toBe("application/x-rpm");
    expect(data.headers.get("content-disposition")).toBe('attachment; filename="a.rpm"');
    expect(new Uint8Array(await data.arrayBuffer())).toEqual(file);
    const part = await tux.get(`/rpms/${rpm.id}/data`, { headers: { range: "bytes=0-3" } });
    expect(new Uint8Array(await part.arrayBuffer())).toEqual(file.slice(0, 4));
  });

  it("can get new content under its id", async () => {
    const tux = await signedIn();
    const { id } = await uploaded(send(tux, form(rpmOf("a"))));
    const blobs = await blobCount();
    const changed = await uploaded(
      send(tux, form(rpmOf("b"), { name: "b.rpm" }), { method: "PUT", path: `/rpms/${id}` }),
    );
    expect(changed).toMatchObject({ id, filename: "b.rpm" });
    expect(await listed(tux)).toEqual(["b-0:1.0-1.noarch"]);
    expect(await blobCount()).toBe(blobs);
  });

  it("can become the package of another upload, which it replaces", async () => {
    const tux = await signedIn();
    const { id } = await uploaded(send(tux, form(rpmOf("a"))));
    const other = await uploaded(send(tux, form(rpmOf("b"))));
    await uploaded(send(tux, form(rpmOf("b", { payload: "new" })), { method: "PUT", path: `/rpms/${id}` }));
    expect(await listed(tux)).toEqual(["b-0:1.0-1.noarch"]);
    await expectError(await tux.get(`/rpms/${other.id}`), 404, "invalid_rpm_id");
  });

  it("is unchanged if its new content is refused", async () => {
    const tux = await signedIn();
    const rpm = await uploaded(send(tux, form(rpmOf("a"))));
    const path = `/rpms/${rpm.id}`;
    const blobs = await blobCount();
    await expectError(await send(tux, form(new Uint8Array(5)), { method: "PUT", path }), 400, "invalid_file");
    await expectError(await send(tux, null, { method: "PUT", path }), 400, "missing_parameter");
    expect((await readXml(await tux.get(path))).rpm).toEqual(rpm);
    expect(await blobCount()).toBe(blobs);
  });

  it("is deleted completely", async () => {
    const tux = await signedIn();
    const blobs = await blobCount();
    const { id } = await uploaded(send(tux, form(await pair())));
    expect(await blobCount()).toBe(blobs + 4);
    expect(await (await tux.delete(`/rpms/${id}`)).text()).toBe("<success></success>\n");
    await expectError(await tux.get(`/rpms/${id}`), 404, "invalid_rpm_id");
    await expectError(await tux.delete(`/rpms/${id}`), 404, "invalid_rpm_id");
    await expectNothingLeft(tux, blobs);
  });
});
