import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openDatabase } from "#storage/db";
import { appliances, repositories } from "#storage/schema";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, type Client } from "../support/client.ts";
import { createSafeAppliance } from "../support/factories.ts";
import { stockTinyLinux, tinyRepository } from "../support/repositories.ts";
import { expectError, readXml } from "../support/xml.ts";

const db = openDatabase(env);
let tux: Client;

beforeAll(loadTemplates);
beforeEach(async () => void (tux = await signedIn()));

interface ShownIssue {
  type: string;
  text: string;
  solution?: { type: string; package: string };
}

/** The status with its issues as a list. */
async function statusOf(id: number): Promise<{ state: string; issues: ShownIssue[] }> {
  const { status } = await readXml(await tux.get(`/appliances/${id}/status`));
  return { state: status.state, issues: [status.issues.issue ?? []].flat() };
}

const add = (id: number, params: Record<string, string | number>) =>
  tux.post(`/appliances/${id}/cmd/add_package`, params);

describe("GET appliances/<id>/status", () => {
  it("shows libsolv's problem and proposals, and refuses a build with it", async () => {
    const id = await createSafeAppliance(tux);
    await add(id, { name: "broken-dep" });

    const { state, issues } = await statusOf(id);

    expect(state).toBe("error");
    expect(issues).toEqual([
      {
        type: "error",
        text: "nothing provides does-not-exist >= 7 needed by broken-dep-1.0-1.noarch (possible: do not ask to install broken-dep)",
      },
    ]);
    const refused = await expectError(
      await tux.post("/running_builds", { appliance_id: id }),
      400,
      "configuration_error",
    );
    expect(refused).toBe(issues[0]?.text);
  });

  it("proposes a package without its pin if no version fits", async () => {
    const id = await createSafeAppliance(tux);
    await add(id, { name: "hello", version: "9.9" });

    const { issues } = await statusOf(id);
    expect(issues).toMatchObject([{ type: "error", solution: { type: "install", package: "hello" } }]);
    await add(id, { name: issues[0]?.solution?.package ?? "" });

    expect(await statusOf(id)).toEqual({ state: "ok", issues: [] });
  });

  it("shows both of two problems", async () => {
    const id = await createSafeAppliance(tux);
    await add(id, { name: "broken-dep" });
    await add(id, { name: "no-such-package" });

    const { issues } = await statusOf(id);

    expect(issues.map(({ text }) => /broken-dep|no-such-package/.exec(text)?.[0]).toSorted()).toEqual([
      "broken-dep",
      "no-such-package",
    ]);
  });

  it("accepts a kernel that another package requires", async () => {
    const id = await createSafeAppliance(tux);
    await tux.post(`/appliances/${id}/cmd/remove_pattern`, { name: "base" });
    await add(id, { name: "grub2" });
    await add(id, { name: "patterns-tiny-base" });

    expect(await statusOf(id)).toEqual({ state: "ok", issues: [] });
  });

  it("reports only a boot loader if only that is missing", async () => {
    const id = await createSafeAppliance(tux);
    await tux.post(`/appliances/${id}/cmd/remove_pattern`, { name: "base" });
    await add(id, { name: "kernel-default" });

    expect((await statusOf(id)).issues).toEqual([
      { type: "error", text: "No boot loader is selected.", solution: { type: "install", package: "grub2" } },
    ]);
  });

  it("reports software that exceeds the disk, but not on media", async () => {
    const id = await createSafeAppliance(tux);
    const row = await db.query.appliances.findFirst({ where: eq(appliances.id, id) });
    if (!row) throw new Error("no appliance");
    const { configuration } = row;
    const small = { ...configuration, settings: { ...configuration.settings, diskSizeMb: 299 } };
    await db.update(appliances).set({ configuration: small }).where(eq(appliances.id, id));

    const disk = await statusOf(id);
    await db.update(appliances).set({ imageType: "iso" }).where(eq(appliances.id, id));

    expect(disk).toEqual({
      state: "error",
      issues: [{ type: "error", text: "The software needs 301 MB, but the disk has only 299 MB." }],
    });
    expect(await statusOf(id)).toEqual({ state: "ok", issues: [] });
  });

  it("checks the requested image type when a build starts", async () => {
    const id = await createSafeAppliance(tux);
    await tux.post(`/appliances/${id}/cmd/ban_package`, { name: "syslinux" });

    expect((await statusOf(id)).state).toBe("ok");
    const asked = { appliance_id: id, image_type: "iso" };
    const message = await expectError(await tux.post("/running_builds", asked), 400, "configuration_error");
    expect(message).toContain("syslinux");
  });
});

/** Changes the stored repository `updates`. */
const change = async (to: Partial<typeof repositories.$inferInsert>) =>
  db
    .update(repositories)
    .set(to)
    .where(eq(repositories.id, await tinyRepository("updates")));

describe("a repository in the status", () => {
  beforeEach(stockTinyLinux);

  it("that is not imported yet blocks the appliance", async () => {
    const id = await createSafeAppliance(tux);
    await change({ revision: null, importState: "importing" });

    expect(await statusOf(id)).toEqual({
      state: "error",
      issues: [{ type: "error", text: "The repository Tiny Linux 1.0 updates is still being imported." }],
    });
    const { success } = await readXml(await add(id, { name: "hello" }));
    expect(success.details.status).toEqual({ state: "broken", packages_added: "0", packages_removed: "0" });
  });

  it("that could not be imported shows the reason", async () => {
    const id = await createSafeAppliance(tux);
    await change({ revision: null, importState: "failed", problem: "repomd.xml is missing." });

    expect((await statusOf(id)).issues).toEqual([
      { type: "error", text: "The repository Tiny Linux 1.0 updates could not be imported: repomd.xml is missing." },
    ]);
  });

  it("that could not be refreshed is a warning, and its packages remain", async () => {
    const id = await createSafeAppliance(tux);
    await change({ problem: "The mirror does not answer." });

    expect(await statusOf(id)).toEqual({
      state: "ok",
      issues: [
        {
          type: "warning",
          text: "The repository Tiny Linux 1.0 updates could not be refreshed, so its last known contents are used: The mirror does not answer.",
        },
      ],
    });
  });

  it("is an error if none is for the architecture, unless one is still unknown", async () => {
    const id = await createSafeAppliance(tux);
    const main = await tinyRepository("main");
    const text = "None of the appliance's repositories has packages for i586.";
    await db.update(appliances).set({ arch: "i586" }).where(eq(appliances.id, id));
    await db
      .update(repositories)
      .set({ arches: ["x86_64"] })
      .where(eq(repositories.id, main));
    await change({ arches: ["x86_64"] });
    expect((await statusOf(id)).issues).toContainEqual({ type: "error", text });

    await change({ revision: null, importState: "importing" });
    expect((await statusOf(id)).issues).not.toContainEqual({ type: "error", text });
  });
});
