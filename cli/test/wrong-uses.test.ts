import { afterAll, beforeAll, expect, it } from "vitest";
import { writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { newMachine, run, type Machine } from "./support/machine.ts";
import { newKey, signedInto, standIn, type StandIn } from "./support/service.ts";

let machine: Machine;
let service: StandIn;

const refused = (status: number, code: string, message: string) => (_request: unknown, response: ServerResponse) =>
  response.writeHead(status).end(JSON.stringify({ error: { code, message } }));
const named = (name: string, id: number) => ({ id, name, basesystem: "tiny-1.0", builds: [] });

beforeAll(async () => {
  machine = newMachine();
  service = await standIn({
    ...signedInto(newKey()),
    "/api/v2/user/appliances": { appliances: [named("First", 1000), named("Twin", 1001), named("Twin", 1002)] },
    "POST /api/v2/user/appliances": refused(400, "invalid_appliance_id", "Invalid appliance id."),
    "/api/v2/user/appliances/1000": { appliance: { id: 1000, name: "First" } },
    "/api/v2/user/appliances/1000/repositories": { repositories: [{ id: 2, name: "main" }] },
    "/api/v2/user/builds": { builds: [] },
    "/api/v2/user/repositories": { repositories: [3, 4].map((id) => ({ id, name: "twin" })) },
    "/api/v2/user/template_sets": (_request, response) => response.end("<html>a proxy</html>"),
    "/api/v2/user/tokens": refused(403, "access_denied", "A token cannot."),
    "/api/v2/user/running_builds/12": { running_build: { id: 12, state: "finished" } },
    "/api/v2/user/gallery/appliances/7": refused(403, "access_denied", "It is not published."),
    "/api/v2/user/gallery/appliances/7/versions": refused(403, "access_denied", "It is not published."),
    "POST /api/v2/user/testdrives": refused(400, "invalid_build_id", "Invalid build id."),
    "POST /api/v2/user/appliances/1000/cmd/add_repository": refused(
      400,
      "invalid_repository_id",
      "Invalid repository id.",
    ),
    "/api/v2/user/testdrives": (_request, response) => response.writeHead(502).end("Bad gateway"),
  });
  const write = (name: string, text: string) => writeFileSync(join(machine.folder, name), text);
  write("page.xml", "<html/>");
  write("bomb.xml", '<!DOCTYPE image [<!ENTITY a "aaaa">]><image name="&a;"/>');
  write("image.xml", '<image name="Kiosk"/>');
  write("empty.xml", "<image/>");
  write("out", "");
  await machine.kiln(["login", service.url, "--account", "tux"], { input: "key\n" });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(machine.folder, name), text);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  machine[Symbol.dispose]();
});

const files = {
  "wrong.yaml": "name: Kiosk\nbase_system: tiny-1.0\npackges: [hello]\n",
  "secret.yaml":
    "name: Kiosk\nbase_system: tiny-1.0\nconfiguration:\n  users:\n    - { name: root, password: { env: NOT_SET } }\n",
  "blob.yaml": "name: Kiosk\nbase_system: tiny-1.0\nfiles:\n  - { path: /logo, content: { file: gone.png } }\n",
  "twin.yaml": "name: Twin\nbase_system: tiny-1.0\n",
  "new.yaml": "name: New\nbase_system: tiny-1.0\n",
};

