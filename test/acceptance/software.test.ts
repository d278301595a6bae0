import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, openAsBlob, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { typeAsRoot } from "./support/at-screen.ts";
import { downloadDisk, type Disk } from "./support/disk.ts";
import { serveFiles } from "./support/local-build.ts";
import { restClient, type RestClient } from "./support/rest.ts";
import { openViewer, tcpWire } from "./support/rfb.ts";
import { buildRpm } from "./support/rpm.ts";
import { startService, until, type Service } from "./support/service.ts";

// One appliance with software from everywhere: built once, read in the image, booted once.

const folder = mkdtempSync(join(tmpdir(), "kiln-software-"));
let elsewhere: Awaited<ReturnType<typeof serveFiles>>;
let service: Service;
let tux: RestClient;
let applianceId: string;
let buildId: string;
let disk: Disk;
/** What the appliance would have without a ban. */
let unbanned: Listed[];

beforeAll(async () => {
  elsewhere = await foreignRepository();
  service = await startService(["--allow-host", new URL(elsewhere.url).host]);
  tux = restClient(service.ready());
  const { appliance } = await tux.call("POST", "/appliances", { clone_from: 1, arch: "x86_64" });
  applianceId = appliance.id;
  await upload(buildRpm(folder, "own-note"), appliance.basesystem);
  await select();
  const { build } = await tux.call("POST", "/running_builds", { appliance_id: applianceId, image_type: "oem" });
  buildId = build.id;
  const seen = await tux.watchBuild(buildId, 300);
  expect(seen.at(-1)).toMatchObject({ state: "finished", message: "Finished" });
  const { builds } = await tux.call("GET", "/builds", { appliance_id: applianceId });
  disk = await downloadDisk(builds.build.download_url, folder);
});

afterAll(async () => {
  await service.stop();
  elsewhere[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** A repository of somebody else, on a web server of his. */
async function foreignRepository(): ReturnType<typeof serveFiles> {
  const place = join(folder, "elsewhere");
  buildRpm(place, "foreign-note");
  execFileSync("createrepo_c", ["--quiet", join(place, "out")]);
  return await serveFiles(join(place, "out"));
}

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

/** A package of one's own, one of a repository of one's own, and a pattern that needs a web server, but not the one it would get. */
async function select(): Promise<void> {
  const change = (verb: string, params: Record<string, string> = {}) =>
    tux.call("POST", `/appliances/${applianceId}/cmd/${verb}`, params);
  const { repository } = await tux.call("POST", "/repositories", { url: elsewhere.url, name: "Elsewhere" });
  await change("add_repository", { repo_id: repository.id });
  await change("add_package", { name: "foreign-note", repository_id: repository.id });
  await change("add_user_repository");
  const { success } = await change("add_package", { name: "own-note" });
  expect(success.details.status.state).toBe("changed");
  await change("add_pattern", { name: "web" });
  unbanned = await listed();
  await change("ban_package", { name: "webdemo-pro" });
  expect((await tux.call("GET", `/appliances/${applianceId}/status`)).status.state).toBe("ok");
}

interface Listed {
  repository: string;
  /** Name and version. */
  software: string;
}

/** What the next build will install, or what a build has installed. */
async function listed(params: { build_id?: string } = {}): Promise<Listed[]> {
  const { software_map: map } = await tux.call("GET", `/appliances/${applianceId}/software/installed`, params);
  return [map.repository]
    .flat()
    .flatMap(({ "@name": repository, software }) =>
      [software.package].flat().map((one) => ({ repository, software: `${one["#text"]} ${one["@version"]}` })),
    )
    .toSorted((one, other) => one.software.localeCompare(other.software));
}

const names = (of: readonly Listed[]): string[] => of.map(({ software }) => software.split(" ")[0] ?? "").toSorted();

/** Name and version of all packages in the database that rpm has left in the image. */
function inDatabase(): string[] {
  const query = ["--dbpath", disk.extract("/usr/lib/sysimage/rpm"), "-qa", "--qf", "%{NAME} %{VERSION}-%{RELEASE}\n"];
  const all = execFileSync("rpm", query, { encoding: "utf8" }).trim().split("\n");
  return all.filter((one) => !one.startsWith("gpg-pubkey ")).toSorted((one, other) => one.localeCompare(other));
}

describe("the software of an image", () => {
  it("is what was resolved, to the package, as rpm reports it and as its database has it", async () => {
    const installed = await listed({ build_id: buildId });
    expect(installed).toEqual(await listed());
    expect(installed.map(({ software }) => software)).toEqual(inDatabase());
    // The dependency of the own package, from a repository of the distribution.
    expect(installed.map(({ software }) => software)).toContain("hello 1.1-1");
  });

  it("has the package of one's own", async () => {
    expect(disk.read("/usr/share/own-note/note")).toBe("made by own-note\n");
    expect((await listed({ build_id: buildId })).map(({ software }) => software)).toContain("own-note 1.0-1");
  });

  it("has the package out of a repository that the user imported, and says where it came from", async () => {
    expect(disk.read("/usr/share/foreign-note/note")).toBe("made by foreign-note\n");
    expect(await listed({ build_id: buildId })).toContainEqual({
      repository: "Elsewhere",
      software: "foreign-note 1.0-1",
    });
  });

  it("lacks what is banned, and has another package in its place for what needs it", async () => {
    expect(names(unbanned)).toContain("webdemo-pro");
    expect(disk.read("/usr/share/webdemo-pro/version")).toBe("");
    expect(disk.read("/usr/share/webdemo/version")).toBe("webdemo 2.3-1\n");
    const others = names(unbanned).filter((name) => name !== "webdemo-pro");
    expect(names(await listed({ build_id: buildId }))).toEqual([...others, "webdemo"].toSorted());
  });

  it("is there when the image boots", async () => {
    await readInGuest("/usr/share/own-note/note", "made by own-note");
  });
});

/** Boots the build, logs in at its screen, and reads a file there: to the serial console, whose words we can read. */
async function readInGuest(path: string, expected: string): Promise<void> {
  const { testdrive: session } = await tux.call("POST", "/testdrives", { build_id: buildId });
  const { host, port, password } = session.server.vnc;
  const log = join(service.stateDir, "agent", "testdrives", session.id, "serial.log");
  const serial = () => (existsSync(log) ? readFileSync(log, "utf8") : "");
  // Without a viewer a session is over after a minute.
  const viewer = await openViewer(await tcpWire(host, Number(port)), password);
  await until("the guest asks for a login", 300, () => /login: ?$/m.test(serial()));
  expect(serial()).not.toContain(expected);
  await typeAsRoot(viewer, `dd if=${path} of=/dev/ttyS0`, () => serial().includes(expected));
  viewer.close();
}
