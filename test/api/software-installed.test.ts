import { beforeAll, describe, expect, it } from "vitest";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn } from "../support/client.ts";
import { createBuild } from "../support/factories.ts";
import { tinyRepository } from "../support/repositories.ts";
import { cloned } from "../support/software.ts";
import { expectError, readXml } from "../support/xml.ts";

beforeAll(loadTemplates);

describe("GET software/installed", () => {
  it("shows the next build's packages by repository, with checksums and patterns", async () => {
    const tux = await signedIn();
    const id = await cloned(tux);
    await tux.post(`/appliances/${id}/cmd/add_package`, { name: "hello" });

    const { software_map: map } = await readXml(await tux.get(`/appliances/${id}/software/installed`));

    expect([map["@type"], map["@appliance_id"]]).toEqual(["array", id]);
    const [main, updates] = map.repository;
    expect(main).toMatchObject({
      "@id": String(await tinyRepository("main")),
      "@name": "Tiny Linux 1.0 main",
      "@base_url": expect.stringMatching(/^https:\/\/[^/]+\/repositories\/tiny\/main$/),
    });
    expect(main.software.pattern).toEqual({ "@arch": "noarch", "@version": "1.0-1", "#text": "base" });
    expect(main.software.package.map((one: Record<string, string>) => one["#text"])).toContain("kernel-default");
    expect(updates.software).toEqual({
      "@type": "array",
      package: ["hello", "libgreet"].map((name) => ({
        "@arch": "noarch",
        "@checksum": "0".repeat(64),
        "@version": "1.1-1",
        "@checksum_type": "SHA256",
        "#text": name,
      })),
    });
  });

  it("shows nothing while the software cannot be resolved", async () => {
    const tux = await signedIn();
    const id = await cloned(tux);
    await tux.post(`/appliances/${id}/cmd/add_package`, { name: "no-such-package" });

    const answer = await tux.get(`/appliances/${id}/software/installed`);

    expect(await answer.text()).toBe(`<software_map type="array" appliance_id="${id}">\n</software_map>\n`);
  });

  it("shows what rpm reported in a build, despite later changes", async () => {
    const tux = await signedIn();
    const installed = [
      { name: "busybox", version: "1.35.0", release: "1", arch: "x86_64" },
      { name: "stranger", version: "1", release: "1", arch: "noarch" },
    ];
    const { applianceId, buildId } = await createBuild(tux, undefined, { installed });
    await tux.post(`/appliances/${applianceId}/cmd/remove_pattern`, { name: "base" });

    const { software_map: map } = await readXml(
      await tux.get(`/appliances/${applianceId}/software/installed?build_id=${buildId}`),
    );

    const [main, none] = map.repository;
    expect(main["@name"]).toBe("Tiny Linux 1.0 main");
    expect(main.software.package).toEqual({
      "@arch": "x86_64",
      "@checksum": "0".repeat(64),
      "@version": "1.35.0-1",
      "@checksum_type": "SHA256",
      "#text": "busybox",
    });
    expect(none).toEqual({
      "@name": "none of the repositories",
      "@id": "0",
      software: { "@type": "array", package: { "@arch": "noarch", "@version": "1-1", "#text": "stranger" } },
    });
  });

  it("refuses unfinished builds and those of other accounts", async () => {
    const tux = await signedIn();
    const { applianceId } = await createBuild(tux);
    const other = await cloned(tux);
    const others = await createBuild(await signedIn());
    const { build } = await readXml(await tux.post("/running_builds", { appliance_id: other }));
    const ask = (id: number | string, build: number | string) =>
      tux.get(`/appliances/${id}/software/installed?build_id=${build}`);

    await expectError(await ask(applianceId, others.buildId), 400, "invalid_build_id");
    await expectError(await ask(other, build.id), 400, "build_not_found");
  });
});
