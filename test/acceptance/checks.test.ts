/** Boots and checks a real image: the report names a planted fault, and the version cannot be published. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { newMachine, run, type Machine } from "../../cli/test/support/machine.ts";
import { restClient, type RestClient } from "./support/rest.ts";
import { typeAsRoot } from "./support/at-screen.ts";
import { watchSession, type Session } from "./support/session.ts";
import type { Ready } from "./support/service.ts";
import { addAccount, sharedService } from "./support/shared-service.ts";

let account: Ready;
let stateDir: string;
let tux: RestClient;
let machine: Machine;
let applianceId: string;

beforeAll(async () => {
  const service = await sharedService("with-agent");
  ({ stateDir } = service);
  account = await addAccount(service, "checker");
  tux = restClient(account);
  machine = newMachine();
  applianceId = (await tux.call("POST", "/appliances", { clone_from: 2, arch: "x86_64", name: "First" })).appliance.id;
});
afterAll(() => machine[Symbol.dispose]());

const ask = (method: string, path: string, body?: object): Promise<Response> =>
  fetch(`${account.url}/api/v2/user${path}`, {
    method,
    headers: {
      authorization: `Basic ${btoa(`${account.username}:${account.api_key}`)}`,
      accept: "application/json",
      "content-type": "application/json",
    },
    ...(body && { body: JSON.stringify(body) }),
  });

const configure = async (configuration: object) =>
  expect((await ask("PUT", `/appliances/${applianceId}/configuration`, { configuration })).status).toBe(200);

const publish = () => ask("POST", `/gallery/appliances/${applianceId}/version/0.0.1`);

/** The command of docs/checks.md, which waits for the run. */
async function check(...options: string[]) {
  const [, command = ""] = /```bash\n(.*)\n```/.exec(readFileSync("docs/checks.md", "utf8")) ?? [];
  return await kiln([command, ...options].join(" "));
}

async function kiln(command: string) {
  const env = { ...machine.env, KILN_URL: account.url, KILN_ACCOUNT: account.username, KILN_TOKEN: account.api_key };
  return await run("bash", ["-ec", command], { env, input: "", cwd: machine.folder });
}

/** The testdrive that docs/checks.md starts, watched. */
async function continueMachine(): Promise<Session> {
  const [, command = ""] = /```sh\n(kiln testdrive .*)\n```/.exec(readFileSync("docs/checks.md", "utf8")) ?? [];
  const started = await kiln(`${command} --no-open --json`);
  expect(started.code, started.stderr).toBe(0);
  const { testdrive } = JSON.parse(started.stdout) as { testdrive: { id: number; url: string } };
  return await watchSession(stateDir, { ...testdrive, id: String(testdrive.id) });
}

const good = [
  { kind: "login" },
  { kind: "http", text: "webdemo" },
  { kind: "port_open", port: 80 },
  { kind: "port_closed", port: 23 },
  { kind: "console_lacks", text: "Kernel panic" },
  { kind: "command", command: "id -un; cat /etc/*release", text: "root" },
  { kind: "command", command: "exit 3", exit: 3 },
  { kind: "memory", megabytes: 200 },
  { kind: "disk", path: "/var", megabytes: 900 },
];
/** The machine is restarted only if everything else has passed. */
const restarts = [{ kind: "second_boot" }, { kind: "power_cut" }];

it("names what an image does not do, and lets it be published when that is fixed", async () => {
  const wrong = [
    { kind: "port_open", port: 22, seconds: 1 },
    { kind: "console_text", text: "never comes", seconds: 1 },
    { kind: "command", command: "echo not yet | tee /run/checked; exit 4", seconds: 8 },
    { kind: "disk", megabytes: 1 },
  ];
  await configure({ checks: [...good, ...wrong], settings: { publish_when: "checked" } });
  const buildId = (await tux.call("POST", "/running_builds", { appliance_id: applianceId, image_type: "oem" })).build
    .id;
  expect((await tux.watchBuild(buildId, 400)).at(-1)).toMatchObject({ state: "finished" });

  const failed = await check("--last");
  expect(failed.code, failed.stdout + failed.stderr).toBe(3);
  expect(failed.stdout.match(/^(passed|failed|not_run)/gm)).toEqual([
    ...good.map(() => "passed"),
    ...wrong.map(() => "failed"),
  ]);
  expect(failed.stdout).toMatch(/Port 22 accepts connections within 1 s\.\n {2}The machine/);
  expect(failed.stdout).toContain("The command ended with exit code 4. It wrote “not yet”.");
  expect(failed.stdout).toMatch(/\n {2}\d+ MB are used\./);
  expect(failed.stdout).toMatch(/Login after \d+ s\./);
  expect(await (await publish()).text()).toContain("a check failed: Port 22 accepts connections within 1 s.");

  const kept = await continueMachine();
  // Only the memory of the checked machine has this file.
  await typeAsRoot(kept.viewer, "cp /run/checked /dev/console", () => /^not yet$/m.test(kept.serial()));
  await kept.stop();

  await configure({ checks: [...good, ...restarts] });
  const passed = await check();
  expect(passed.code, passed.stdout + passed.stderr).toBe(0);

  // The kernel's messages above the prompt contain the times of the boot.
  const mask = "0,0,720,336";
  await configure({ checks: [{ kind: "login" }, { kind: "screen", build: buildId, mask, seconds: 60 }] });
  const same = await check();
  expect(same.code, same.stdout + same.stderr).toBe(0);
  expect((await publish()).status).toBe(200);
});
