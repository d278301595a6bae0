import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { coloursOnScreen, inBrowser } from "./support/page.ts";
import { restClient, type RestClient, type RunningBuild } from "./support/rest.ts";
import { openViewer, relayWire, tcpWire } from "./support/rfb.ts";
import { startService, until, type Service } from "./support/service.ts";
import { verifyingCommands } from "../scripts/attestation-commands.ts";

let service: Service;
let tux: RestClient;
const downloads = mkdtempSync(join(tmpdir(), "kiln-downloads-"));

beforeAll(async () => {
  service = await startService();
  tux = restClient(service.ready());
});

afterAll(async () => {
  await service.stop();
  rmSync(downloads, { recursive: true, force: true });
});

async function clonedWithHello(): Promise<string> {
  const { template_sets: sets } = await tux.call("GET", "/template_sets");
  const jeos = sets.template_set[0].template.find(({ name }: { name: string }) => name.includes("JeOS"));
  const { appliance } = await tux.call("POST", "/appliances", { clone_from: jeos.appliance_id, arch: "x86_64" });
  const { success } = await tux.call("POST", `/appliances/${appliance.id}/cmd/add_package`, { name: "hello" });
  expect(success.details.status.state).toBe("changed");
  expect((await tux.call("GET", `/appliances/${appliance.id}/status`)).status.state).toBe("ok");
  return appliance.id;
}

async function startBuild(applianceId: string, imageType: string): Promise<string> {
  const params = { appliance_id: applianceId, image_type: imageType };
  return (await tux.call("POST", "/running_builds", params)).build.id;
}

async function download(applianceId: string): Promise<string> {
  const { builds } = await tux.call("GET", "/builds", { appliance_id: applianceId });
  const [build] = [builds.build].flat();
  const file = join(downloads, build.download_url.split("/").at(-1));
  const answer = await fetch(build.download_url);
  expect(answer.status).toBe(200);
  if (!answer.body) throw new Error("the download has no body");
  await pipeline(answer.body, createWriteStream(file));
  const md5 = createHash("md5");
  await pipeline(createReadStream(file), md5);
  expect(md5.digest("hex")).toBe(build.checksum.md5);
  return file;
}

function expectHonestProgress(seen: RunningBuild[]) {
  const percents = seen.map(({ percent }) => percent);
  expect(percents).toEqual(percents.toSorted((left, right) => left - right));
  expect(new Set(percents).size).toBeGreaterThan(4);
  expect(seen.some(({ message }) => /^(Downloading|Installing) software/.test(message))).toBe(true);
  expect(seen.at(-1)).toEqual({ state: "finished", percent: 100, message: "Finished" });
}

/** Files of the image come back one by one, as they are in it, and the manifest tells what it was made from. */
async function expectReadable(applianceId: string, buildId: string, raw: string) {
  const inImage = (path: string) => tux.file(`/appliances/${applianceId}/image_files`, { build_id: buildId, path });
  const passwd = fileInDisk(raw, "etc/passwd");
  expect(passwd).toMatch(/^root:/);
  expect(await inImage("/etc/passwd")).toBe(passwd);
  expect(await inImage("/var/run/../etc/passwd")).toBe(passwd); // /var/run is a link to /run
  await expect(inImage("/etc")).rejects.toThrow("invalid_path");

  const { manifest } = await tux.call("GET", `/appliances/${applianceId}/software/manifest/oem`);
  expect(manifest.config.image.users.user["@password"]).toMatch(/^\$6\$/);
  expect(manifest.extra_config.kiwi_version).toMatch(/^\d+\./);
}

/** The commands of the page on attestations find that this service signed the image, and what is in it. */
async function expectVerifiable(buildId: string) {
  const { url } = service.ready();
  const { build } = await tux.call("GET", `/builds/${buildId}`);
  const commands = verifyingCommands({ service: url, download: build.download_url });
  const said = execFileSync("bash", ["-e", "-c", commands], {
    cwd: mkdtempSync(join(downloads, "verify-")),
  }).toString();
  expect(said).toContain("Signature Verified Successfully");
  expect(said).toContain(`${build.download_url.split("/").at(-1)}: OK`);
  expect(said).toMatch(/^hello \d/m);
}

/** Boots the build, looks at it through the relay and through TCP, and answers when it showed a login prompt. */
async function testdrive(buildId: string) {
  const { testdrive: session } = await tux.call("POST", "/testdrives", { build_id: buildId });
  const { host, port, password } = session.server.vnc;
  const viaRelay = await until("the relay is open", 60, () =>
    relayWire(`${session.url.replace(/^http/, "ws")}/socket`)
      .then((wire) => openViewer(wire))
      .catch(() => undefined),
  );
  const viaTcp = await openViewer(await tcpWire(host, Number(port)), password);
  const serial = join(service.stateDir, "agent", "testdrives", session.id, "serial.log");
  await until("the serial console asks for a login", 300, () =>
    existsSync(serial) ? /login: ?$/m.test(readFileSync(serial, "utf8")) : false,
  );
  return { session, viaRelay, viaTcp };
}

/** What a person sees; with KILN_SCREENSHOT the picture is kept there, as the README shows it. */
async function lookAtPage(url: string) {
  await inBrowser(url, async (page) => {
    await page.getByText("Connected", { exact: true }).first().waitFor();
    await until("the page shows a picture", 20, async () => (await coloursOnScreen(page)) > 1);
    const path = process.env["KILN_SCREENSHOT"];
    if (path) await page.screenshot({ path });
  });
}

