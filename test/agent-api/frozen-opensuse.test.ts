/**
 * The catalogues of openSUSE. The packages only have the real ones' names, because tests cannot reach any repository of
 * openSUSE.
 */
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { BuildClaimAnswer, TestdriveClaimAnswer, type RootAbilities } from "#lib/contract/index";
import { importRepository } from "#domain/repositories/import";
import { Catalogue } from "#model/catalogue";
import { openDatabase } from "#storage/db";
import { appliances } from "#storage/schema";
import { findRepository, listByCatalogue } from "#storage/repositories";
import { operate, signedIn, type Client } from "../support/client.ts";
import { startBuild } from "../support/factories.ts";
import { capabilities, fakeAgent } from "../support/fake-agent.ts";
import { mirrorOf, rpmMd } from "../support/mirror.ts";
import { bootableBuild, claimTestdrive, until } from "../support/testdrives.ts";
import { readXml } from "../support/xml.ts";
import { leap15, leap16, tumbleweed } from "../support/catalogues.ts";

const db = openDatabase(env);
type File = typeof leap15;

const templatesOf = ({ sets }: Catalogue) => sets.flatMap(({ templates }) => templates);

/** Loads a catalogue whose mirrors have each package that its templates name. */
async function load(file: File, cpeId: string): Promise<Catalogue> {
  const catalogue = Catalogue.parse(file);
  const templates = templatesOf(catalogue);
  expect(await (await operate("PUT", `/catalogues/${file.name}`, file)).json()).toEqual({
    templates: templates.length,
  });
  const names = new Set([
    ...templates.flatMap(({ packages }) => packages),
    ...Object.values(catalogue.baseSystem.needs).flat(),
    ...(catalogue.baseSystem.bootstrap ?? []),
  ]);
  const [first = "", ...others] = catalogue.repositories.map(({ url }) => url);
  const files = {
    [first]: rpmMd(
      [...names].map((name) => `${name}-1-1`),
      { cpeId },
    ),
    ...Object.fromEntries(others.map((url) => [url, rpmMd(["update-1-1"])])),
  };
  for (const { id } of await listByCatalogue(db, file.name)) {
    await importRepository({ env, db }, id, mirrorOf(files));
    expect((await findRepository(db, id))?.problem).toBeNull();
  }
  return catalogue;
}

const root: RootAbilities = {
  name: "debian-sid",
  sha256: "d".repeat(64),
  builder: "11.1.6",
  imageTypes: ["oem"],
  packageTypes: ["rpm", "deb"],
};

/**
 * Claims with the builder root that these base systems name, until the claim returns this build. Without a build, it
 * only announces the root.
 */
async function claimInRoot(buildId?: number) {
  const agent = await fakeAgent();
  for (;;) {
    const answer = await agent.call("POST", "/builds/claim", {
      json: { capabilities: { ...capabilities, roots: [root] } },
    });
    const claim = BuildClaimAnswer.parse(await answer.json()).build;
    if (claim && claim.buildId === buildId) return claim.input;
    if (!claim && buildId === undefined) return undefined;
    if (!claim) throw new Error(`build ${buildId} is not handed out`);
  }
}

/** The frozen input of a build of a new clone. */
async function frozenInput(tux: Client, template: number) {
  await claimInRoot();
  const { id } = await clone(tux, template);
  const input = await claimInRoot(Number(await startBuild(tux, Number(id))));
  return input ?? expect.fail("it was not claimed");
}

async function clone(tux: Client, template: number) {
  return (await readXml(await tux.post("/appliances", { clone_from: template }))).appliance;
}

