import { expect, vi } from "vitest";
import tinyKey from "../../fixtures/repodata/signed/tiny.key?raw";
import { loadTemplates } from "../../support/catalogue.ts";
import { signedIn, type Client } from "../../support/client.ts";
import { createAppliance, createBuild, startBuild } from "../../support/factories.ts";
import { webhookIds } from "../../support/events.ts";
import { fileStoreOf } from "../../support/file-store.ts";
import { uploadFile } from "../../support/files.ts";
import { publishedAppliance } from "../../support/gallery.ts";
import { mirrorOf, rpmMd } from "../../support/mirror.ts";
import { rpmOf } from "../../support/packages.ts";
import { tinyRepository } from "../../support/repositories.ts";
import { bootableBuild, endedTestdrive } from "../../support/testdrives.ts";
import { sessionOf } from "../../support/browser.ts";
import { tokenOf } from "../../support/tokens.ts";
import { patienceMs } from "../../support/patience.ts";
import { readXml } from "../../support/xml.ts";
import { sent } from "./send.ts";
import { announced } from "./uploads.ts";
import type { Sent } from "./row.ts";

/** An account, and the ids of everything that it owns. */
export interface Sample {
  tux: Client;
  ids: Record<string, string | number>;
}

export const mirrorUrl = "http://mirror.example.org/perl";
/** The URL of a file on the web. */
export const webUrl = `${mirrorUrl}/repodata/repomd.xml`;

/** Loads the templates, and a mirror for the calls that fetch files. Needed once, before the first sample. */
export async function prepareSamples(): Promise<void> {
  await loadTemplates();
  const packages = rpmMd(["perl-DBI-1.6"]);
  const mirror = mirrorOf({ [mirrorUrl]: packages, [`${mirrorUrl}-too`]: packages });
  vi.spyOn(globalThis, "fetch").mockImplementation((to) => mirror.fetchOutside(String(to)));
}

/** Makes an account with one of everything. */
export async function makeSample(): Promise<Sample> {
  const tux = await signedIn();
  const { applianceId: appliance, buildId: build } = await createBuild(tux, undefined, {
    store: fileStoreOf({ "/etc/hostname": "kiosk" }),
  });
  const { buildId: otherBuild } = await createBuild(tux, undefined, {
    installed: [{ name: "hello", version: "1.1", release: "1", arch: "noarch", license: "MIT" }],
    store: fileStoreOf({ "/etc/hostname": "desk", "/etc/a": "a", "/etc/b": { link: "/etc/a" } }),
  });
  const running = await startBuild(tux, await createAppliance(tux));
  const { applianceId: published, buildId: publishedBuild } = await publishedAppliance(tux);
  const { id: bootable } = await bootableBuild(tux);
  const ids = {
    appliance,
    build,
    otherBuild,
    running,
    bootable,
    testdrive: await endedTestdrive(tux, bootable),
    published,
    publishedBuild,
    file: (await uploadFile(tux, appliance, "hello")).id,
    key: await madeId(tux, "POST", `/appliances/${appliance}/gpg_keys?name=Tiny&target=rpm`, { file: tinyKey }),
    tinyMain: await tinyRepository("main"),
    rpm: await madeId(tux, "POST", "/rpms?base_system=tiny-1.0", { file: rpmOf("counter") }),
    repository: await madeId(tux, "POST", `/repositories?url=${mirrorUrl}&name=Perl`),
    ...(await webhookIds(tux)),
    schematic: await madeId(tux, "POST", "/schematics", {
      xml: `<definition><base_system>tiny-1.0</base_system><name>Sample of ${tux.username}</name></definition>`,
    }),
    token: (await tokenOf(tux)).id,
    session: String((await sessionOf(tux)).id),
    upload: await madeId(tux, "POST", `/uploads?appliance_id=${appliance}&filename=big`, announced),
  };
  await examined(tux);
  return { tux, ids };
}

/**
 * Waits until all appliances have been examined. A request for their overview starts the examination, and its answer
 * changes until that is complete.
 */
async function examined(tux: Client): Promise<void> {
  const look = async () => expect(await (await tux.get("/overview")).text()).not.toContain("<state>unknown");
  await vi.waitFor(look, patienceMs);
}

/** Returns the id of the object that a call has created. */
export async function madeId(tux: Client, method: string, path: string, body?: Sent): Promise<string> {
  const document = await readXml(await sent({ method, path, body, credentials: tux }));
  const [made] = Object.values(document);
  if (made.id === undefined) throw new Error(`${method} ${path}: ${JSON.stringify(document)}`);
  return made.id;
}
