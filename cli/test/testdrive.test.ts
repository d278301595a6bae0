import { readFileSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Machine } from "./support/machine.ts";
import { answering, type StandIn } from "./support/service.ts";
import { signedInMachine } from "./support/signed-in.ts";

let machine: Machine;
let service: StandIn;

const testdrive = (port: number) => ({
  testdrive: {
    id: 8,
    state: "new",
    build_id: 12,
    url: "https://kiln.test/testdrives/8/secret",
    server: { vnc: { host: "10.0.0.5", port, password: "quiet" } },
  },
});

beforeEach(async () => {
  ({ machine, service } = await signedInMachine({ "POST /api/v2/user/testdrives": testdrive(5901) }));
});
afterEach(async () => {
  await service[Symbol.asyncDispose]();
  machine[Symbol.dispose]();
});

/** Puts a program into the PATH. Resolves with the command line with which it was called. */
function expectCall(program: string): Promise<string> {
  const [called, done] = [join(machine.folder, "called"), join(machine.folder, "done")];
  const script = `#!/bin/sh\necho "$0 $* password=$VNC_PASSWORD" > ${called}\nmv ${called} ${done}\n`;
  writeFileSync(join(machine.folder, "bin", program), script, { mode: 0o755 });
  return new Promise((resolve) => {
    const watcher = watch(machine.folder, (_event, file) => {
      if (file !== "done") return;
      watcher.close();
      resolve(readFileSync(done, "utf8").trim());
    });
  });
}

it("opens the screen in the browser", async () => {
  const call = expectCall("xdg-open");
  const ended = await machine.kiln(["testdrive", "12"], { env: { DISPLAY: ":0" } });
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining("https://kiln.test/testdrives/8/secret") });
  expect(await call).toMatch(/xdg-open https:\/\/kiln\.test\/testdrives\/8\/secret password=$/);
});

it("opens a VNC viewer, whose command line does not show the password", async () => {
  const call = expectCall("vncviewer");
  expect(await machine.kiln(["testdrive", "12", "--vnc"])).toMatchObject({ code: 0 });
  expect(await call).toMatch(/vncviewer 10\.0\.0\.5::5901 password=quiet$/);
});

it("continues the machine of the last checks", async () => {
  service.answers["GET /api/v2/user/builds/12/checks"] = { check_runs: [{ id: 31 }, { id: 30 }] };
  let sent = "";
  service.answers["POST /api/v2/user/testdrives"] = answering(testdrive(5901), (body) => (sent = body));
  expect(await machine.kiln(["testdrive", "12", "--checked", "--no-open"])).toMatchObject({ code: 0 });
  expect(service.requests.at(-1)).toBe("POST /api/v2/user/testdrives");
  expect(sent).toMatch(/check_run\W+31\b/);

  service.answers["GET /api/v2/user/builds/12/checks"] = { check_runs: [] };
  const ended = await machine.kiln(["testdrive", "12", "--checked"]);
  expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining("The checks have not run on this image.") });
});

it("prints that no browser can be opened, and prints the address", async () => {
  const ended = await machine.kiln(["testdrive", "12"], { env: { DISPLAY: "", WAYLAND_DISPLAY: "" } });
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining("https://kiln.test/testdrives/8/secret") });
  expect(ended.stderr).toContain("No browser can be opened here.");
});

it("fails if the VNC viewer is missing, and prints the address", async () => {
  const ended = await machine.kiln(["testdrive", "12", "--vnc"], { env: { PATH: join(machine.folder, "bin") } });
  expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining("vncviewer is not installed.") });
  expect(ended.stdout).toContain("10.0.0.5::5901");
});

it("shows why a changed file should not get into copies", async () => {
  const file = { change: "added", type: "file", permissions: "600", owner: "root", group: "root", size: 411 };
  const path = "/etc/ssh/ssh_host_ed25519_key";
  service.answers["GET /api/v2/user/testdrives/8/modified_files"] = {
    modified_files: { truncated: false, unnamed: 0, files: [{ ...file, path, caution: "secret" }] },
  };
  const { stdout } = await machine.kiln(["modified", "8"]);
  expect(stdout).toMatch(/CAUTION\n.*ssh_host_ed25519_key +file +411 +secret/);
});

it("prints what to do where no VNC client can connect", async () => {
  service.answers["POST /api/v2/user/testdrives"] = testdrive(0);
  const ended = await machine.kiln(["testdrive", "12", "--vnc"]);
  expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining("Leave out --vnc") });
});