/** A wrong use, its exit code, its message, and its advice. */
const uses: [string, number, string, string][] = [
  ["lst", 64, "unknown command 'lst'", "(Did you mean list?)"],
  ["list extra", 64, "too many arguments", "`kiln list --help` shows its arguments."],
  ["show", 64, "missing required argument 'appliance'", "`kiln show --help` shows its arguments."],
  ["show First --jsn", 64, "unknown option '--jsn'", "(Did you mean --json?)"],
  ["show 99999", 9, "Invalid appliance id.", "`kiln list` shows your appliances."],
  ["show Nope", 9, "There is no appliance called Nope.", "`kiln list` shows your appliances."],
  ["show Twin", 1, "There is more than one appliance called Twin.", "Use its id: 1001, 1002."],
  ["config set First", 64, "missing required argument 'setting_value'", "`kiln config set --help`"],
  ["config set First hostname", 64, "hostname is not a setting and its value.", "Write it as network.hostname=kiosk."],
  ["config set First users=[", 64, "The value of users is not JSON.", "begins with { or ["],
  ["config set First eulas=@nothere", 64, "nothere cannot be read.", "must name a file"],
  ["build First --type", 64, "option '--type <types>' argument missing", "`kiln build --help`"],
  ["build First --type floppy", 64, "There is no image type floppy.", "The types are oem, qcow2"],
  ["download First", 9, "First has no image yet.", "kiln build First --follow"],
  ["download First:iso", 9, "First:iso has no image yet.", "kiln build First --type iso --follow"],
  ["verify nothere.iso", 6, "nothere.iso is missing", "`kiln download` puts next to it"],
  ["plan nothere.yaml", 64, "nothere.yaml cannot be read.", "`kiln export APPLIANCE` writes such a file."],
  ["plan wrong.yaml", 64, "wrong.yaml:3: packges is not a known key. Did you mean packages?", "`kiln export`"],
  [
    "apply secret.yaml",
    64,
    "secret.yaml:5: configuration.users[0].password refers to the variable NOT_SET",
    "export NOT_SET=…",
  ],
  [
    "apply blob.yaml",
    64,
    "blob.yaml:4: files[0].content names gone.png, which cannot be read.",
    "relative to the folder",
  ],
  ["apply twin.yaml", 1, "There is more than one appliance called Twin.", "Use --id: 1001, 1002."],
  ["apply new.yaml --if-match x", 9, "There is no longer an appliance called New.", "a new one is made"],
  ["plan new.yaml --id First", 64, "First is not the id of an appliance.", "The lists show them."],
  ["export Nope", 9, "There is no appliance called Nope.", "`kiln list` shows your appliances."],
  ["export 1000 wrong.yaml", 64, "wrong.yaml already exists.", "--force replaces it."],
  ["file add First nothere", 64, "nothere is not a file.", "Name a file on this machine"],
  ["repo add First gone", 9, "There is no repository called gone.", "`kiln repo search TEXT` finds repositories."],
  ["repo add First twin", 1, "There is more than one repository called twin.", "Use its id: 3, 4."],
  ["repo remove First twin", 9, "There is no repository called twin.", "shows its repositories."],
  ["token add nightly everything", 64, "There is no scope everything.", "The scopes are read, build, publish."],
  ["account mail perhaps", 64, "Mail is on or off, not perhaps.", "Use one of them."],
  ["token remove 7", 9, "Invalid appliance id.", "`kiln token list` shows the ids."],
  ["gallery search web --by tux", 64, "Words, --by and --popular exclude each other.", "Use one of them."],
  ["gallery search --by tux --popular", 64, "Words, --by and --popular exclude each other.", "Use one of them."],
  ["gallery show 7", 9, "It is not published.", "`kiln gallery search TEXT` lists what is published."],
  ["cancel 12", 1, "Build 12 has already ended: finished.", "kiln delete-build"],
  ["token list", 7, "A token cannot.", "Use a token or key that may do this"],
  ["completion tcsh", 64, "There is no completion for tcsh.", "bash, zsh and fish"],
  ["templates", 8, "is not a Kiln service.", "Check the address."],
  ["testdrives", 4, "The service answered 502", "Try again"],
  ["--url http://127.0.0.1:9 list", 7, "You are not signed in to http://127.0.0.1:9.", "Run `kiln login ADDRESS`"],
  ["mcp --wirte", 64, "unknown option '--wirte'", "(Did you mean --write?)"],
  ["mcp First", 64, "too many arguments", "`kiln mcp --help` shows its arguments."],
  ["link", 64, "missing required argument 'build'", "`kiln link --help` shows its arguments."],
  ["link First", 9, "First has no image yet.", "kiln build First --follow"],
  ["manifest 99999 --type iso", 9, "Invalid appliance id.", "`kiln list` shows your appliances."],
  ["import", 64, "missing required argument 'file'", "`kiln import --help` shows its arguments."],
  ["import nothere.kiwi", 64, "nothere.kiwi cannot be read.", "Name a config.xml of KIWI"],
  ["import .", 64, ". cannot be read.", "Name a config.xml of KIWI"],
  ["import bin/kiln", 64, "bin/kiln cannot be imported: it is neither XML nor YAML", "Name a config.xml of KIWI"],
  ["import page.xml", 64, "The root element is html. It must be image", "Name a config.xml of KIWI"],
  ["import bomb.xml", 64, "A DOCTYPE is not accepted.", "`kiln import --help` shows what is read."],
  ["import a b c", 64, "too many arguments", "`kiln import --help` shows its arguments."],
  ["import a.kiwi --bas tiny-1.0", 64, "unknown option '--bas'", "(Did you mean --base?)"],
  ["import image.xml out/in/none.yaml", 1, "ENOTDIR", "free disk space"],
  ["import empty.xml --apply", 64, "empty.xml has no name.", "Name the appliance with --name."],
  ["import image.xml --apply", 64, "image.xml names no base system.", "`kiln templates` shows them"],
  ["repo add First 999", 9, "Invalid repository id.", "`kiln repo search TEXT` finds repositories"],
  ["testdrive 88", 9, "Invalid build id.", "`kiln builds APPLIANCE` lists the builds"],
  ["gallery clone 999", 9, "Invalid appliance id.", "`kiln gallery search` list what can be cloned."],
  ["login kiln.example.org/api", 64, "is not the address of a service.", "Write it as https://kiln.example.org."],
];

