import type { IncomingHttpHeaders } from "node:http";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { digestOf } from "../src/appliance-file/write.ts";
import { effect, kiosk, planned, withFiles } from "./support/definition.ts";
import type { Machine } from "./support/machine.ts";
import { answering, type StandIn } from "./support/service.ts";
import { signedInMachine } from "./support/signed-in.ts";

const user = "/api/v2/user";
const contents = { "/etc/motd": new TextEncoder().encode("hello\n"), "/logo.png": Uint8Array.of(137, 0, 255) };
const definition = withFiles(contents, digestOf);

const changed = { error: { code: "unknown_error", message: "It has changed since you read it." } };
const file = `
name: Kiosk
base_system: tiny-1.0
configuration: { users: [{ name: root, password: { env: ROOT_PASSWORD } }] }
files:
  - { path: /etc/motd, content: "hello\\n" }
  - { path: /etc/issue, content: { file: issue } }
`;

const schematic = {
  id: "5f0c",
  appliance_id: 1002,
  image_type: "oem",
  url: "https://kiln.example.org/image/5f0c/current/oem",
  as_of: [],
};

let machine: Machine;
let service: StandIn;
/** The sent requests, by method and path. */
let sent: Record<string, { headers: IncomingHttpHeaders; body: string }>;
const env = { ROOT_PASSWORD: "quiet" };
const changing = () => service.requests.filter((one) => /^(PUT|POST)/.test(one) && !one.endsWith("/plan"));

/** Returns this answer, and records the request. */
const noting = (answer: object, status = 200) =>
  answering(
    answer,
    (body, { method, url, headers }) => {
      sent[`${method} ${url}`] = { headers, body };
    },
    status,
  );
const here = (file: string) => readFileSync(join(machine.folder, file));

const usual = (): StandIn["answers"] => ({
  [`${user}/appliances`]: { appliances: [{ id: 1000, name: "Kiosk" }] },
  [`${user}/appliances/1000`]: { appliance: { id: 1000, name: "Kiosk" } },
  [`GET ${user}/appliances/1000/definition`]: (_request, response) =>
    response.writeHead(200, { etag: '"seen"' }).end(JSON.stringify({ definition })),
  [`POST ${user}/appliances/1000/definition/plan`]: noting(planned({})),
  [`PUT ${user}/appliances/1000/definition`]: noting({ definition }),
  [`POST ${user}/definitions/plan`]: noting(planned({})),
  [`POST ${user}/definitions`]: noting({ definition: { ...definition, id: 1001 } }),
  [`POST ${user}/schematics`]: noting({ schematic }, 201),
  [`POST ${user}/contents`]: noting({ content: { sha256: "", size: 7, upload: "ticket" } }),
  [`${user}/files`]: { files: [{ id: 1 }, { id: 2 }] },
  [`${user}/files/1/data`]: (_request, response) => response.end(contents["/etc/motd"]),
  [`${user}/files/2/data`]: (_request, response) => response.end(contents["/logo.png"]),
});

beforeAll(async () => {
  ({ machine, service } = await signedInMachine());
});
beforeEach(() => {
  sent = {};
  service.requests.length = 0;
  Object.assign(service.answers, usual());
  for (const one of ["Kiosk.yaml", "images"]) rmSync(join(machine.folder, one), { recursive: true, force: true });
  writeFileSync(join(machine.folder, "kiosk.yaml"), file.trimStart());
  writeFileSync(join(machine.folder, "issue"), "welcome");
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  machine[Symbol.dispose]();
});

describe("kiln schematic", () => {
  it("sends the file with its contents, and prints the address of the image", async () => {
    const now = await machine.kiln(["schematic", "kiosk.yaml"], { env });
    expect(now).toEqual({ code: 0, stdout: `${schematic.url}\n`, stderr: "" });
    const { body } = sent[`POST ${user}/schematics`] ?? { body: "{}" };
    expect(JSON.parse(body).definition.files[1]).toMatchObject({ path: "/etc/issue", upload: "ticket" });

    const then = await machine.kiln(["schematic", "kiosk.yaml", "--as-of", "2026-11-27", "--type", "iso"], { env });
    expect(then.stdout).toBe("https://kiln.example.org/image/5f0c/2026-11-27/iso\n");
  });
});

