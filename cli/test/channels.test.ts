/** `kiln channel`, and downloads from a channel. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { newMachine, type Machine } from "./support/machine.ts";
import { newKey, signedInto, signedProvenance, standIn, type StandIn } from "./support/service.ts";

const key = newKey();
const json = { "content-type": "application/json" };
const name = "First.x86_64-0.0.2.oem.tar.gz";
const image = Buffer.from("an image");
const bills = { [`${name}.spdx.json`]: "{}", [`${name}.cdx.json`]: "{}" };

let machine: Machine;
let service: StandIn;
/** The body of the request that changes a channel. */
let sent: string;
beforeEach(async () => {
  machine = newMachine();
  sent = "";
  service = await standIn(signedInto(key));
  await machine.kiln(["login", service.url, "--account", "tux"], { input: "key\n" });
  const url = `${service.url}/image/tux/7/stable/oem`;
  const sha256 = createHash("sha256").update(image).digest("hex");
  const ofOem = { build_id: 12, image_type: "oem", url, file_name: name, bytes: image.length, sha256 };
  const stable = { name: "stable", automatic: false, version: "0.0.2", moved_at: "2026-11-26T10:00:00Z" };
  const channels = { channels: [{ ...stable, images: [ofOem] }] };
  service.answers["/api/v2/user/gallery/appliances/7/channels"] = channels;
  service.answers["PUT /api/v2/user/appliances/7/channels/stable"] = (request, response) => {
    request.on("data", (part: Buffer) => (sent += part.toString()));
    request.on("end", () => response.writeHead(200, json).end(JSON.stringify(channels)));
  };
  const provenance = signedProvenance({ [name]: image, ...bills }, key, { version: "0.0.2" });
  const files = { "": image, ".spdx.json": "{}", ".cdx.json": "{}", ".intoto.jsonl": provenance };
  for (const [suffix, content] of Object.entries(files)) {
    const file = `/image/tux/7/0.0.2/oem/${name}${suffix}`;
    service.answers[`/image/tux/7/stable/oem${suffix}`] = (_, response) =>
      response.writeHead(302, { location: file }).end();
    service.answers[file] = (_, response) => response.writeHead(200, { "content-length": content.length }).end(content);
  }
});
afterEach(async () => {
  await service[Symbol.asyncDispose]();
  machine[Symbol.dispose]();
});

it("moves a channel, and prints its address", async () => {
  const { code, stdout } = await machine.kiln("channel set 7 stable --version 0.0.2 --automatic off".split(" "));
  expect(code).toBe(0);
  expect(stdout).toMatch(/\nstable +0\.0\.2 +by hand +2026-11-26 10:00 +http:.*\/image\/tux\/7\/stable\/oem\n/);
  expect(sent).toBe("version=0.0.2&automatic=false");
});

it("does not guess what --automatic means", async () => {
  const { code, stderr } = await machine.kiln("channel set 7 stable --automatic perhaps".split(" "));
  expect([code, stderr]).toEqual([64, expect.stringContaining("--automatic is on or off, not perhaps.")]);
});

it("downloads and verifies the image of a channel under its own name", async () => {
  const { code, stdout } = await machine.kiln(["download", "7:oem", "--channel", "stable"]);
  expect([code, stdout]).toEqual([0, expect.stringContaining(`${name} is verified.`)]);
  expect(existsSync(join(machine.folder, name))).toBe(true);
});

it.each([
  ["7 --channel testing", "7 has no channel testing."],
  ["7:iso --channel stable", "Version 0.0.2 in stable has no iso image."],
])("says what is missing for %s", async (words, message) => {
  const { code, stderr } = await machine.kiln(["download", ...words.split(" ")]);
  expect([code, stderr]).toEqual([9, expect.stringContaining(message)]);
});
