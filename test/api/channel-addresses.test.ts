/** The addresses of channels, which need no account. */
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newRoom, type Room } from "../support/channels.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { galleryPath, publish } from "../support/gallery.ts";

let tux: Client;
let room: Room;
beforeAll(async () => {
  tux = await signedIn();
});
beforeEach(async () => {
  room = await newRoom(tux);
});

const open = (path: string, init: RequestInit = {}) => visit(path, { redirect: "manual", ...init });
const follow = async (path: string) => await open((await open(path)).headers.get("location") ?? "/nowhere");

describe("the address of a channel", () => {
  it("redirects without an account to the file with its name", async () => {
    await room.released("0.0.1", "oem", "iso");
    await room.set("stable", "version=0.0.1");
    const answer = await open(room.at("stable/oem"));
    const etag = answer.headers.get("etag") ?? "";
    expect([answer.status, answer.headers.get("location")]).toEqual([302, room.at("0.0.1/oem/Room-0.0.1.oem")]);
    expect(answer.headers.get("cache-control")).toBe("public, max-age=60");
    const again = await open(room.at("stable/oem"), { headers: { "if-none-match": etag } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    const head = await open(room.at("stable/oem"), { method: "HEAD" });
    expect([head.status, head.headers.get("location")]).toEqual([302, room.at("0.0.1/oem/Room-0.0.1.oem")]);

    const file = await follow(room.at("stable/oem"));
    expect(file.headers.get("content-disposition")).toBe('attachment; filename="Room-0.0.1.oem"');
    expect(file.headers.get("cache-control")).toBe("no-cache");
    expect(await file.bytes()).toEqual(room.image("0.0.1"));
    const part = await open(room.at("0.0.1/oem/Room-0.0.1.oem"), { headers: { range: "bytes=4-8" } });
    expect([part.status, await part.text()]).toEqual([206, "image"]);
    expect((await open(room.at("0.0.1/oem/Room-0.0.1.oem"), { method: "HEAD" })).status).toBe(200);

    await room.released("0.0.2");
    await room.set("stable", "version=0.0.2");
    const moved = await open(room.at("stable/oem"), { headers: { "if-none-match": etag } });
    expect([moved.status, moved.headers.get("location")]).toEqual([302, room.at("0.0.2/oem/Room-0.0.2.oem")]);
    // A download that began before the move can continue.
    expect((await open(room.at("0.0.1/oem/Room-0.0.1.oem"))).status).toBe(200);
  });

  it("has the checksum and the documents about the image next to it", async () => {
    await room.released("0.0.1");
    await room.set("stable", "version=0.0.1");
    const [stable] = await room.channels();
    const checksum = await follow(room.at("stable/oem.sha256"));
    expect(checksum.headers.get("content-disposition")).toContain("Room-0.0.1.oem.sha256");
    expect(await checksum.text()).toBe(`${stable?.images[0]?.sha256}  Room-0.0.1.oem\n`);
    const provenance = await follow(room.at("stable/oem.intoto.jsonl"));
    expect(provenance.headers.get("content-type")).toBe("application/vnd.in-toto.bundle");
    const spdx = await (await follow(room.at("stable/oem.spdx.json"))).json();
    expect(spdx).toMatchObject({ spdxVersion: "SPDX-2.3" });
    expect((await follow(room.at("stable/oem.cdx.json"))).status).toBe(200);
  });

  it("names the appliance by its room.id, so it stays when the appliance gets another name", async () => {
    await room.released("0.0.1");
    await room.set("stable", "version=0.0.1");
    const name = "<configuration><name>Other</name></configuration>";
    expect((await tux.put(`/appliances/${room.id}/configuration`, name)).status).toBe(200);
    expect((await open(room.at("stable/oem"))).status).toBe(302);
  });

  it("says what is there if the channel has no such image, or no version", async () => {
    await room.released("0.0.1", "oem", "iso");
    await room.released("0.0.2");
    await room.set("stable", "version=0.0.1");
    const wrong = await open(room.at("stable/vmx"));
    expect([wrong.status, await wrong.text()]).toEqual([
      404,
      "Version 0.0.1 in the channel stable has no such format. It has: oem, iso.\n",
    ]);
    await tux.delete(galleryPath(room.id, "/version/0.0.1"));
    const none = await open(room.at("stable/oem"));
    expect([none.status, await none.text()]).toEqual([404, "The channel stable has no version at the moment.\n"]);
    expect((await open(room.at("0.0.1/oem/Room-0.0.1.oem"))).status).toBe(404);
  });

  it("does not tell an unpublished appliance from an unknown one", async () => {
    await room.build("0.0.1");
    await room.set("stable");
    const unknown = await open("/image/nobody/1/stable/oem");
    const body = await unknown.text();
    expect([unknown.status, body]).toEqual([404, "There is no such file.\n"]);
    const stranger = await signedIn();
    await publish(tux, room.id, "0.0.1");
    await room.set("stable", "version=0.0.1");
    const others = [
      room.at("stable/oem", stranger),
      room.at("testing/oem"),
      `/image/${tux.username}/999999999/stable/oem`,
      `/image/${tux.username}/x/stable/oem`,
      "/image/%2F/%00/%F0/%9F",
      room.at("0.0.1/iso/Room-0.0.1.oem"),
      room.at("0.0.1/oem/Room-0.0.1.iso"),
    ];
    for (const path of others) {
      const answer = await open(path);
      expect([path, answer.status, await answer.text()]).toEqual([path, 404, body]);
    }
    await tux.delete(galleryPath(room.id, "/version/0.0.1"));
    const withdrawn = await open(room.at("stable/oem"));
    expect([withdrawn.status, await withdrawn.text()]).toEqual([404, body]);
  });

  it("leads to no published version that was in no channel", async () => {
    await room.released("0.0.1");
    expect((await open(room.at("0.0.1/oem/Room-0.0.1.oem"))).status).toBe(404);
  });
});