const running = async () => [(await tux.call("GET", "/testdrives")).testdrives.testdrive ?? []].flat();

describe("an appliance as a disk image", () => {
  it("is cloned, changed, built, downloaded, and booted in a testdrive that ends a minute after its last viewer", async () => {
    const id = await clonedWithHello();
    const buildId = await startBuild(id, "oem");
    expectHonestProgress(await tux.watchBuild(buildId, 300));

    const archive = await download(id);
    execFileSync("tar", ["-xzf", archive, "-C", downloads]);
    const folder = archive.replace(/\.tar\.gz$/, "");
    const raw = join(folder, readdirSync(folder).find((name) => name.endsWith(".raw")) ?? "");
    expect(fileInDisk(raw, "usr/share/hello/version")).toMatch(/^hello 1\.1/);

    await expectReadable(id, buildId, raw);
    await expectVerifiable(buildId);
    const { session, viaRelay, viaTcp } = await testdrive(buildId);
    expect((await viaRelay.frame()).colours).toBeGreaterThan(1);
    expect((await viaTcp.frame()).colours).toBeGreaterThan(1);
    expect(await running()).toMatchObject([{ id: session.id, state: "running", build_id: buildId }]);

    await lookAtPage(session.url);

    viaRelay.close();
    viaTcp.close();
    const leftAt = Date.now();
    await until("the session has ended", 90, async () => (await running()).length === 0);
    expect((Date.now() - leftAt) / 1000).toBeGreaterThan(55);
    await until("QEMU is gone", 60, () => !existsSync(join(service.stateDir, "agent", "testdrives", session.id)));
  });
});

describe("an appliance as a live medium", () => {
  it("is built as iso, downloaded and booted", async () => {
    const id = await clonedWithHello();
    const buildId = await startBuild(id, "iso");
    expectHonestProgress(await tux.watchBuild(buildId, 400));

    const iso = await download(id);
    expect(fileInMedium(iso, "usr/share/hello/version")).toMatch(/^hello 1\.1/);

    const { viaRelay, viaTcp } = await testdrive(buildId);
    expect((await viaRelay.frame()).colours).toBeGreaterThan(1);
    viaRelay.close();
    viaTcp.close();
  });
});

const untilKiwiRuns = (buildId: string) =>
  until("KIWI is at work", 120, async () => {
    const { running_build: build } = await tux.call("GET", `/running_builds/${buildId}`);
    return build.state === "running" && /^(Downloading|Installing) software|^Configuring|^Creating/.test(build.message);
  });

const workDirs = () => join(service.stateDir, "agent", "work");

function expectCleanHost() {
  expect(readFileSync("/proc/self/mounts", "utf8")).not.toContain(service.stateDir);
  expect(execFileSync("losetup", ["--list", "--output", "BACK-FILE"]).toString()).not.toContain(service.stateDir);
}

describe("a build in the middle", () => {
  it("is cancelled within seconds and leaves nothing on the host", async () => {
    const id = await clonedWithHello();
    const buildId = await startBuild(id, "oem");
    await untilKiwiRuns(buildId);
    expect(readdirSync(workDirs())).toHaveLength(1);

    await tux.call("DELETE", `/running_builds/${buildId}`);

    const { running_build: build } = await tux.call("GET", `/running_builds/${buildId}`);
    expect(build.state).toBe("cancelled");
    await until("the work directory is gone", 60, () => readdirSync(workDirs()).length === 0);
    expectCleanHost();
  });

  it("is finished by the next agent when the first one is killed", async () => {
    const id = await clonedWithHello();
    const buildId = await startBuild(id, "oem");
    await untilKiwiRuns(buildId);
    const first = service.ready().agent_pid;
    if (first === null) throw new Error("there is no agent");

    process.kill(first, "SIGKILL");

    await until("there is a new agent", 30, () => service.ready().agent_pid !== first);
    const seen = await tux.watchBuild(buildId, 300);
    expect(seen.at(-1)).toMatchObject({ state: "finished", percent: 100 });
    expectCleanHost();
  });

  it("does not begin while a package does not exist, and says so", async () => {
    const id = await clonedWithHello();
    const { success } = await tux.call("POST", `/appliances/${id}/cmd/add_package`, { name: "no-such-package" });
    expect(success.details.status.state).toBe("broken");

    const refused = tux.call("POST", "/running_builds", { appliance_id: id, image_type: "oem" });

    await expect(refused).rejects.toThrow(/configuration_error.*no-such-package/);
  });
});

const fileInDisk = (image: string, path: string) => execFileSync("7z", ["x", "-so", image, path]).toString();

function fileInMedium(iso: string, path: string): string {
  const out = join(downloads, "medium");
  execFileSync("7z", ["x", "-y", `-o${out}`, iso, "LiveOS/squashfs.img"], { stdio: "ignore" });
  execFileSync("unsquashfs", ["-f", "-d", join(out, "root"), join(out, "LiveOS", "squashfs.img")], { stdio: "ignore" });
  return execFileSync("debugfs", ["-R", `cat /${path}`, join(out, "root", "LiveOS", "rootfs.img")]).toString();
}
