import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse } from "yaml";
import { readApplianceFile } from "../src/appliance-file/read.ts";
import type { Machine } from "./support/machine.ts";
import type { StandIn } from "./support/service.ts";
import { signedInMachine } from "./support/signed-in.ts";

let machine: Machine;
let service: StandIn;

const description = `<?xml version="1.0" encoding="utf-8"?>
<image schemaversion="7.5" name="Kiosk">
  <description type="system"><author>R</author><contact>r@example.org</contact><specification>Sells tickets</specification></description>
  <preferences><version>1.2.3</version><locale>de_DE</locale><type image="oem" firmware="uefi"/></preferences>
  <users><user name="root" password="$1$x"/><user name="ticket-desk" password="$1$x"/></users>
  <packages type="image"><package name="vim=9.1-1"/><namedCollection name="base"/></packages>
</image>`;

const manifest = `<?xml version="1.0"?><manifest><config><image name="Kiosk"/></config><extra_config>
<base_system>tiny-1.0</base_system><arch>x86_64</arch><image_type>vmx</image_type><network config="dhcp"/></extra_config></manifest>`;

beforeAll(async () => {
  ({ machine, service } = await signedInMachine());
  const at = (...parts: string[]) => join(machine.folder, "kiosk", ...parts);
  mkdirSync(at("root/usr/bin"), { recursive: true });
  mkdirSync(join(machine.folder, "out"));
  writeFileSync(at("config.xml"), description);
  writeFileSync(at("config.sh"), "echo configured\n");
  writeFileSync(at("root/usr/bin/desk"), Uint8Array.of(0, 1, 255));
  chmodSync(at("root/usr/bin/desk"), 0o755);
  writeFileSync(join(machine.folder, "manifest.xml"), manifest);
  writeFileSync(join(machine.folder, "out/there.yaml"), "");
  symlinkSync("/etc/passwd", at("images.sh"));
  symlinkSync("desk", at("root/usr/bin/ticket-desk"));
  mkdirSync(at("root/srv/tickets"), { recursive: true });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  machine[Symbol.dispose]();
});

/** The request that `kiln apply` would send. */
function read(file: string, env: Record<string, string>) {
  const read = (path: string) => readFileSync(join(machine.folder, "out", path));
  return readApplianceFile(readFileSync(join(machine.folder, file), "utf8"), { name: file, read, env }).definition;
}

it("writes a description, and what lies next to it, as a file that can be applied", async () => {
  const ended = await machine.kiln(["import", "kiosk/config.xml", "out/", "--base", "tiny-1.0"]);

  expect(ended).toMatchObject({ code: 0, stderr: "" });
  const env = { PASSWORD_ROOT: "one", PASSWORD_TICKET_DESK: "two" };
  expect(read("out/Kiosk.yaml", env)).toMatchObject({
    name: "Kiosk",
    base_system: "tiny-1.0",
    arch: "x86_64",
    type: "oem",
    packages: [{ name: "vim", version: "9.1-1" }],
    patterns: [{ name: "base" }],
    configuration: {
      description: "Sells tickets",
      locale: { language: "de_DE.UTF-8" },
      users: [
        { name: "root", password: "one" },
        { name: "ticket-desk", password: "two" },
      ],
      scripts: { build: { enabled: true, script: "echo configured\n" } },
    },
    files: [{ path: "/usr/bin/desk", owner: "root", permissions: "755", size: 3 }],
  });
});

it("lists what it omits, with the reasons", async () => {
  const { stdout } = await machine.kiln(["import", "kiosk/config.xml", "--json", "--base", "tiny-1.0", "--unpinned"]);
  const { file, omitted } = JSON.parse(stdout) as { file: string; omitted: { what: string; why: string }[] };
  expect(file).toBe("Kiosk.yaml");
  expect(readFileSync(join(machine.folder, file), "utf8")).toContain("packages:\n  - vim\n");
  expect(omitted.map(({ what }) => what)).toEqual([
    "architecture",
    "version 1.2.3",
    "preferences/type/firmware",
    "users/user root/password",
    "users/user ticket-desk/password",
    "description/author R",
    "description/contact r@example.org",
    "images.sh",
    "root/srv/tickets/",
    "root/usr/bin/ticket-desk",
  ]);
});

