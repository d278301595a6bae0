import type { ServerResponse } from "node:http";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Option } from "../src/command.ts";
import { commands } from "../src/commands.ts";
import { localPaths, placeholders } from "../src/placeholders.ts";
import { assistantOf, called } from "./support/assistant.ts";
import { newMachine, type Machine } from "./support/machine.ts";
import { newKey, signedInto, standIn, type StandIn } from "./support/service.ts";

const path = "/api/v2/user/appliances";
const appliances = [{ id: 1000, name: "First", basesystem: "tiny-1.0", arch: "x86_64", type: "oem", builds: [] }];
const unsolvable = { state: "unsolvable", added: [], removed: [], problems: [] };
const build = {
  id: 12,
  state: "finished",
  image_type: "oem",
  version: "0.0.1",
  download_url: "http://x.test/First.tgz",
};

const badGateway = (_request: unknown, response: ServerResponse) => response.writeHead(502).end("Bad gateway");

let machine: Machine;
let service: StandIn;
let reader: Client;
let writer: Client;

beforeAll(async () => {
  machine = newMachine();
  service = await standIn({
    ...signedInto(newKey()),
    [path]: { appliances },
    [`${path}/1000/status`]: { status: { state: "error", issues: [{ type: "error", text: "It has no kernel." }] } },
    [`${path}/1000/software/effect`]: { software_effect: unsolvable },
    "/api/v2/user/builds/12": { build },
    "/api/v2/user/definitions/plan": {
      plan: {
        changes: [{ name: "packages", item: "hello", to: "" }],
        software: { state: "unimported", added: [], removed: [], problems: [] },
      },
    },
    "/api/v2/user/running_builds/13/log": (_request, response) =>
      response.writeHead(200, { "content-type": "text/plain" }).end(`first line\n${"x".repeat(200_000)}\nlast line\n`),
    [`${path}/1000/configuration`]: { configuration: { users: [{ name: "root", password: "linux" }] } },
    [`${path}/1000/software/manifest/oem`]: (_request, response) =>
      response.end('<user name="root" password="$6$salt$hash"/>'),
    "/api/v2/user/testdrives": { testdrives: [{ id: 3, server: { vnc: { password: "viewer" } } }] },
    [`${path}/1002`]: badGateway,
    [`${path}/1002/software`]: badGateway,
    [`${path}/1002/definition`]: badGateway,
  });
  await machine.kiln(["login", service.url, "--account", "tux"], { input: "key\n" });
  [reader, writer] = await Promise.all([assistantOf(machine), assistantOf(machine, "--write")]);
});
afterAll(async () => {
  await Promise.all([reader.close(), writer.close()]);
  await service[Symbol.asyncDispose]();
  machine[Symbol.dispose]();
});

