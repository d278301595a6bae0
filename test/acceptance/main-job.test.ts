import { execFileSync } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifyingCommands } from "../scripts/attestation-commands.ts";
import { typeAsRoot } from "./support/at-screen.ts";
import { downloadBuild } from "./support/download.ts";
import { modifiedIn } from "./support/modified-files.ts";
import { lookAtConsole } from "./support/page.ts";
import { newPerson, type Person } from "./support/person.ts";
import type { RunningBuild } from "./support/rest.ts";
import { openViewer, tcpWire } from "./support/rfb.ts";
import { until } from "./support/service.ts";
import { startSession, watchSession, type Session } from "./support/session.ts";
import { sharedService } from "./support/shared-service.ts";

// Follows one appliance and two users. The appliance is built, inspected, published, tried in testdrives, changed
// there, built again, compared, and unpublished. One build serves all tests, so each test starts where the previous one
// ended.

const folder = mkdtempSync(join(tmpdir(), "kiln-main-job-"));
let tux: Person;
let ada: Person;
let applianceId: string;
let first: string;
/** The builds that the API reported while the first one ran. */
let seen: RunningBuild[];
let raw: string;

beforeAll(async () => {
  const service = await sharedService("with-agent");
  [tux, ada] = [await newPerson(service, "main-job"), await newPerson(service, "ada")];
  applianceId = await clonedWithHello();
  [first, seen] = await build();
  const archive = await downloadBuild(tux, first, folder);
  execFileSync("tar", ["-xzf", archive, "-C", folder]);
  const unpacked = archive.replace(/\.tar\.gz$/, "");
  raw = join(unpacked, readdirSync(unpacked).find((name) => name.endsWith(".raw")) ?? "");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function clonedWithHello(): Promise<string> {
  const { template_sets: sets } = await tux.rest.call("GET", "/template_sets");
  const jeos = sets.template_set[0].template.find(({ name }: { name: string }) => name.includes("JeOS"));
  const params = { clone_from: jeos.appliance_id, name: "Zebra crossing", arch: "x86_64" };
  const { appliance } = await tux.rest.call("POST", "/appliances", params);
  const { success } = await tux.rest.call("POST", `/appliances/${appliance.id}/cmd/add_package`, { name: "hello" });
  expect(success.details.status.state).toBe("changed");
  expect((await tux.rest.call("GET", `/appliances/${appliance.id}/status`)).status.state).toBe("ok");
  return appliance.id;
}

async function build(): Promise<[id: string, seen: RunningBuild[]]> {
  const params = { appliance_id: applianceId, image_type: "oem" };
  const { build } = await tux.rest.call("POST", "/running_builds", params);
  const seen = await tux.rest.watchBuild(build.id, 300);
  expect(seen.at(-1)).toMatchObject({ state: "finished" });
  return [build.id, seen];
}

const imageFile = (buildId: string, path: string) =>
  tux.rest.file(`/appliances/${applianceId}/image_files`, { build_id: buildId, path });
const fileInDisk = (path: string) => execFileSync("7z", ["x", "-so", raw, path]).toString();

describe("a built appliance", () => {
  it("reported its progress honestly", () => {
    const percents = seen.map(({ percent }) => percent);
    expect(percents).toEqual(percents.toSorted((left, right) => left - right));
    expect(new Set(percents).size).toBeGreaterThan(4);
    expect(seen.some(({ message }) => /^(Downloading|Installing) software/.test(message))).toBe(true);
    expect(seen.at(-1)).toEqual({ state: "finished", percent: 100, message: "Finished" });
  });

  it("is a disk with its files, which are readable one by one", async () => {
    expect(fileInDisk("usr/share/hello/version")).toMatch(/^hello 1\.1/);
    const passwd = fileInDisk("etc/passwd");
    expect(passwd).toMatch(/^root:/);
    expect(await imageFile(first, "/etc/passwd")).toBe(passwd);
    expect(await imageFile(first, "/var/run/../etc/passwd")).toBe(passwd); // /var/run is a link to /run
    await expect(imageFile(first, "/etc")).rejects.toThrow("invalid_path");

    const { manifest } = await tux.rest.call("GET", `/appliances/${applianceId}/software/manifest/oem`);
    expect(manifest.config.image.users.user["@password"]).toMatch(/^\$6\$/);
    expect(manifest.extra_config.kiwi_version).toMatch(/^\d+\./);
  });

  it("passes the documented commands that verify its attestation", async () => {
    const { build } = await tux.rest.call("GET", `/builds/${first}`);
    const commands = verifyingCommands({ service: tux.ready.url, download: build.download_url });
    const output = execFileSync("bash", ["-e", "-c", commands], {
      cwd: mkdtempSync(join(folder, "verify-")),
    }).toString();
    expect(output).toContain("Signature Verified Successfully");
    expect(output).toContain(`${build.download_url.split("/").at(-1)}: OK`);
    expect(output).toMatch(/^hello \d/m);
  });
});

/** The path of all versions in the gallery. */
const versions = () => `/gallery/appliances/${applianceId}/version`;
let copy: string;
let published: string;

/** Everything that another user can see of the published version. */
const seenByAda = async () =>
  JSON.stringify([
    await ada.rest.call("GET", `/gallery/appliances/${applianceId}`),
    await ada.rest.call("GET", `/gallery/appliances/${applianceId}/software`, { version: "0.0.1" }),
  ]);

describe("in the gallery, it", () => {
  it("is found, rated, commented on and cloned by another user", async () => {
    expect(await tux.say("POST", `${versions()}/0.0.1`, "First *public* release & more=yes")).toContain(
      "<release_notes>First *public* release &amp; more=yes</release_notes>",
    );
    const { gallery: found } = await ada.rest.call("GET", "/gallery/appliances", { search: "zebra hello" });
    expect(found.appliances.appliance).toMatchObject({ id: applianceId, name: "Zebra crossing" });
    const { gallery: rated } = await ada.rest.call("POST", `/gallery/appliances/${applianceId}/rating`, { rating: 5 });
    expect(rated.appliance).toEqual({ ratings: "1", average_rating: "5.0" });
    await ada.say("POST", `/gallery/appliances/${applianceId}/comments`, "Works at our desk & gate");
    const params = { clone_from: applianceId, name: "Ada's crossing", arch: "x86_64" };
    copy = (await ada.rest.call("POST", "/appliances", params)).appliance.id;
    const { software } = await ada.rest.call("GET", `/appliances/${copy}/software`);
    expect(JSON.stringify(software.package)).toContain("hello");
    published = await seenByAda();
  });
});

const running = async ({ rest }: Person): Promise<{ id: string }[]> =>
  [(await rest.call("GET", "/testdrives")).testdrives.testdrive ?? []].flat();
const isOver = async ({ id }: Session) => (await running(tux)).every((other) => other.id !== id);

/** How often the agent has logged this event for the first build. */
function logged(event: string): number {
  const lines = readFileSync(join(tux.stateDir, "agent.log"), "utf8").split("\n");
  return lines.filter((line) => line.includes(` ${event} `) && new RegExp(`\\bbuildId=${first}\\b`).test(line)).length;
}

/** The first session: booted, and watched through the relay, the page and TCP, until all viewers leave. */
async function watchInAllWays(): Promise<{ session: Session; leftAt: number; endedAt: Promise<number> }> {
  const { testdrive } = await tux.rest.call("POST", "/testdrives", { build_id: first });
  const session = await watchSession(tux.stateDir, testdrive);
  const { host, port, password } = testdrive.server.vnc;
  const viaTcp = await openViewer(await tcpWire(host, Number(port)), password);
  expect((await session.viewer.frame()).colours).toBeGreaterThan(1);
  expect((await viaTcp.frame()).colours).toBeGreaterThan(1);
  expect(await running(tux)).toMatchObject([{ id: session.id, state: "running", build_id: first }]);
  await lookAtConsole(session.url);
  await until("a snapshot is made", 300, () => {
    // The agent tries again only in the next session.
    if (logged("no snapshot") > 0) throw new Error(readFileSync(join(tux.stateDir, "agent.log"), "utf8"));
    return logged("snapshot made") === 1;
  });
  session.viewer.close();
  viaTcp.close();
  const leftAt = Date.now();
  const endedAt = until("the session has ended", 90, () => isOver(session)).then(() => Date.now());
  endedAt.catch(() => {}); // handled where it is awaited
  return { session, leftAt, endedAt };
}

/** The second session: another user starts it from the snapshot of the first. */
async function tryAsAda(): Promise<void> {
  const { gallery } = await ada.rest.call("POST", `/gallery/appliances/${applianceId}/testdrive`);
  const [found] = await running(ada);
  const session = await watchSession(ada.stateDir, { id: found?.id ?? "", url: gallery.testdrive.url });
  expect((await session.viewer.frame()).colours).toBeGreaterThan(1);
  const show = "cp /etc/passwd /root/mine; cp /root/mine /dev/console";
  await typeAsRoot(session.viewer, show, () => session.serial().includes("root:x:0:0"));
  await session.stop();
}

async function expectNothingOfAda(): Promise<void> {
  const session = await startSession(tux, { build_id: first });
  const show = "cp /root/mine /dev/console; cp /etc/os-release /dev/console";
  await typeAsRoot(session.viewer, show, () => session.serial().includes("NAME="));
  expect(session.serial()).not.toContain("root:x:0:0");
  await session.stop();
}

function damageSnapshot(): void {
  const state = join(globSync(join(tux.stateDir, "agent/cache", first, "*.snapshot"))[0] ?? "", "state");
  truncateSync(state, Math.floor(statSync(state).size / 2));
}

/** Changes files in a session's machine, powers it off, and stores the changes in the appliance. */
async function changeAndKeep(session: Session): Promise<void> {
  // The mode is the last change to reach the disk.
  const change = "cp /etc/passwd /etc/motd; cp /etc/group /srv/kept; sync; chmod 4750 /srv/kept; sync";
  const hasArrived = async () => (await modifiedIn(tux, session, "/srv/kept"))[0]?.permissions === "4750";
  await typeAsRoot(session.viewer, change, hasArrived);
  const [motd] = await modifiedIn(tux, session, "/etc/motd");
  expect(motd).toMatchObject({ path: "/etc/motd", owner: "root" });
  expect(motd?.difference).toMatch(/^\+root:x:0:0:/m);
  const data = `/testdrives/${session.id}/modified_files/data`;
  expect(await tux.rest.file(data, { path: "/etc/motd" })).toBe(await tux.rest.file(data, { path: "/etc/passwd" }));

  await session.viewer.type("poweroff -f\n");
  await until("the session is over", 90, () => isOver(session));
  const disk = join(tux.stateDir, "agent", "modified", `${session.id}.qcow2`);
  await until("its disk is kept", 60, () => existsSync(disk));
  expect((await modifiedIn(tux, session, "/srv")).map(({ path, change }) => `${change} ${path}`)).toEqual([
    "added /srv/kept",
  ]);
  const answer = await tux.send("GET", `/testdrives/${session.id}/modified_files/archive?path=/srv`);
  const archive = new Uint8Array(await answer.arrayBuffer());
  const listed = execFileSync("tar", ["-tvzf", "-", "--numeric-owner"], { input: archive, encoding: "utf8" });
  expect(listed).toMatch(/^-rwsr-x--- 0\/0 .* srv\/kept\n$/);

  const keep = `/testdrives/${session.id}/modified_files/keep?path=/srv&path=/etc/motd`;
  const keptAnswer = await tux.send("POST", keep, { headers: { accept: "application/json" } });
  const kept = (await keptAnswer.json()) as { kept_files: { files: { path: string; filename: string }[] } };
  const paths = kept.kept_files.files.map(({ path, filename }) => `${path}/${filename}`);
  expect(paths).toEqual(["/etc/motd", "/srv/kept"]);
}

describe("in testdrives, it", () => {
  it("boots, resumes from snapshots, boots if one is damaged, and keeps changes", async () => {
    const watched = await watchInAllWays();
    await tryAsAda();
    await expectNothingOfAda();
    expect(logged("started from a snapshot")).toBe(2);

    damageSnapshot();
    const fourth = await startSession(tux, { build_id: first });
    expect(logged("snapshot not used")).toBe(1);
    expect((await fourth.viewer.frame()).colours).toBeGreaterThan(1);
    await changeAndKeep(fourth);

    // The testdrive has ended by now, a minute after the last viewer left.
    expect(((await watched.endedAt) - watched.leftAt) / 1000).toBeGreaterThan(55);
    await until("QEMU is gone", 60, () => !existsSync(watched.session.dir));
  });
});

const difference = () => `/builds/${first}/difference`;

describe("the second build, without a package and with the kept files,", () => {
  let second: string;

  beforeAll(async () => {
    await tux.rest.call("POST", `/appliances/${applianceId}/cmd/remove_package`, { name: "hello" });
    [second] = await build();
  });

  it("contains the kept files", async () => {
    expect(await imageFile(second, "/srv/kept")).toMatch(/^root:x:0:/);
    expect(await imageFile(second, "/etc/motd")).toMatch(/^root:x:0:0:/);
  });

  it("is compared with the published version, which is unchanged", async () => {
    expect(await seenByAda()).toBe(published);
    const params = { to: second, path: "/usr/share/hello" };
    const { difference: told } = await tux.rest.call("GET", difference(), params);
    const removed = [told.packages.package].flat().find(({ name }: { name: string }) => name === "hello");
    const from = { version: "1.1-1", license: expect.stringMatching(/\S/) };
    expect(removed).toMatchObject({ change: "removed", from });
    const files = [told.files.file].flat() as { change: string; path: string; from: object }[];
    expect(files.every(({ change }) => change === "removed")).toBe(true);
    expect(files.find(({ path }) => path === "/usr/share/hello/version")?.from).toMatchObject({
      type: "file",
      owner: "root",
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const whole = await tux.rest.call("GET", difference(), { to: second, limit: 1000 });
    const changed = [whole["difference"].files.file].flat().map(({ path }: { path: string }) => path);
    expect(changed).toEqual(expect.arrayContaining(["/usr/share/hello/version", "/srv/kept"]));
    expect(changed).not.toContain("/etc/passwd");
  });

  it("is published with its changes, then both versions are unpublished", async () => {
    await expect(ada.rest.call("GET", difference(), { to: second })).rejects.toThrow("invalid_build_id");
    const answer = await tux.send("GET", `${versions()}/0.0.2/release_notes_draft`, {
      headers: { accept: "text/plain" },
    });
    const draft = await answer.text();
    expect(draft).toMatch(/^[A-Z][a-z]+ .*\.$/m);
    expect(draft).toMatch(/^Removes .*hello.*\.$/m);

    await tux.say("POST", `${versions()}/0.0.2`, draft);
    expect((await ada.rest.call("GET", difference(), { to: second }))["difference"].from.build_id).toBe(first);
    for (const version of ["0.0.1", "0.0.2"]) await tux.rest.call("DELETE", `${versions()}/${version}`);
    await expect(ada.rest.call("GET", `/gallery/appliances/${applianceId}`)).rejects.toThrow("access_denied");
    expect((await ada.rest.call("GET", `/appliances/${copy}`)).appliance.name).toBe("Ada's crossing");
  });
});
