import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, openAsBlob, readdirSync, readFileSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { restClient, type RestClient } from "./support/rest.ts";
import { openViewer, tcpWire } from "./support/rfb.ts";
import { buildRpm } from "./support/rpm.ts";
import { startService, until, type Service } from "./support/service.ts";

let service: Service;
let tux: RestClient;
const folder = mkdtempSync(join(tmpdir(), "kiln-software-"));

beforeAll(async () => {
  service = await startService();
  tux = restClient(service.ready());
});

afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function upload(rpm: string, baseSystem: string): Promise<void> {
  const { url, username, api_key: apiKey } = service.ready();
  const body = new FormData();
  body.set("file", await openAsBlob(rpm), "own-note-1.0-1.noarch.rpm");
  const authorization = `Basic ${Buffer.from(`${username}:${apiKey}`).toString("base64")}`;
  const answer = await fetch(`${url}/api/v2/user/rpms?base_system=${baseSystem}`, {
    method: "POST",
    headers: { authorization },
    body,
  });
  expect(`${answer.status} ${await answer.text()}`).toMatch(/^200 <rpm>/);
}

async function unpacked(applianceId: string): Promise<string> {
  const { builds } = await tux.call("GET", "/builds", { appliance_id: applianceId });
  const archive = join(folder, "image.tar.gz");
  await writeFile(archive, new Uint8Array(await (await fetch(builds.build.download_url)).arrayBuffer()));
  execFileSync("tar", ["-xzf", archive, "-C", folder, "--strip-components=1"]);
  return join(folder, readdirSync(folder).find((name) => name.endsWith(".raw")) ?? "");
}

/** Boots the build, logs in at its screen, and reads a file there: to the serial console, whose words we can read. */
async function readInGuest(buildId: string, path: string, expected: string): Promise<void> {
  const { testdrive: session } = await tux.call("POST", "/testdrives", { build_id: buildId });
  const { host, port, password } = session.server.vnc;
  const log = join(service.stateDir, "agent", "testdrives", session.id, "serial.log");
  const serial = () => (existsSync(log) ? readFileSync(log, "utf8") : "");
  await until("the guest asks for a login", 120, () => /login: ?$/m.test(serial()));
  expect(serial()).not.toContain(expected);
  const viewer = await openViewer(await tcpWire(host, Number(port)), password);
  // A login prompt takes its time for each answer; on a busy host longer than we wait, and then once more.
  await until(`the guest shows ${path}`, 90, async () => {
    for (const line of ["root", "linux", `dd if=${path} of=/dev/ttyS0`]) {
      await viewer.type(`${line}\n`);
      await sleep(2000);
    }
    return serial().includes(expected);
  });
  viewer.close();
}

const status = async (applianceId: string) => (await tux.call("GET", `/appliances/${applianceId}/status`)).status.state;

describe("a package of one's own", () => {
  it("is uploaded, resolved with the others, built into an image exactly as resolved, and is there when that boots", async () => {
    const { appliance } = await tux.call("POST", "/appliances", { clone_from: 1, arch: "x86_64" });
    await upload(buildRpm(folder, "own-note"), appliance.basesystem);

    await tux.call("POST", `/appliances/${appliance.id}/cmd/add_user_repository`);
    const { success } = await tux.call("POST", `/appliances/${appliance.id}/cmd/add_package`, { name: "own-note" });
    expect(success.details.status.state).toBe("changed");
    expect(await status(appliance.id)).toBe("ok");

    const { build } = await tux.call("POST", "/running_builds", { appliance_id: appliance.id, image_type: "oem" });
    const seen = await tux.watchBuild(build.id, 300);
    expect(seen.at(-1)).toMatchObject({ state: "finished", message: "Finished" });

    const disk = await unpacked(appliance.id);
    const note = execFileSync("7z", ["x", "-so", disk, "usr/share/own-note/note"]).toString();
    expect(note).toBe("made by own-note\n");
    await expectSameSoftware(appliance.id, build.id);
    await readInGuest(build.id, "/usr/share/own-note/note", "made by own-note");
  });
});

/** What rpm reported in the image is what was resolved; and the dependency came along from another repository. */
async function expectSameSoftware(applianceId: string, buildId: string): Promise<void> {
  const path = `/appliances/${applianceId}/software/installed`;
  const resolved = packagesOf((await tux.call("GET", path)).software_map);
  const installed = packagesOf((await tux.call("GET", path, { build_id: buildId })).software_map);
  expect(installed).toEqual(resolved);
  expect(installed).toContain("own-note 1.0-1");
  expect(installed).toContain("hello 1.1-1");
}

type Listed = { repository: { software: { package: { "#text": string; "@version": string } | unknown[] } }[] };

const packagesOf = (map: Listed): string[] =>
  [map.repository]
    .flat()
    .flatMap(({ software }) => [software.package].flat() as { "#text": string; "@version": string }[])
    .map((one) => `${one["#text"]} ${one["@version"]}`)
    .toSorted();
