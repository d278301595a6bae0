import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { attemptHeader } from "#lib/contract/index";
import { openDatabase } from "#storage/db";
import { findUserRepository } from "#storage/repositories";
import { listRpms } from "#storage/rpms";
import { loadTemplates } from "../support/catalogue.ts";
import { type Client, signedIn } from "../support/client.ts";
import { debOf, packedByXz } from "../support/deb-package.ts";
import { loadDebian } from "../support/debian.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { fakeAgent } from "../support/fake-agent.ts";
import { rpmOf } from "../support/packages.ts";
import { blobCount, form, send, tarOf, uploaded } from "../support/rpm-uploads.ts";
import { expectError, readXml } from "../support/xml.ts";

const db = openDatabase(env);
const path = "/rpms?base_system=debian-test";
beforeAll(async () => {
  await loadTemplates();
  await loadDebian();
});

const stored = async (tux: Client) =>
  (await listRpms(db, tux.accountId, "debian-test")).flatMap(({ packages }) => packages);

/** An appliance of Debian with the account's own packages. */
async function applianceOf(tux: Client): Promise<number> {
  const id = await createAppliance(tux, { clone_from: 900 });
  await readXml(await tux.post(`/appliances/${id}/cmd/add_user_repository`));
  return id;
}

describe("POST /rpms for a base system of Debian", () => {
  it("takes a Debian package, whose document has the same shape", async () => {
    const tux = await signedIn();
    const file = await debOf("tool 1:1.0-2 amd64");
    const rpm = await uploaded(send(tux, file, { path }));
    expect(rpm).toEqual({
      id: expect.stringMatching(/^\d+$/),
      filename: "tool_1.0-2_amd64.deb",
      size: String(file.byteLength),
      archive: "false",
      base_system: "debian-test",
      checksum: { "@type": "md5", "#text": expect.stringMatching(/^[0-9a-f]{32}$/) },
    });
    const data = await tux.get(`/rpms/${rpm.id}/data`);
    expect(data.headers.get("content-type")).toBe("application/vnd.debian.binary-package");
    expect(new Uint8Array(await data.arrayBuffer())).toEqual(file);
  });

  it("replaces the same package, and puts others beside it", async () => {
    const tux = await signedIn();
    const first = await uploaded(send(tux, await debOf("tool 1.0-2"), { path }));
    const again = await uploaded(send(tux, await debOf("tool 1.0-2", "built again"), { path }));
    await uploaded(send(tux, await debOf("tool 1.0-3"), { path }));
    expect(again.id).toBe(first.id);
    expect((await stored(tux)).map(({ nevra }) => nevra)).toEqual(["tool-0:1.0-2.all", "tool-0:1.0-3.all"]);
  });

  it("takes one that is compressed by xz, alone and in a tarball with an RPM", async () => {
    const tux = await signedIn();
    await uploaded(send(tux, packedByXz(), { path }));
    const tar = await tarOf({ "x/packed.deb": packedByXz(), "other.deb": await debOf("other 1"), "a.rpm": rpmOf("a") });
    expect(await uploaded(send(tux, form(tar, { name: "all.tar" }), { path }))).toMatchObject({ archive: "true" });
    const packed = { nevra: "packed-1:2.0~rc1-3.all", fileName: "packed_2.0~rc1-3_all.deb" };
    const others = [{ nevra: "other-0:1.all" }, { nevra: "a-0:1.0-1.noarch" }];
    expect(await stored(tux)).toMatchObject([packed, packed, ...others]);
    expect(await findUserRepository(db, tux.accountId, "debian-test")).toMatchObject({
      type: "deb",
      packageCount: 2,
      importState: "ready",
      problem: null,
    });
  });

  it("refuses RPMs, and a base system of RPMs refuses Debian packages", async () => {
    const tux = await signedIn();
    const blobs = await blobCount();
    expect(await expectError(await send(tux, rpmOf("a"), { path }), 400, "invalid_file")).toBe(
      "This is an RPM, but Debian Test needs Debian packages (.deb). Upload a package of that type, or pass another base_system.",
    );
    expect(await expectError(await send(tux, await debOf("a 1")), 400, "invalid_file")).toBe(
      "This is a Debian package, but Tiny Linux 1.0 needs RPMs. Upload a package of that type, or pass another base_system.",
    );
    const { id } = await uploaded(send(tux, await debOf("kept 1"), { path }));
    const replaced = await send(tux, rpmOf("a"), { method: "PUT", path: `/rpms/${id}` });
    await expectError(replaced, 400, "invalid_file");
    await uploaded(send(tux, await debOf("kept 1"), { method: "PUT", path: `/rpms/${id}` }));
    await tux.delete(`/rpms/${id}`);
    expect(await blobCount()).toBe(blobs);
  });

  it("refuses a damaged one with the reason, and stores no part of it", async () => {
    const tux = await signedIn();
    const blobs = await blobCount();
    const cut = (await debOf("a 1")).slice(0, -10);
    expect(await expectError(await send(tux, cut, { path }), 400, "invalid_file")).toBe(
      "Only RPMs, Debian packages and tarballs of them may be uploaded: not a valid Debian package: it ends too early.",
    );
    expect(await blobCount()).toBe(blobs);
  });
});

