import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { digestOf } from "../src/appliance-file/write.ts";
import { kiosk, withFiles } from "./support/definition.ts";
import { newMachine, type Machine } from "./support/machine.ts";
import { newKey, signedInto, standIn, type StandIn } from "./support/service.ts";

const user = "/api/v2/user";
const contents = { "/etc/motd": new TextEncoder().encode("hello\n"), "/logo.png": Uint8Array.of(137, 0, 255) };
const definition = withFiles(contents, digestOf);

let machine: Machine;
let service: StandIn;
const here = (file: string) => readFileSync(join(machine.folder, file));

beforeEach(async () => {
  machine = newMachine();
  service = await standIn({
    ...signedInto(newKey()),
    [`${user}/appliances`]: { appliances: [{ id: 1000, name: "Kiosk" }] },
    [`${user}/appliances/1000`]: { appliance: { id: 1000, name: "Kiosk" } },
    [`GET ${user}/appliances/1000/definition`]: (_request, response) =>
      response.writeHead(200, { etag: '"seen"' }).end(JSON.stringify({ definition })),
    [`${user}/files`]: { files: [{ id: 1 }, { id: 2 }] },
    [`${user}/files/1/data`]: (_request, response) => response.end(contents["/etc/motd"]),
    [`${user}/files/2/data`]: (_request, response) => response.end(contents["/logo.png"]),
  });
  await machine.kiln(["login", service.url, "--account", "tux"], { input: "key\n" });
});
afterEach(async () => {
  await service[Symbol.asyncDispose]();
  machine[Symbol.dispose]();
});

describe("kiln export", () => {
  it("writes the appliance, with what is no text next to it", async () => {
    const ended = await machine.kiln(["export", "Kiosk"]);

    expect(ended).toEqual({
      code: 0,
      stdout: "Kiosk.yaml says all of Kiosk, with 1 file next to it (3 B).\n",
      stderr: "",
    });
    expect(String(here("Kiosk.yaml"))).toContain(`$schema=${service.url}/schema/appliance.json\n`);
    expect(String(here("Kiosk.yaml"))).toContain("file: Kiosk.files/logo.png");
    expect(new Uint8Array(here("Kiosk.files/logo.png"))).toEqual(contents["/logo.png"]);
  });

  it("writes where it is told, the same each time, and over nothing without --force", async () => {
    mkdirSync(join(machine.folder, "images"));
    expect(await machine.kiln(["export", "1000", "images"])).toMatchObject({ code: 0 });
    const first = here("images/Kiosk.yaml");

    expect(await machine.kiln(["export", "1000", "images"])).toMatchObject({
      code: 64,
      stderr: expect.stringContaining("images/Kiosk.yaml is there already"),
    });
    writeFileSync(join(machine.folder, "images/Kiosk.yaml"), "mine");
    const again = await machine.kiln(["export", "1000", "images/Kiosk.yaml", "--force", "--json"]);
    expect(JSON.parse(again.stdout)).toEqual({
      exported: [{ appliance_id: 1000, file: "images/Kiosk.yaml", files: ["Kiosk.files/logo.png"] }],
    });
    expect(here("images/Kiosk.yaml").equals(first)).toBe(true);
  });

  it("writes every appliance, if it is told none", async () => {
    expect(await machine.kiln(["export"])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Kiosk.yaml says/),
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
