import { afterAll, beforeAll, expect, it } from "vitest";
import type { Machine } from "./support/machine.ts";
import { answering, busy, type StandIn } from "./support/service.ts";
import { signedInMachine } from "./support/signed-in.ts";

let machine: Machine;
let service: StandIn;
let sent = "";

beforeAll(async () => {
  ({ machine, service } = await signedInMachine({
    "/api/v2/user/appliances/41": { appliance: { id: 41, arch: "i586" } },
    "/api/v2/user/gallery/appliances/43": { gallery: { appliance: { id: 43, arch: "aarch64" } } },
    "POST /api/v2/user/appliances": answering(
      { appliance: { id: 1000, name: "First", basesystem: "debian-12-i386" } },
      (body) => (sent = body),
    ),
  }));
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  machine[Symbol.dispose]();
});

it.each([
  ["keeps the architecture of the source", "clone 41", "i586"],
  ["has another one on request", "clone 41 --arch x86_64", "x86_64"],
  ["from the gallery keeps it, too", "gallery clone 41", "i586"],
  ["keeps that of a publication of another account", "clone 43", "aarch64"],
  ["is for x86_64 if the source cannot be read", "clone 999", "x86_64"],
])("a clone %s", async (_, line, arch) => {
  const ended = await machine.kiln(line.split(" "));
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining("First is appliance 1000") });
  expect(sent).toContain(arch);
});

it.each(["clone 42", "gallery clone 42"])("`kiln %s` makes nothing if the source cannot be read now", async (line) => {
  service.answers["/api/v2/user/appliances/42"] = busy(3600, 503);
  sent = "";
  expect(await machine.kiln(line.split(" "))).toMatchObject({ code: 4, stdout: "" });
  expect(sent).toBe("");
});