it("refuses a description for other machines, until an architecture is chosen", async () => {
  const board =
    '<image name="Board"><packages type="image"><package name="u-boot-rpi3" arch="aarch64"/></packages></image>';
  writeFileSync(join(machine.folder, "board.kiwi"), board);
  const line = ["import", "board.kiwi", "out/board.yaml", "--base", "tiny-1.0"];
  expect(await machine.kiln(line)).toMatchObject({
    code: 64,
    stderr: expect.stringContaining("Parts of it are for aarch64, and none for x86_64. Choose with --arch."),
  });
  const chosen = await machine.kiln([...line, "--arch", "aarch64"]);
  expect([chosen.code, chosen.stdout]).toEqual([0, expect.not.stringContaining("architecture")]);
  expect(read("out/board.yaml", {})).toMatchObject({ arch: "aarch64", packages: [{ name: "u-boot-rpi3" }] });
});

it("follows includes in the folder, and takes a profile", async () => {
  const at = (...parts: string[]) => join(machine.folder, "split", ...parts);
  mkdirSync(at("parts"), { recursive: true });
  mkdirSync(at("desk"));
  writeFileSync(
    at("config.xml"),
    '<image name="Split"><profiles><profile name="desk"/></profiles><include from="this://./parts/a.xml"/></image>',
  );
  writeFileSync(
    at("parts/a.xml"),
    '<image><preferences profiles="desk"><type image="iso"/></preferences><packages type="image"><package name="vim"/></packages></image>',
  );
  const given = ["split/config.xml", "out/desk.yaml", "--base", "tiny-1.0", "--profile", "desk"];
  const desk = await machine.kiln(["import", ...given]);
  expect(desk).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("out/desk.yaml has 1 package and 0 files.\n"),
  });
  expect(desk.stdout).toMatch(/^desk\/ +files of a profile/m);
  expect(read("out/desk.yaml", {})).toMatchObject({ type: "iso", packages: [{ name: "vim" }] });

  symlinkSync("/etc/hostname", at("parts/b.xml"));
  writeFileSync(at("config.xml"), '<image name="Split"><include from="parts/b.xml"/></image>');
  expect(await machine.kiln(["import", "split/config.xml", "out/none.yaml"])).toMatchObject({
    code: 64,
    stderr: expect.stringMatching(
      /None of the files that it includes can be read: parts\/b\.xml\.\n`kiln import --help` shows what is read\./,
    ),
  });
});

/** The description above, as `kiwi-ng image info --print-yaml` prints it. */
const inYaml = `image:
  '@name': Kiosk
  '@schemaversion': '7.5'
  description:
    '@type': system
    author: R
    contact: r@example.org
    specification: Sells tickets
  preferences:
    version: 1.10.0
    locale: de_DE
    type: { '@image': oem, '@firmware': uefi }
  packages:
    - '@type': image
      package: [{ '@name': 'vim=9.1-1' }, { '@name': 'a&b"c' }]
      namedCollection: { '@name': base }
`;

it.each([
  ["YAML", inYaml],
  ["JSON", JSON.stringify(parse(inYaml))],
])("reads a description in %s", async (_, text) => {
  writeFileSync(join(machine.folder, "kiosk.yml"), text);
  const ended = await machine.kiln(["import", "kiosk.yml", "out/yaml.yaml", "--base", "tiny-1.0", "--force"]);
  expect([ended.code, ended.stdout.split("\n")[0]]).toEqual([0, "out/yaml.yaml has 2 packages and 0 files."]);
  expect(ended.stdout).toContain("version 1.10.0");
  expect(read("out/yaml.yaml", {})).toMatchObject({
    name: "Kiosk",
    type: "oem",
    packages: [{ name: "vim", version: "9.1-1" }, { name: 'a&b"c' }],
    patterns: [{ name: "base" }],
    configuration: { description: "Sells tickets" },
  });
});

