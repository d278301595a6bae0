import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { assistantOf, called } from "../../cli/test/support/assistant.ts";
import { newMachine, run, type Machine } from "../../cli/test/support/machine.ts";
import { typeAsRoot } from "./support/at-screen.ts";
import { buildRpm } from "./support/rpm.ts";
import type { Ready } from "./support/service.ts";
import { watchSession, type Session } from "./support/session.ts";
import { addAccount, sharedService } from "./support/shared-service.ts";

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");

let machine: Machine;
let account: Ready;
let stateDir: string;
let session: Session;

beforeAll(async () => {
  const service = await sharedService("with-agent");
  stateDir = service.stateDir;
  account = await addAccount(service, "command-line");
  machine = newMachine();
});
afterAll(() => machine[Symbol.dispose]());

it("makes, builds, downloads and boots an appliance with the README's lines", async () => {
  const [, lines = ""] = /```bash\n(kiln login[\s\S]*?)```/.exec(readme) ?? [];
  expect(lines.trimEnd().split("\n")).toHaveLength(6);
  const script = lines.replace("http://127.0.0.1:8787", account.url).replace("tux", account.username);
  const given = { env: machine.env, input: `${account.api_key}\n`, cwd: machine.folder };
  const ended = await run("bash", ["-ec", script], given);

  expect(ended, ended.stderr).toMatchObject({ code: 0 });
  expect(ended.stdout).toMatch(/^First is appliance \d+, based on tiny-1\.0\.$/m);
  expect(ended.stdout).toMatch(/^ {2}\+ hello [\d.-]+$/m);
  expect(ended.stdout).toMatch(/^Build \d+ \(oem, 0\.0\.1\) finished in /m);
  expect(ended.stdout).toContain("First.x86_64-0.0.1.oem.tar.gz is verified.");
  const [, screen = ""] = /^Screen +(\S+)$/m.exec(ended.stdout) ?? [];
  expect((await fetch(screen)).status).toBe(200);
  const [, id = ""] = /^Testdrive +(\d+)$/m.exec(ended.stdout) ?? [];
  session = await watchSession(stateDir, { id, url: screen });
});

it("shows what that machine has changed, and keeps it in the appliance", async () => {
  const hasArrived = async () =>
    /^added +\/etc\/motd /m.test((await machine.kiln(["modified", session.id, "--path", "/etc/motd"])).stdout);
  await typeAsRoot(session.viewer, "cp /etc/passwd /etc/motd; sync", hasArrived);
  const shown = await machine.kiln(["modified", session.id, "--path", "/etc/motd", "--diff"]);
  expect(shown.stdout).toMatch(/^\+root:x:0:0:/m);

  const kept = await machine.kiln(["keep", session.id, "/etc/motd"]);
  expect(kept, kept.stderr).toMatchObject({ code: 0 });
  expect(kept.stdout).toMatch(/^Stored \/etc\/motd in appliance \d+\.$/m);
  expect((await machine.kiln(["file", "list", "First"])).stdout).toContain(" /etc/motd ");
  expect(await machine.kiln(["keep", session.id, "/etc/nothing"])).toMatchObject({ code: 1, stdout: "" });
  session.viewer.close();
  expect(await machine.kiln(["stop", session.id])).toMatchObject({ code: 0 });
});

it("keeps the appliance in a file: plans a change, applies it, and then nothing would change", async () => {
  expect(await machine.kiln(["export", "First"])).toMatchObject({ code: 0, stderr: "" });
  const file = join(machine.folder, "First.yaml");
  const exported = readFileSync(file, "utf8");
  expect(await machine.kiln(["plan", "First.yaml"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("matches the file"),
  });

  writeFileSync(file, exported.replace("memory_size: 256", "memory_size: 384").replace(":\n  - hello\n", ": []\n"));
  const planned = await machine.kiln(["plan", "First.yaml"]);
  expect(planned, planned.stderr).toMatchObject({ code: 2 });
  expect(planned.stdout).toMatch(/^ {2}- packages hello\n[^]*^ {2}- hello [\d.-]+$/m);
  const applied = await machine.kiln(["apply", "First.yaml"]);
  expect(applied, applied.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining("Applied to appliance") });
  expect(await machine.kiln(["plan", "First.yaml"])).toMatchObject({ code: 0 });
  writeFileSync(file, exported);
  expect(await machine.kiln(["apply", "First.yaml"])).toMatchObject({ code: 0 });
});

it("builds what the file says again, although a build raises the version", async () => {
  const built = await machine.kiln(["build", "First", "--type", "oem", "--follow"]);
  expect(built, built.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining("0.0.2") });
  expect(await machine.kiln(["plan", "First.yaml"])).toMatchObject({ code: 0 });
});

it("brings a package of one's own into the appliance, and takes it away again", async () => {
  const rpm = buildRpm(join(machine.folder, "rpm"), "own-note");
  const added = await machine.kiln(["package", "add", "tiny-1.0", rpm, "--appliance", "First"]);
  expect(added, added.stderr).toMatchObject({ code: 0 });
  const [, id = ""] = /^own-note-1\.0-1\.noarch\.rpm is package (\d+) of tiny-1\.0\.$/m.exec(added.stdout) ?? [];
  expect((await machine.kiln(["package", "list", "tiny-1.0"])).stdout).toContain("own-note-1.0-1.noarch.rpm");
  const effect = await machine.kiln(["add", "First", "own-note", "--dry-run"]);
  expect(effect, effect.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining("  + own-note 1.0-1") });
  expect(await machine.kiln(["package", "remove", id])).toMatchObject({ code: 0 });
  expect((await machine.kiln(["package", "list", "tiny-1.0"])).stdout).toBe("None.\n");
});