describe("an uploaded Debian package", () => {
  it("is resolved with what it depends on, and frozen with its checksum and its paragraph", async () => {
    const tux = await signedIn();
    const file = await debOf("site 1.0-2; Depends: apache2 (>= 2.4), packed; Section: web; Filename: /etc/passwd");
    await uploaded(send(tux, file, { path }));
    await uploaded(send(tux, packedByXz(), { path }));
    const id = await applianceOf(tux);
    const added = await readXml(await tux.post(`/appliances/${id}/cmd/add_package`, { name: "site" }));
    expect(added.success.details.status).toMatchObject({ state: "changed", packages_added: "3" });

    const agent = await fakeAgent();
    const { claim } = await agent.claimsBuild(await startBuild(tux, id));
    const site = claim.input.packages.find(({ name }) => name === "site") ?? expect.fail("it is not frozen");
    const repository = claim.input.repositories.find(({ alias }) => alias === site.repository);
    expect(repository).toMatchObject({ url: expect.stringMatching(/^service:\/user\//), trust: null });
    expect(site).toMatchObject({ version: "1.0", release: "2", arch: "all", size: file.byteLength });
    expect(site.control).toBe(
      "Package: site\nVersion: 1.0-2\nArchitecture: all\nDepends: apache2 (>= 2.4), packed\nSection: web\n",
    );
    const headers = { [attemptHeader]: claim.token };
    const fetched = await agent.call("GET", `/builds/${claim.buildId}/${site.location}`, { headers });
    expect(new Uint8Array(await fetched.arrayBuffer())).toEqual(file);
  });

  it("breaks the appliance if nothing has what it depends on", async () => {
    const tux = await signedIn();
    await uploaded(send(tux, await debOf("needy 1; Depends: not-in-debian"), { path }));
    const id = await applianceOf(tux);
    const answer = await readXml(await tux.post(`/appliances/${id}/cmd/add_package`, { name: "needy" }));
    expect(answer.success.details.status.state).toBe("broken");
    expect(await (await tux.get(`/appliances/${id}/status`)).text()).toContain("not-in-debian");
  });

  it("is gone from the repository after it is deleted, which stays", async () => {
    const tux = await signedIn();
    const { id } = await uploaded(send(tux, await debOf("a 1"), { path }));
    await tux.delete(`/rpms/${id}`);
    expect(await findUserRepository(db, tux.accountId, "debian-test")).toMatchObject({
      type: "deb",
      packageCount: 0,
      importState: "ready",
      problem: null,
    });
  });
});
