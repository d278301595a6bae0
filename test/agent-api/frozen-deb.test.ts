/** A build on a base system of deb packages, as its agent receives it. */
import { expect, it } from "vitest";
import { evr } from "#lib/contract/index";
import { signedIn } from "../support/client.ts";
import { debianUrl, loadDebian } from "../support/debian.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { configure } from "../support/gallery.ts";
import { fakeAgent } from "../support/fake-agent.ts";
import { expectError, readXml } from "../support/xml.ts";

it("is refused while no builder installs deb, and the status names what they lack", async () => {
  await loadDebian();
  const agent = await fakeAgent();
  await agent.hello({ packageTypes: ["rpm"], noDeb: "debootstrap" });
  const tux = await signedIn();
  const id = await createAppliance(tux, { clone_from: 900 });

  const { status } = await readXml(await tux.get(`/appliances/${id}/status`));
  const refused = await tux.post("/running_builds", { appliance_id: id, force: "true" });

  const text = "No builder of this service can build systems from deb packages. They lack: debootstrap.";
  expect([status.issues.issue].flat()).toContainEqual({ type: "error", text });
  expect(await expectError(refused, 400, "configuration_error")).toBe(text);
});

it("has the type of its packages, their versions in full, and their paragraphs", async () => {
  await loadDebian();
  const tux = await signedIn();
  const applianceId = await createAppliance(tux, { clone_from: 900 });
  const added = await readXml(
    await tux.post(`/appliances/${applianceId}/cmd/add_pattern`, { name: "task-web-server" }),
  );
  expect(added.success.details.status).toMatchObject({ state: "changed", packages_added: "2" });
  const { claim } = await (await fakeAgent()).claimsBuild(await startBuild(tux, applianceId));

  const { input } = claim;
  expect(input).toMatchObject({ packageType: "deb", patterns: [{ name: "task-web-server", version: "3.73" }] });
  expect(input.debRelease).toBe("test");
  expect(input.description["config.xml"]).toContain('distribution="test"');
  expect(input.description["root/etc/apt/sources.list"]).toBe(
    `deb ${debianUrl} test main\ndeb ${debianUrl} test-security main\n`,
  );
  expect(input.repositories[0]).toMatchObject({ url: debianUrl, trust: { index: "dists/test/InRelease" } });
  expect(Object.fromEntries(input.packages.map((one) => [one.name, evr(one)]))).toEqual({
    apache2: "2.4.65-1~deb12u1",
    "base-files": "12.4+deb12u12",
    "grub-pc": "2.06-13+deb12u1",
    "initramfs-tools": "0.142",
    "linux-image-amd64": "6.1.158-1",
    "task-web-server": "3.73",
  });
  expect(input.packages.find(({ name }) => name === "apache2")).toMatchObject({
    arch: "amd64",
    location: "pool/main/a/apache2/apache2_2.4.65-1~deb12u1_amd64.deb",
    size: 1234,
    checksum: { type: "sha256" },
    control: [
      "Package: apache2",
      "Version: 2.4.65-1~deb12u1",
      "Installed-Size: 24",
      "Architecture: amd64",
      "Pre-Depends: base-files",
      "Conflicts: apache",
      "Section: misc",
      "Priority: optional",
      "",
    ].join("\n"),
  });
  expect(input.packages.find(({ name }) => name === "base-files")?.control).toContain("\nEssential: yes\n");
});

it("updates itself if its appliance says so, with the packages for it", async () => {
  await loadDebian();
  const tux = await signedIn();
  const applianceId = await createAppliance(tux, { clone_from: 900 });
  const settings = "<automatic_updates>security</automatic_updates><updates_reboot_at>04:00</updates_reboot_at>";
  await configure(tux, applianceId, `<settings>${settings}</settings>`);
  const { claim } = await (await fakeAgent()).claimsBuild(await startBuild(tux, applianceId));

  expect(claim.input.packages.map(({ name }) => name)).toContain("unattended-upgrades");
  const text = claim.input.description["root/etc/apt/apt.conf.d/95kiln-updates"];
  expect(text).toContain('{\n  "codename=test-security";\n}');
  expect(text).toContain('Reboot-Time "04:00";');
});

it("shows the packages of its base system in the search, and no rpms", async () => {
  const tux = await signedIn();
  const applianceId = await createAppliance(tux, { clone_from: 900 });
  const answer = await tux.get(`/appliances/${applianceId}/software/search?q=apache&all_repos=true`);
  const text = await answer.text();
  expect(text).toContain('version="2.4.62-1~deb12u2"');
  expect(text).not.toContain("tiny");
});

it("is cloned for x86_64, if its base system has no i686", async () => {
  const tux = await signedIn();
  const { appliance } = await readXml(await tux.post("/appliances", { clone_from: 900 }));

  expect(appliance.arch).toBe("x86_64");
});
