import { existsSync, globSync, readFileSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { typeAsRoot } from "./support/at-screen.ts";
import { processesAt, processorSeconds } from "./support/processor-time.ts";
import { restClient, type RestClient } from "./support/rest.ts";
import { openViewer, relayWire, type Viewer } from "./support/rfb.ts";
import { startService, until, type Service } from "./support/service.ts";

// One build, tried four times: booted, from its snapshot twice, and booted again when the snapshot is damaged.

let service: Service;
let tux: RestClient;
let buildId: string;

beforeAll(async () => {
  service = await startService();
  tux = restClient(service.ready());
  const { appliance } = await tux.call("POST", "/appliances", { clone_from: 1, arch: "x86_64" });
  buildId = (await tux.call("POST", "/running_builds", { appliance_id: appliance.id, image_type: "oem" })).build.id;
  expect((await tux.watchBuild(buildId, 400)).at(-1)).toMatchObject({ state: "finished" });
});

afterAll(() => service.stop());

interface Session extends AsyncDisposable {
  viewer: Viewer;
  /** What the serial console has said. */
  serial: () => string;
  /** What its machine has taken of a processor until the serial console asked for a login. */
  loginSeconds: number;
}

async function startSession(): Promise<Session> {
  const { testdrive } = await tux.call("POST", "/testdrives", { build_id: buildId });
  const viewer = await until("the relay is open", 60, () =>
    relayWire(`${testdrive.url.replace(/^http/, "ws")}/socket`)
      .then((wire) => openViewer(wire))
      .catch(() => undefined),
  );
  const dir = join(service.stateDir, "agent/testdrives", testdrive.id);
  const file = join(dir, "serial.log");
  const serial = () => (existsSync(file) ? readFileSync(file, "utf8").replaceAll("\r", "") : "");
  await until("there is a login prompt", 300, () => /login: ?$/m.test(serial()));
  return {
    viewer,
    serial,
    loginSeconds: processorSeconds(processesAt(dir)),
    async [Symbol.asyncDispose]() {
      viewer.close();
      await fetch(`${testdrive.url}/stop`, { method: "POST" });
      await until("the session has ended", 30, async () => (await running()).length === 0);
    },
  };
}

const running = async () => [(await tux.call("GET", "/testdrives")).testdrives.testdrive ?? []].flat();

const logged = (event: string) => readFileSync(join(service.stateDir, "agent.log"), "utf8").split(event).length - 1;

const snapshotOf = () => globSync(join(service.stateDir, "agent/cache", buildId, "*.snapshot"))[0] ?? "";

it("starts the second testdrive at the login prompt, without what others have done, and boots when the snapshot is damaged", async () => {
  let bootSeconds: number;
  {
    await using first = await startSession();
    bootSeconds = first.loginSeconds;
    await until("a snapshot is made", 300, () => logged(" snapshot made ") === 1);
  }
  {
    await using second = await startSession();
    expect(second.loginSeconds).toBeLessThan(bootSeconds / 2);
    expect((await second.viewer.frame()).colours).toBeGreaterThan(1);
    const show = "cp /etc/passwd /root/mine; cp /root/mine /dev/console";
    await typeAsRoot(second.viewer, show, () => second.serial().includes("root:x:0:0"));
  }
  {
    await using third = await startSession();
    const show = "cp /root/mine /dev/console; cp /etc/os-release /dev/console";
    await typeAsRoot(third.viewer, show, () => third.serial().includes("NAME="));
    expect(third.serial()).not.toContain("root:x:0:0");
  }
  expect(logged(" started from a snapshot ")).toBe(2);

  const state = join(snapshotOf(), "state");
  truncateSync(state, Math.floor(statSync(state).size / 2));
  {
    await using fourth = await startSession();
    expect(logged(" snapshot not used ")).toBe(1);
    expect((await fourth.viewer.frame()).colours).toBeGreaterThan(1);
  }
});
