import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { inputKey } from "#storage/blobs";
import { findAnyBuild } from "#storage/builds";
import { openDatabase } from "#storage/db";
import { signedIn, type Client } from "../support/client.ts";
import signingKey from "../fixtures/repodata/signed/tiny.key?raw";
import { fakeAgent } from "../support/fake-agent.ts";
import { createAppliance, createBuild, startBuild } from "../support/factories.ts";
import { uploadFile } from "../support/files.ts";
import { expectError, readXml } from "../support/xml.ts";

let tux: Client;
beforeEach(async () => {
  tux = await signedIn();
});

const pathOf = (applianceId: number, rest = "oem") => `/appliances/${applianceId}/software/manifest/${rest}`;

const manifestOf = async (applianceId: number, rest?: string) =>
  (await readXml(await tux.get(pathOf(applianceId, rest)))).manifest;

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("GET software/manifest", () => {
  it("contains the build's KIWI description and what that cannot express", async () => {
    const { applianceId } = await createBuild(tux);
    const { appliance } = await readXml(await tux.get(`/appliances/${applianceId}`));

    const answer = await tux.get(pathOf(applianceId));
    const text = await answer.clone().text();
    const { manifest } = await readXml(answer);

    expect(text.startsWith('<?xml version="1.0" encoding="UTF-8"?>\n<manifest>\n  <studio_uuid>')).toBe(true);
    expect(answer.headers.get("content-length")).toBe(String(new TextEncoder().encode(text).byteLength));
    expect(Object.keys(manifest)).toEqual(["studio_uuid", "appliance_uuid", "config", "extra_config"]);
    expect(manifest.studio_uuid).toMatch(uuid);
    expect(manifest.appliance_uuid).toBe(appliance.uuid);
    expect(manifest.config.image).toMatchObject({
      "@schemaversion": "7.5",
      "@name": "Kiosk",
      preferences: { version: "0.0.1", packagemanager: "zypper", type: { "@image": "oem" } },
      users: { user: { "@name": "root", "@pwdformat": "encrypted" } },
    });
    expect(manifest.extra_config).toMatchObject({
      kiwi_version: "9.24.56",
      arch: "x86_64",
      version: "0.0.1",
      base_system: appliance.basesystem,
      image_type: "oem",
      network: { "@config": "dhcp" },
      firewall: { firewall_enabled: "true", ssh: "true", http: "false", webyast: "false" },
      gpg_keys: "",
    });
    expect(manifest.extra_config.estimated_size).toMatch(/^\d+ MB$/);
    expect(manifest.extra_config.repository).toContainEqual(
      expect.objectContaining({ source: { "@path": expect.stringMatching(/^https:\/\/kiln\.test\/repositories\//) } }),
    );
  });

  it("lists the files and keys in the image", async () => {
    const applianceId = await createAppliance(tux);
    await uploadFile(tux, applianceId, "port = 7000\n", { name: "counter.conf", query: { path: "/etc" } });
    await uploadFile(tux, applianceId, "left out", { query: { enabled: "false" } });
    await tux.post(`/appliances/${applianceId}/gpg_keys`, { name: "repo signing", target: "rpm", key: signingKey });
    await (await fakeAgent()).buildsSuccessfully(await startBuild(tux, applianceId));

    const { extra_config: extra } = await manifestOf(applianceId);

    expect(extra.overlay_files.file).toMatchObject({
      path: "/etc/counter.conf",
      permissions: "644",
      owner: "nobody",
      group: "nobody",
      size: "12",
    });
    expect(extra.gpg_keys.gpg_key).toMatchObject({ "@name": "repo signing", "@target": "rpm" });
    expect(JSON.stringify(extra.gpg_keys)).toContain("BEGIN PGP PUBLIC KEY BLOCK");
  });

  it("shows passwords only as SHA-512 hashes", async () => {
    const { applianceId } = await createBuild(tux);

    const text = await (await tux.get(pathOf(applianceId))).text();

    const passwords = [...text.matchAll(/ (?:password|pwd)="([^"]*)"/g)].map(([, password]) => password);
    expect(passwords).toEqual([expect.stringMatching(/^\$6\$/)]);
    expect(text).not.toContain("<password>");
  });

  it("is of the type's newest build, or of the requested version", async () => {
    const { applianceId, agent } = await createBuild(tux);
    await agent.buildsSuccessfully(await startBuild(tux, applianceId));
    const [newest, first] = [await manifestOf(applianceId), await manifestOf(applianceId, "oem?version=0.0.1")];

    expect(newest.config.image.preferences.version).toBe("0.0.2");
    expect(first.config.image.preferences.version).toBe("0.0.1");
    expect(first.studio_uuid).not.toBe(newest.studio_uuid);
    expect((await manifestOf(applianceId)).studio_uuid).toBe(newest.studio_uuid);
  });

  it("refuses types and versions that were not built, and lists builds", async () => {
    const { applianceId, agent } = await createBuild(tux);
    await agent.buildsSuccessfully(await startBuild(tux, applianceId, { image_type: "iso" }));

    for (const type of ["floppy", "vmx", "__proto__", "iso?version=0.0.1"]) {
      const message = await expectError(await tux.get(pathOf(applianceId, type)), 400, "invalid_image_type");
      expect(message).toContain("oem");
    }
    await expectError(await tux.get(pathOf(await createAppliance(tux))), 400, "invalid_image_type");
  });

  it("is missing for a failed build", async () => {
    const { applianceId, agent } = await createBuild(tux);
    const failed = await agent.claimsBuild(await startBuild(tux, applianceId));
    await failed.call("fail", { kind: "failed", reason: "Problem: no" });

    await expectError(await tux.get(pathOf(applianceId, "oem?version=0.0.2")), 400, "invalid_version");
  });

  it("reports that its source no longer exists", async () => {
    const { applianceId, buildId } = await createBuild(tux);
    await env.BLOBS.delete(inputKey((await findAnyBuild(openDatabase(env), buildId))?.inputSha256 ?? ""));

    await expectError(await tux.get(pathOf(applianceId)), 400, "build_not_found");
  });
});