describe("kiln export", () => {
  it("writes the appliance, with what is no text next to it", async () => {
    const ended = await machine.kiln(["export", "Kiosk"]);

    expect(ended).toEqual({
      code: 0,
      stdout: "Kiosk.yaml describes all of Kiosk, with 1 file next to it (3 B).\n",
      stderr: "",
    });
    expect(String(here("Kiosk.yaml"))).toContain(`$schema=${service.url}/schema/appliance.json\n`);
    expect(String(here("Kiosk.yaml"))).toContain("file: Kiosk.files/logo.png");
    expect(new Uint8Array(here("Kiosk.files/logo.png"))).toEqual(contents["/logo.png"]);
  });

  it("demands no version, because each build raises it", async () => {
    await machine.kiln(["export", "Kiosk"]);
    expect(await machine.kiln(["plan", "Kiosk.yaml"])).toMatchObject({ code: 2 });
    const { body } = sent[`POST ${user}/appliances/1000/definition/plan`] ?? { body: "{}" };
    expect(JSON.parse(body).definition).toMatchObject({ name: "Kiosk", arch: "x86_64" });
    expect(JSON.parse(body).definition).not.toHaveProperty("version");
  });

  it("writes where it is told, the same each time, and over nothing without --force", async () => {
    mkdirSync(join(machine.folder, "images"));
    expect(await machine.kiln(["export", "1000", "images"])).toMatchObject({ code: 0 });
    const first = here("images/Kiosk.yaml");

    expect(await machine.kiln(["export", "1000", "images"])).toMatchObject({
      code: 64,
      stderr: expect.stringContaining("images/Kiosk.yaml already exists"),
    });
    writeFileSync(join(machine.folder, "images/Kiosk.yaml"), "mine");
    const again = await machine.kiln(["export", "1000", "images/Kiosk.yaml", "--force", "--json"]);
    expect(JSON.parse(again.stdout)).toEqual({
      exported: [{ appliance_id: 1000, file: "images/Kiosk.yaml", files: ["Kiosk.files/logo.png"] }],
    });
    expect(here("images/Kiosk.yaml").equals(first)).toBe(true);
  });

  it("prints what is all text, and nothing that is not", async () => {
    expect(await machine.kiln(["export", "Kiosk", "-"])).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("1 content cannot be printed"),
    });
    const text = { definition: { ...kiosk, files: definition.files.filter(({ path }) => path === "/etc/motd") } };
    service.answers[`GET ${user}/appliances/1000/definition`] = text;
    const printed = await machine.kiln(["export", "Kiosk", "-"]);
    await machine.kiln(["export", "Kiosk"]);
    expect(printed).toEqual({ code: 0, stdout: String(here("Kiosk.yaml")), stderr: "" });
  });

  it("writes every appliance, if it is told none", async () => {
    expect(await machine.kiln(["export"])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Kiosk.yaml describes/),
    });
  });

  it("writes nothing of an appliance that changes meanwhile", async () => {
    service.answers[`GET ${user}/appliances/1000/definition`] = {
      definition: { ...kiosk, files: [{ path: "/x", size: 1, sha256: "00" }] },
    };
    expect(await machine.kiln(["export", "1000"])).toMatchObject({ code: 1, stderr: expect.stringContaining("again") });
    expect(() => here("Kiosk.yaml")).toThrow("ENOENT");
  });
});

describe("kiln plan", () => {
  it("prints what would change, resolved by the service, and changes nothing", async () => {
    const ended = await machine.kiln(["plan", "kiosk.yaml"], { env });

    expect(ended).toEqual({
      code: 2,
      stdout: [
        "Kiosk, appliance 1000:",
        "  + packages hello",
        "  - bans vim",
        "  ~ configuration.settings.memory_size: 512 -> 1024",
        "  ~ configuration.users.password root: another password",
        "  ~ patterns: another order",
        "+1 package, +38.0 MB",
        "  + hello 1.1-1",
        "",
      ].join("\n"),
      stderr: "Nothing was changed: `kiln apply kiosk.yaml` does it.\n",
    });
    expect(changing()).toEqual([]);
    expect(JSON.parse(sent[`POST ${user}/appliances/1000/definition/plan`]?.body ?? "")).toEqual({
      definition: {
        name: "Kiosk",
        base_system: "tiny-1.0",
        configuration: { users: [{ name: "root", password: "quiet" }] },
        files: [
          { path: "/etc/motd", size: 6, sha256: digestOf(contents["/etc/motd"]) },
          { path: "/etc/issue", size: 7, sha256: digestOf(new TextEncoder().encode("welcome")) },
        ],
      },
    });
  });

  it("ends with 0 if nothing would change, and with 3 if it could not be installed", async () => {
    const plan = `POST ${user}/appliances/1000/definition/plan`;
    service.answers[plan] = noting(planned({ changes: [] }));
    expect(await machine.kiln(["plan", "kiosk.yaml"], { env })).toEqual({
      code: 0,
      stdout: "Kiosk, appliance 1000, matches the file.\n",
      stderr: "",
    });
    service.answers[plan] = noting(planned({ software: { ...effect, state: "unsolvable", problems: [] } }));
    expect(await machine.kiln(["plan", "kiosk.yaml"], { env })).toMatchObject({
      code: 3,
      stderr: "Nothing was changed, and this cannot be installed.\n",
    });
  });

  it("says how to edit a file that cannot be installed", async () => {
    const none = { add_package: [], remove_package: [], add_pattern: [], remove_pattern: [] };
    const change = { ...none, ban_package: [], unban_package: ["vim"], add_repository: [], remove_repository: [] };
    const solution = { text: "do not ask to install hello", change };
    const problems = [{ text: "nothing provides libgreet", meant: [], solutions: [solution] }];
    service.answers[`POST ${user}/appliances/1000/definition/plan`] = noting(
      planned({ software: { ...effect, state: "unsolvable", problems } }),
    );
    const { stdout } = await machine.kiln(["plan", "kiosk.yaml"], { env });
    expect(stdout).toContain("error: nothing provides libgreet.\n  remove hello from packages\n");
  });

  it("prints what a program needs to apply just that", async () => {
    const { stdout } = await machine.kiln(["plan", "kiosk.yaml", "--json"], { env });
    expect(JSON.parse(stdout)).toEqual({ ...planned({}), appliance_id: 1000, etag: '"seen"' });
  });
});