describe.each<[string, File, string, string]>([
  ["Leap 16.0", leap16, "cpe:/o:opensuse:leap:16.0", "Leap"],
  ["Leap 15.6", leap15, "cpe:/o:opensuse:leap:15.6", "Leap"],
  ["Tumbleweed", tumbleweed, "cpe:/o:opensuse:opensuse:20261120", "openSUSE"],
])("the catalogue of openSUSE %s", (_, file, cpeId, product) => {
  it("resolves each template with the packages it names, for the one architecture that there is", async () => {
    const catalogue = await load(file, cpeId);
    const tux = await signedIn();
    await claimInRoot();

    for (const { applianceId } of templatesOf(catalogue)) {
      const { id, arch } = await clone(tux, applianceId);
      const { status } = await readXml(await tux.get(`/appliances/${id}/status`));
      expect([arch, status.state, status.issues]).toEqual(["x86_64", "ok", expect.anything()]);
    }
  });

  it("freezes the format of its package database, its product and what a build needs", async () => {
    const catalogue = await load(file, cpeId);
    const tux = await signedIn();
    const input = await frozenInput(tux, templatesOf(catalogue)[0]?.applianceId ?? 0);

    expect(input).toMatchObject({
      builderRoot: "debian-sid",
      rpmDatabase: "ndb",
      builderNeeds: { memoryMb: 3072, diskGb: 24 },
    });
    expect(input.description["config.sh"]).toMatch(
      new RegExp(`^set_base_product\\(\\) {[^]*^'set_base_product' '${product}'$`, "m"),
    );
    expect(input.description["config.xml"]).toMatch(
      /<packages type="bootstrap">[^]*name="filesystem"[^]*<packages type="image">/,
    );
  });
});

const urlsOf = async (cpeId: string) => {
  const { sets } = await load(tumbleweed, cpeId);
  const tux = await signedIn();
  const { repositories } = await frozenInput(tux, sets[0]?.templates[0]?.applianceId ?? 0);
  return repositories.map(({ url, snapshotUrl }) => [url, snapshotUrl]);
};

describe("a snapshot of Tumbleweed", () => {
  const now = "https://download.opensuse.org/tumbleweed/repo/oss";
  const updates = ["https://download.opensuse.org/update/tumbleweed", undefined];

  it("is found by the name of the distribution in the index, and frozen", async () => {
    expect(await urlsOf("cpe:/o:opensuse:opensuse:20261121")).toEqual([
      [now, "https://download.opensuse.org/history/20261121/tumbleweed/repo/oss"],
      updates,
    ]);
  });

  it("is not frozen if the index names none, or something that is no snapshot", async () => {
    for (const cpeId of ["cpe:/o:opensuse:opensuse:../../etc", "cpe:/o:opensuse:opensuse:2026"])
      expect(await urlsOf(cpeId)).toEqual([[now, undefined], updates]);
  });
});

it("gives a testdrive the memory that the base system needs", async () => {
  await load(leap16, "cpe:/o:opensuse:leap:16.0");
  const tux = await signedIn();
  const { id, applianceId } = await bootableBuild(tux); // of 512 MB
  await db.update(appliances).set({ baseSystem: leap16.baseSystem.name }).where(eq(appliances.id, applianceId));

  const started = tux.post("/testdrives", { build_id: id });
  const claim = await until(
    async () => TestdriveClaimAnswer.parse(await (await claimTestdrive()).json()).testdrive ?? undefined,
  );

  expect([claim.memoryMb, (await started).status]).toEqual([1024, 200]);
});

const [repository] = leap16.repositories;
const urls = (arches: string[]) =>
  Catalogue.parse({ ...leap16, repositories: [{ ...repository, arches }] }).repositories.map(({ url }) => url);

describe("a url with $basearch", () => {
  it("is for one architecture", () => {
    expect(urls(["x86_64"])).toEqual(["https://download.opensuse.org/distribution/leap/16.0/repo/oss/x86_64"]);
    expect(urls(["i586"])).toEqual(["https://download.opensuse.org/distribution/leap/16.0/repo/oss/i386"]);
    expect(() => urls(["x86_64", "i586"])).toThrow("give each its own repository");
  });
});