it("verifies that image offline, and refuses it with a changed byte", async () => {
  const image = readdirSync(machine.folder).find((file) => file.endsWith(".tar.gz")) ?? "";
  const env = { KILN_URL: "http://127.0.0.1:1" };
  expect(await machine.kiln(["verify", image], { env })).toMatchObject({ code: 0, stderr: "" });
  const content = readFileSync(join(machine.folder, image));
  content[1000] = (content[1000] ?? 0) ^ 1;
  writeFileSync(join(machine.folder, image), content);
  expect(await machine.kiln(["verify", image], { env })).toMatchObject({ code: 6, stdout: "" });
});

/** The answer of a tool, as an assistant gets it. */
async function talk(options: string[], tool: string, given: Record<string, unknown>): Promise<string> {
  const assistant = await assistantOf(machine, ...options);
  const { text } = await called(assistant, tool, given);
  await assistant.close();
  return text;
}

it("lets an assistant look at it, and change it with --write", async () => {
  expect(await talk([], "status", { appliance: "First" })).toMatch(
    /^It can be built\.\nwarning: root has the password/,
  );
  expect((await fetch(await talk([], "link", { build: "First" }), { method: "HEAD" })).status).toBe(200);
  const file = "name: First\nbase_system: tiny-1.0\nconfiguration: { description: Greets }\n";
  expect(await talk([], "plan", { file })).toContain("Greets");
  expect(await talk(["--write"], "apply", { file })).toContain("Applied to appliance");
});

it("imports the manifest of its build as another appliance, which can be built", async () => {
  const manifest = await machine.kiln(["manifest", "First"]);
  writeFileSync(join(machine.folder, "first.xml"), manifest.stdout);
  const env = { PASSWORD_ROOT: "quiet please", PASSWORD_TUX: "quiet please" };
  const imported = await machine.kiln(["import", "first.xml", "--name", "Second", "--apply"], { env });
  expect(imported, imported.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining("Applied to appliance") });
  expect(await machine.kiln(["status", "Second"])).toMatchObject({ code: 0 });
  expect(await machine.kiln(["plan", "Second.yaml"], { env })).toMatchObject({ code: 0 });
});

it("brings a large file in pieces, and gets it back", async () => {
  const file = randomBytes(18 * 1024 ** 2);
  writeFileSync(join(machine.folder, "large.bin"), file);
  const added = await machine.kiln(["file", "add", "First", "large.bin", "--path", "/srv", "--json"]);
  expect(added.code, added.stderr).toBe(0);
  const { file: stored } = JSON.parse(added.stdout) as { file: { id: number } };
  expect(stored).toMatchObject({ filename: "large.bin", path: "/srv", owner: "root", group: "root" });
  await machine.kiln(["file", "get", String(stored.id), "--output", "again.bin"]);
  expect(readFileSync(join(machine.folder, "again.bin")).equals(file)).toBe(true);
});

it("publishes the version, and finds it in the gallery", async () => {
  expect(await machine.kiln(["publish", "First", "0.0.1"])).toMatchObject({ code: 1, stdout: "" });
  expect(await machine.kiln(["publish", "First", "0.0.1", "--yes", "--notes", "It greets."])).toMatchObject({
    code: 0,
  });
  const found = await machine.kiln(["gallery", "search", "--by", account.username, "--json"]);
  const [first] = JSON.parse(found.stdout).gallery.appliances.appliance;
  expect(first).toMatchObject({ name: "First", username: account.username });
  const shown = await machine.kiln(["gallery", "show", String(first.id)]);
  expect(shown.stdout).toContain("It greets.");
  expect(await machine.kiln(["unpublish", "First", "0.0.1"])).toMatchObject({ code: 0 });
});

it("sets the configuration, all of it or nothing", async () => {
  const settings = ["network.type=manual", "network.hostname=kiosk", "network.ip=10.0.0.2", "network.netmask=24"];
  expect(await machine.kiln(["config", "set", "First", ...settings, "tags=library,desk"])).toMatchObject({ code: 0 });
  expect(await machine.kiln(["config", "get", "First", "network.hostname"])).toMatchObject({ stdout: "kiosk\n" });
  const refused = await machine.kiln(["config", "set", "First", "network.hostname=desk", "settings.memory_size=1"]);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("settings.memory_size") });
  const dhcp = ["network.type=dhcp", "network.ip=10.0.0.3", "settings.memory_size=512"];
  const unused = await machine.kiln(["config", "set", "First", ...dhcp]);
  expect(unused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("network.ip: is used only with the type manual"),
  });
  expect(await machine.kiln(["config", "get", "First", "settings.memory_size"])).toMatchObject({ stdout: "256\n" });
  expect(await machine.kiln(["config", "get", "First", "network.hostname"])).toMatchObject({ stdout: "kiosk\n" });
});

it("prints what happened", async () => {
  const printed = await machine.kiln(["events", "--json"]);
  const names = printed.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).event);
  expect(names).toEqual(expect.arrayContaining(["build.finished", "version.published"]));
});