describe("a file that is named", () => {
  it.each(["../secret", "link"])("is not read outside of the folder: %s", async (path) => {
    mkdirSync(join(machine.folder, "images"));
    writeFileSync(join(machine.folder, "secret"), "mine");
    symlinkSync("../secret", join(machine.folder, "images/link"));
    writeFileSync(join(machine.folder, "images/kiosk.yaml"), file.replace("file: issue", `file: ${path}`).trimStart());
    const ended = await machine.kiln(["plan", "images/kiosk.yaml"], { env });
    expect(ended).toMatchObject({ code: 64, stderr: expect.stringContaining(`names ${path}, which cannot be read`) });
  });
});

describe("kiln apply", () => {
  it("sends the contents that the service lacks, and then everything in one conditional request", async () => {
    const ended = await machine.kiln(["apply", "kiosk.yaml"], { env });

    expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/\nApplied to appliance 1000\.\n$/) });
    expect(changing()).toEqual([`POST ${user}/contents`, `PUT ${user}/appliances/1000/definition`]);
    expect(sent[`POST ${user}/contents`]?.body).toBe("welcome");
    const put = sent[`PUT ${user}/appliances/1000/definition`];
    expect(put?.headers).toMatchObject({ "if-match": '"seen"', "idempotency-key": expect.stringMatching(/.{36}/) });
    expect(JSON.parse(put?.body ?? "").definition.files).toMatchObject([
      { path: "/etc/motd" },
      { path: "/etc/issue", upload: "ticket" },
    ]);
  });

  it("sends nothing if nothing would change, or if it could not be installed", async () => {
    const plan = `POST ${user}/appliances/1000/definition/plan`;
    service.answers[plan] = noting(planned({ changes: [] }));
    expect(await machine.kiln(["apply", "kiosk.yaml"], { env })).toMatchObject({ code: 0 });
    service.answers[plan] = noting(planned({ software: { ...effect, state: "unsolvable", problems: [] } }));
    expect(await machine.kiln(["apply", "kiosk.yaml"], { env })).toMatchObject({ code: 3 });
    expect(changing()).toEqual([]);
    expect(await machine.kiln(["apply", "kiosk.yaml", "--force"], { env })).toMatchObject({ code: 3 });
    expect(changing()).toHaveLength(2);
  });

  it("prints that something else changed the appliance meanwhile", async () => {
    service.answers[`PUT ${user}/appliances/1000/definition`] = noting(changed, 412);
    const ended = await machine.kiln(["apply", "kiosk.yaml", "--if-match", '"planned"'], { env });
    expect(ended).toMatchObject({ code: 1, stdout: "" });
    expect(ended.stderr).toBe(
      "kiln: Something else has changed Kiosk in the meantime.\n" +
        "Nothing was changed. `kiln plan` shows what is different now; then apply the file again.\n",
    );
    expect(sent[`PUT ${user}/appliances/1000/definition`]?.headers["if-match"]).toBe('"planned"');
  });

  it("makes an appliance if there is none of that name, and changes the one of --id", async () => {
    service.answers[`${user}/appliances`] = { appliances: [] };
    const made = await machine.kiln(["apply", "kiosk.yaml"], { env });
    expect(made.stdout).toMatch(/^Kiosk, a new appliance of tiny-1\.0:\n[^]*\nApplied to appliance 1001\.\n$/);
    expect(changing().at(-1)).toBe(`POST ${user}/definitions?only_new=true`);

    writeFileSync(join(machine.folder, "kiosk.yaml"), `arch: aarch64\n${file.trimStart()}`);
    const { stdout } = await machine.kiln(["plan", "kiosk.yaml"], { env });
    expect(stdout).toMatch(/^Kiosk, a new appliance of tiny-1\.0 for aarch64:\n/);

    expect(await machine.kiln(["apply", "kiosk.yaml", "--id", "1000"], { env })).toMatchObject({ code: 0 });
    expect(changing().at(-1)).toBe(`PUT ${user}/appliances/1000/definition`);
  });
});