it.each([
  ["name: Kiosk\nbase_system: tiny-1.0\n", "it is a file of an appliance already, for `kiln plan` and `kiln apply`."],
  ["image: [\n", "it is not XML, and as YAML: "],
  ["just words\n", "it is neither XML nor YAML that begins with `image:`."],
  ["image: { 'a b': 1 }\n", "a b is not the name of an element."],
])("refuses %j", async (text, why) => {
  writeFileSync(join(machine.folder, "wrong.yml"), text);
  const ended = await machine.kiln(["import", "wrong.yml", "--base", "tiny-1.0"]);
  expect(ended).toMatchObject({ code: 64, stderr: expect.stringContaining(`wrong.yml cannot be imported: ${why}`) });
});

it("reads the manifest of a build, as `kiln manifest` prints it, whatever lies next to it", async () => {
  service.answers["/api/v2/user/appliances/1000"] = { appliance: { type: "vmx" } };
  service.answers["/api/v2/user/appliances/1000/software/manifest/vmx"] = (_request, response) =>
    response.writeHead(200, { "content-type": "application/xml" }).end(manifest);
  const printed = await machine.kiln(["manifest", "1000"]);
  expect(printed).toEqual({ code: 0, stdout: `${manifest}\n`, stderr: "" });
  writeFileSync(join(machine.folder, "printed.xml"), printed.stdout);
  const ended = await machine.kiln(["import", "printed.xml", "out/again.yaml"]);
  expect(ended).toMatchObject({ code: 0, stdout: "out/again.yaml has 0 packages and 0 files.\n", stderr: "" });
  expect(read("out/again.yaml", {})).toMatchObject({
    base_system: "tiny-1.0",
    type: "vmx",
    configuration: { network: { type: "dhcp" } },
  });
});

it.each([
  ["nothere.kiwi", "nothere.kiwi cannot be read.", "Name a config.xml of KIWI"],
  ["kiosk/config.sh", "kiosk/config.sh cannot be imported: it is neither XML nor YAML", "Name a config.xml of KIWI"],
  ["kiosk/config.xml --arch armv7l", "There is no architecture armv7l.", "There are x86_64, i686, aarch64."],
  ["manifest.xml out/there.yaml", "out/there.yaml already exists.", "--force replaces it."],
])("answers `kiln import %s` with the reason and the way out", async (line, message, next) => {
  const { code, stderr, stdout } = await machine.kiln(["import", ...line.split(" ")]);
  expect([code, stdout]).toEqual([64, ""]);
  expect(stderr).toContain(message);
  expect(stderr).toContain(next);
});

it("prints that a base system is missing", async () => {
  const { stderr } = await machine.kiln(["import", "kiosk/config.xml", "out/nobase.yaml"]);
  expect(stderr).toContain("add base_system to the file, or import it with --base");
});

it("applies what it has written", async () => {
  const software = { state: "unimported", added: [], removed: [], problems: [] };
  const plan = { changes: [{ name: "packages", item: "vim", to: "9.1-1" }], software };
  service.answers["/api/v2/user/appliances"] = { appliances: [] };
  service.answers["/api/v2/user/definitions/plan"] = { plan };
  service.answers["POST /api/v2/user/contents"] = { content: { sha256: "", size: 3, upload: "token" } };
  service.answers["POST /api/v2/user/definitions"] = { definition: { id: 1007 } };
  const env = { PASSWORD_ROOT: "one", PASSWORD_TICKET_DESK: "two" };
  const line = ["import", "kiosk/config.xml", "out/applied.yaml", "--base", "tiny-1.0", "--apply"];
  const ended = await machine.kiln(line, { env });
  expect(ended.code).toBe(0);
  expect(ended.stderr).toContain("out/applied.yaml has 1 package and 1 file.");
  expect(ended.stdout).toContain("Applied to appliance 1007.");
});