describe("kiln mcp", () => {
  it("offers only what reads, and with --write also what changes something", async () => {
    const reading = (await reader.listTools()).tools;
    const writing = (await writer.listTools()).tools;
    expect(reading.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
    const more = writing.filter(({ name }) => !reading.some((one) => one.name === name));
    expect(more.map(({ name }) => name)).toEqual(expect.arrayContaining(["clone", "add", "build", "cancel", "delete"]));
    expect(more.every(({ annotations }) => annotations?.readOnlyHint === false)).toBe(true);
    expect(more.filter(({ annotations }) => annotations?.destructiveHint).map(({ name }) => name)).toEqual([
      "delete",
      "cancel",
      "delete_build",
    ]);
    expect(writing).toHaveLength(commands.filter(({ tool }) => tool !== undefined).length);
  });

  it("describes a tool with the texts of its command", async () => {
    const tool = (await writer.listTools()).tools.find(({ name }) => name === "add");
    expect(tool).toMatchObject({
      title: "Select packages, and show what the image gains",
      inputSchema: {
        required: ["appliance", "package"],
        additionalProperties: false,
        properties: {
          appliance: { type: "string", description: "id or name of one of your appliances" },
          package: { type: "array", items: { type: "string" }, minItems: 1 },
          dry_run: { type: "boolean", description: "only show what it would do" },
          repository: { type: "string" },
        },
      },
    });
  });

  it("offers no option that is a path on this machine", async () => {
    const paths = Object.entries(placeholders).filter(([, meaning]) => meaning.includes("on this machine"));
    expect(new Set(paths.map(([name]) => name))).toEqual(localPaths);
    const all = commands.flatMap(({ options }) => Object.values<Option>(options));
    const abouts = all
      .filter(({ placeholder }) => placeholder && localPaths.has(placeholder))
      .map(({ about }) => about);
    const { tools } = await writer.listTools();
    const offered = tools.flatMap(({ inputSchema }) => Object.values(inputSchema.properties ?? {}));
    expect(offered.filter((one) => abouts.includes(String(Object(one).description)))).toEqual([]);
    const check = tools.find(({ name }) => name === "log_check");
    expect(Object.keys(check?.inputSchema.properties ?? {})).toEqual(["json"]);
    const answer = await called(reader, "log_check", { witnesses: "/etc/passwd" });
    expect(answer).toEqual({ text: expect.stringContaining("must NOT have additional properties"), isError: true });
  });

  it("answers with what the command prints, or with JSON", async () => {
    const { text } = await called(reader, "list");
    expect(text).toMatch(/^ID {4}NAME .*\n1000 {2}First /);
    expect(JSON.parse((await called(reader, "list", { json: true })).text)).toEqual({ appliances });
    expect(await called(reader, "link", { build: "12" })).toEqual({ text: build.download_url, isError: false });
  });

  it("answers a question even if the answer is no", async () => {
    const answer = await called(reader, "status", { appliance: "First" });
    expect(answer).toEqual({ text: "It cannot be built.\nerror: It has no kernel.", isError: false });
  });

  it.each([
    ["show", { appliance: "Nope" }, "There is no appliance called Nope.\n`kiln list` shows your appliances."],
    ["show", { appliance: "1002" }, "The service answered 502 Bad Gateway\nTry again in a moment."],
    ["show", {}, "must have required property 'appliance'"],
    ["show", { appliance: "First", verbose: true }, "must NOT have additional properties"],
    ["add", { appliance: "First", package: ["nope"] }, "cannot be installed"],
    ["add", { appliance: "First", package: [] }, "must NOT have fewer than 1 items"],
  ])("says what is wrong with %s %j", async (name, given, message) => {
    const answer = await called(writer, name, given);
    expect(answer).toEqual({ text: expect.stringContaining(message), isError: true });
  });

  it("plans what an assistant has written, and reads no file or variable of this machine for it", async () => {
    const start = "name: Kiosk\nbase_system: tiny-1.0\n";
    const file = `${start}packages: [hello]\n`;
    expect(await called(reader, "plan", { file })).toMatchObject({ isError: false });
    const secrets = [
      "users: [{ name: root, uid: 0, group: root, shell: /bin/sh, homedir: /root, password: { env: HOME } }]",
      "scripts: { boot: { enabled: true, script: { file: config/kiln/current } } }",
    ];
    const before = service.requests.length;
    for (const secret of secrets) {
      const answer = await called(reader, "plan", { file: `${start}configuration:\n  ${secret}\n` });
      expect(answer).toEqual({ text: expect.stringMatching(/HOME, which is not set|cannot be read/), isError: true });
    }
    expect(service.requests).toHaveLength(before);
  });

  it.each([
    ["config_get", { appliance: "First" }, "linux"],
    ["config_get", { appliance: "First", json: true }, "linux"],
    ["config_get", { appliance: "First", setting: "users" }, "linux"],
    ["manifest", { appliance: "First", type: "oem" }, "$6$"],
    ["testdrives", { json: true }, "viewer"],
  ])("shows no secret with %s %j", async (name, given, secret) => {
    const { text, isError } = await called(writer, name, given);
    expect([isError, text]).toEqual([false, expect.stringMatching(/password/)]);
    expect(text).not.toContain(secret);
  });

  it("has no option that shows secrets", async () => {
    const answer = await called(writer, "config_get", { appliance: "First", show_secrets: true });
    expect(answer).toEqual({ text: expect.stringContaining("must NOT have additional properties"), isError: true });
  });

  it("has no tool that changes something without --write, even for a client that knows its name", async () => {
    const before = service.requests.length;
    await expect(called(reader, "add", { appliance: "First", package: ["hello"] })).rejects.toThrow("add");
    expect(service.requests).toHaveLength(before);
  });

  it("shows the beginning and the end of a long log", async () => {
    const { text } = await called(reader, "logs", { build: "13" });
    expect(text).toMatch(/^first line\n[^]*characters are omitted[^]*last line$/);
    expect(text.length).toBeLessThan(61_000);
  });

  it("reports to the user, but not to an assistant, that no one is signed in", async () => {
    using elsewhere = newMachine();
    expect(await elsewhere.kiln(["mcp"])).toMatchObject({ code: 7, stdout: "", stderr: /You are not signed in/ });
  });

  it("ends with its input", async () => {
    expect(await machine.kiln(["mcp"])).toEqual({ code: 0, stdout: "", stderr: "" });
  });
});