it.each(uses)("answers `kiln %s` with exit code %d, the reason and the way out", async (line, code, message, next) => {
  const ended = await machine.kiln(line.split(" "));
  expect(ended).toMatchObject({ code, stdout: "" });
  expect(ended.stderr).toMatch(/^kiln: /);
  expect(ended.stderr).toContain(message);
  expect(ended.stderr).toContain(next);
  expect(ended.stderr.trimEnd().split("\n").length).toBeLessThanOrEqual(3);
});

it("prints an error as JSON with --json", async () => {
  const ended = await machine.kiln(["show", "99999", "--json"]);
  expect(JSON.parse(ended.stderr)).toEqual({
    error: {
      code: "invalid_appliance_id",
      message: "Invalid appliance id.",
      next: "`kiln list` shows your appliances.",
    },
  });
});

it.each([
  ["nosuch", { code: "misused", message: "unknown command 'nosuch'", next: "`kiln --help` lists the commands." }],
  ["", { code: "misused", message: "The command is missing.", next: "`kiln --help` lists the commands." }],
  [
    "gallery",
    { code: "misused", message: "The command is missing.", next: "`kiln gallery --help` lists the commands." },
  ],
  [
    "add First",
    { code: "misused", message: "missing required argument 'package'", next: "`kiln add --help` shows its arguments." },
  ],
  [
    "export Nope",
    { code: "not_found", message: "There is no appliance called Nope.", next: "`kiln list` shows your appliances." },
  ],
])("prints its own error as JSON with --json, as of `kiln %s`", async (line, error) => {
  const ended = await machine.kiln([...line.split(" ").filter(Boolean), "--json"]);
  expect([ended.stdout, JSON.parse(ended.stderr)]).toEqual(["", { error }]);
});

const deleted = () => service.requests.filter((one) => one.startsWith("DELETE /api/v2/user/appliances"));

it("asks on a terminal before it deletes", async () => {
  const { env, folder: cwd } = machine;
  const answers = async (answer: string) =>
    await run("script", ["-qec", "kiln delete 1000", "/dev/null"], { env, input: answer, cwd });
  expect(await answers("n\n")).toMatchObject({ code: 1, stdout: expect.stringContaining("Nothing was deleted.") });
  expect(deleted()).toEqual([]);
  expect((await answers("y\n")).stdout).toContain("Deleted 1000.");
  expect(deleted()).toHaveLength(1);
});

it("shows no control and direction characters of a name", async () => {
  service.answers["/api/v2/user/appliances"] = { appliances: [named("a\u202Eb\u001B[31mc\u0007d\u2066", 1)] };
  expect((await machine.kiln(["list"])).stdout).toContain("1   abc d ");
  expect((await machine.kiln(["list", "--json"])).stdout).toContain(String.raw`"a\u202eb\u001b[31mc\u0007d\u2066"`);
  service.answers["POST /api/v2/user/appliances"] = { appliance: named("a\u202Eb\u2066", 1) };
  expect((await machine.kiln(["clone", "1"])).stdout).toMatch(/^ab is appliance 1/);
});
