/** The packages of an image for which newer versions exist. */
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";
import { installedKey } from "#storage/blobs";
import { openDatabase } from "#storage/db";
import { maxVersions, savePackages } from "#storage/packages";
import { repositories } from "#storage/schema";
import { signedIn, type Client } from "../support/client.ts";
import { loadDebian } from "../support/debian.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { fakeAgent } from "../support/fake-agent.ts";
import { expectError, readXml } from "../support/xml.ts";

const deb = (name: string, version: string, release: string, more: { epoch?: string; arch?: string } = {}) => ({
  name,
  version,
  release,
  arch: "amd64",
  ...more,
});

const installed = [
  deb("base-files", "12.4+deb12u12", ""),
  deb("apache2", "2.4.65", "1~deb12u1"),
  deb("grub-pc", "2.06", "13+deb12u1"),
  deb("dracut", "059", "4", { epoch: "1" }),
  deb("own-tool", "1.0", ""),
];

/** A version of the package that the query returns first. */
const oldVersion = (_: unknown, nth: number) => ({
  name: "base-files",
  epoch: 0,
  version: `1.${nth}`,
  release: "",
  arch: "amd64",
  summary: "",
  description: "",
  sizeBytes: 1,
  installedBytes: 1,
});

let tux: Client;
let mirror: Awaited<ReturnType<typeof loadDebian>>;
let applianceId: number;
let buildId: number;
let uid: string;
beforeEach(async () => {
  tux = await signedIn();
  await createAppliance(tux); // loads the templates
  mirror = await loadDebian();
  applianceId = await createAppliance(tux, { clone_from: 900 });
  buildId = await startBuild(tux, applianceId);
  ({ uid } = await (await fakeAgent()).buildsSuccessfully(buildId, undefined, { installed }));
});

const path = () => `/builds/${buildId}/updates`;
const json = { headers: { accept: "application/json" } };
const updates = async (who = tux) => ((await (await who.get(path(), json)).json()) as { updates: unknown }).updates;

describe("the updates of a build", () => {
  it("are none while the repositories have nothing newer", async () => {
    expect(await updates()).toMatchObject({ build_id: buildId, newer: 0, security: 0, unlisted: 1, packages: [] });
  });

  it("appear when a mirror publishes them, and name those of the security suite", async () => {
    await mirror.publish({
      main: ["base-files 12.4+deb12u13", "grub-pc 2.06-13+deb12u1~bpo1", "dracut 060-1"],
      security: ["apache2 2.4.66-1~deb12u1"],
    });

    expect(await updates()).toMatchObject({
      newer: 2,
      security: 1,
      unlisted: 1,
      packages: [
        {
          name: "apache2",
          arch: "amd64",
          installed: "2.4.65-1~deb12u1",
          available: "2.4.66-1~deb12u1",
          security: true,
          repository: "Debian Test, security",
        },
        { name: "base-files", available: "12.4+deb12u13", security: false, repository: "Debian Test" },
      ],
      repositories: [
        { name: "Debian Test", state: "current" },
        { name: "Debian Test, security", state: "current" },
      ],
    });
    const { updates: asXml } = await readXml(await tux.get(path()));
    expect(asXml).toMatchObject({ newer: "2", security: "1" });
    expect(asXml.packages["@type"]).toBe("array");
    expect(asXml.packages.package.map(({ name }: { name: string }) => name)).toEqual(["apache2", "base-files"]);
  });

  it("say which repositories are not known, or could not be refreshed", async () => {
    const db = openDatabase(env);
    const change = (name: string, to: Partial<typeof repositories.$inferInsert>) =>
      db.update(repositories).set(to).where(eq(repositories.name, name));
    await change("Debian Test", { problem: "the mirror does not answer" });
    await change("Debian Test, security", { revision: null, importId: null, parts: [] });

    expect(await updates()).toMatchObject({
      repositories: [
        { name: "Debian Test", state: "stale" },
        { name: "Debian Test, security", state: "unknown" },
      ],
    });
  });

  it("are those of the repositories that the appliance has now", async () => {
    await mirror.publish({ security: ["apache2 2.4.66-1~deb12u1"] });
    const { repositories: all } = await readXml(await tux.get(`/appliances/${applianceId}/repositories`));
    const security = all.repository.find(({ name }: { name: string }) => name === "Debian Test, security");
    await tux.post(`/appliances/${applianceId}/cmd/remove_repository`, { repo_id: security.id });

    expect(await updates()).toMatchObject({ newer: 0, security: 0, repositories: [{ name: "Debian Test" }] });
  });

  it("are complete if a repository has very many versions of a name", async () => {
    await mirror.publish({ security: ["apache2 2.4.66-1~deb12u1"] });
    const db = openDatabase(env);
    const main = await db.query.repositories.findFirst({ where: eq(repositories.name, "Debian Test") });
    await savePackages(db, main?.importId ?? "", Array.from({ length: maxVersions + 1 }, oldVersion));

    expect(await updates()).toMatchObject({ packages: [{ name: "apache2", available: "2.4.66-1~deb12u1" }] });
  });

  it("are compared again only after a repository has changed", async () => {
    await mirror.publish({ security: ["apache2 2.4.66-1~deb12u1"] });
    const first = await updates();
    await env.BLOBS.delete(installedKey(uid)); // nothing can be compared now

    expect(await updates()).toEqual(first);

    await mirror.publish({ security: ["apache2 2.4.67-1~deb12u1"] });
    await expectError(await tux.get(path()), 400, "build_not_found");
  });

  it("are not known for a build without an image", async () => {
    const cancelled = await startBuild(tux, applianceId);
    await tux.delete(`/running_builds/${cancelled}`);
    await expectError(await tux.get(`/builds/${cancelled}/updates`), 400, "build_not_found");

    await env.BLOBS.delete(installedKey(uid));
    await expectError(await tux.get(path()), 400, "build_not_found");
  });
});
