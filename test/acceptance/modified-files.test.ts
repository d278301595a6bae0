import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { typeAsRoot } from "./support/at-screen.ts";
import { restClient, type RestClient } from "./support/rest.ts";
import { openViewer, relayWire, type Viewer } from "./support/rfb.ts";
import { startService, until, type Service } from "./support/service.ts";

// What somebody does in a testdrive becomes part of the appliance: changed by hand, listed, kept, built again.

let service: Service;
let tux: RestClient;
const folder = mkdtempSync(join(tmpdir(), "kiln-modified-"));

beforeAll(async () => {
  service = await startService();
  tux = restClient(service.ready());
});

afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function build(applianceId: string, more: Record<string, string> = {}): Promise<string> {
  const params = { appliance_id: applianceId, image_type: "oem", ...more };
  const { build } = await tux.call("POST", "/running_builds", params);
  expect((await tux.watchBuild(build.id, 300)).at(-1)).toMatchObject({ state: "finished" });
  return build.id;
}

interface Session {
  id: string;
  viewer: Viewer;
}

/** Boots a build up to its prompt. */
async function boot(buildId: string): Promise<Session> {
  const { testdrive: session } = await tux.call("POST", "/testdrives", { build_id: buildId });
  const viewer = await until("the relay is open", 60, () =>
    relayWire(`${session.url.replace(/^http/, "ws")}/socket`)
      .then((wire) => openViewer(wire))
      .catch(() => undefined),
  );
  const serial = join(service.stateDir, "agent", "testdrives", session.id, "serial.log");
  await until("the guest asks for a login", 300, () =>
    existsSync(serial) ? /login: ?$/m.test(readFileSync(serial, "utf8")) : false,
  );
  return { id: session.id, viewer };
}

interface Shown {
  change: string;
  path: string;
  permissions: string;
  owner: string;
  difference?: string;
}

async function modified(id: string, path: string): Promise<Shown[]> {
  const { modified_files: shown } = await tux.call("GET", `/testdrives/${id}/modified_files`, { path });
  return [shown.files.file ?? []].flat();
}

describe("the modified files of a testdrive", () => {
  it("are listed while it runs and when it is over, and are in the next build once they are kept", async () => {
    const { appliance } = await tux.call("POST", "/appliances", { clone_from: 1, arch: "x86_64" });
    const buildId = await build(appliance.id);
    const { id, viewer } = await boot(buildId);

    // The mode is the last to come to the disk.
    const change = "cp /etc/passwd /etc/motd; cp /etc/group /srv/kept; sync; chmod 4750 /srv/kept; sync";
    await typeAsRoot(viewer, change, async () => (await modified(id, "/srv/kept"))[0]?.permissions === "4750");

    const [motd] = await modified(id, "/etc/motd");
    expect(motd).toMatchObject({ path: "/etc/motd", owner: "root" });
    expect(motd?.difference).toMatch(/^\+root:x:0:0:/m);
    const data = `/testdrives/${id}/modified_files/data`;
    expect(await tux.file(data, { path: "/etc/motd" })).toBe(await tux.file(data, { path: "/etc/passwd" }));

    await viewer.type("poweroff -f\n");
    await until("the session is over", 90, async () => !(await tux.call("GET", "/testdrives")).testdrives.testdrive);
    await until("its disk is kept", 60, () => existsSync(join(service.stateDir, "agent", "modified", `${id}.qcow2`)));
    expect((await modified(id, "/srv")).map(({ path, change }) => `${change} ${path}`)).toEqual(["added /srv/kept"]);
    await readArchive(id);

    const keep = `/testdrives/${id}/modified_files/keep?path=/srv&path=/etc/motd`;
    const kept = (await (await ask("POST", keep)).json()) as {
      kept_files: { files: { path: string; filename: string }[] };
    };
    expect(kept.kept_files.files.map(({ path, filename }) => `${path}/${filename}`)).toEqual([
      "/etc/motd",
      "/srv/kept",
    ]);

    const again = await build(appliance.id, { force: "true" });
    const inImage = (path: string) => tux.file(`/appliances/${appliance.id}/image_files`, { build_id: again, path });
    expect(await inImage("/srv/kept")).toMatch(/^root:x:0:/);
    expect(await inImage("/etc/motd")).toMatch(/^root:x:0:0:/);
  });
});

function ask(method: string, path: string): Promise<Response> {
  const { url, username, api_key: key } = service.ready();
  const authorization = `Basic ${Buffer.from(`${username}:${key}`).toString("base64")}`;
  return fetch(`${url}/api/v2/user${path}`, { method, headers: { authorization, accept: "application/json" } });
}

/** As tar sees it. */
async function readArchive(id: string): Promise<void> {
  const answer = await ask("GET", `/testdrives/${id}/modified_files/archive?path=/srv`);
  const archive = join(folder, "modified.tar.gz");
  writeFileSync(archive, new Uint8Array(await answer.arrayBuffer()));
  const listing = execFileSync("tar", ["-tvzf", archive, "--numeric-owner"], { encoding: "utf8" });
  expect(listing).toMatch(/^-rwsr-x--- 0\/0 .* srv\/kept\n$/);
}
