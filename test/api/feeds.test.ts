/** Atom feeds: of an account's events, and of a published appliance. */
import { env } from "cloudflare:workers";
import { beforeEach, expect, it } from "vitest";
import { sendOutbox } from "#domain/events/events";
import { openDatabase } from "#storage/db";
import { newRoom, type Room } from "../support/channels.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { tokenOf } from "../support/tokens.ts";

const services = { env, db: openDatabase(env) };

let tux: Client;
let room: Room;
beforeEach(async () => {
  tux = await signedIn();
  room = await newRoom(tux);
});

const titlesIn = (text: string) => [...text.matchAll(/<entry>[^]*?<title>(.*?)<\/title>/g)].map(([, title]) => title);

it("has the account's events that matter, newest first, and no other account's", async () => {
  await room.set("stable", "automatic=true");
  await room.released("0.0.1");
  await sendOutbox(services);

  const answer = await tux.get("/feed");
  expect(answer.headers.get("content-type")).toBe("application/atom+xml; charset=utf-8");
  const text = await answer.text();
  expect(titlesIn(text).toSorted()).toEqual([
    "New image: Reading room 0.0.1, oem",
    "Published: Reading room 0.0.1",
    "The channel stable of Reading room has 0.0.1",
  ]);
  expect(text).toContain(`<title>Kiln: ${tux.username}</title>`);
  expect(text).toContain(`<link href="https://kiln.test/appliance/${room.id}/share"/>`);
  expect(text).toContain('<link rel="self" href="https://kiln.test/api/v2/user/feed"/>');
  for (const secret of [tux.apiKey, "download"]) expect(text).not.toContain(secret);

  const again = { headers: { "if-none-match": answer.headers.get("etag") ?? "" } };
  expect((await tux.get("/feed", again)).status).toBe(304);
  expect(titlesIn(await (await (await signedIn()).get("/feed")).text())).toEqual([]);
});

it("accepts a token that may only read", async () => {
  const { client } = await tokenOf(tux);
  expect((await client.get("/feed")).status).toBe(200);
});

it("has the versions and moves of a published appliance, for everyone", async () => {
  expect((await visit(`/gallery/${room.id}/feed`)).status).toBe(404);
  await room.released("0.0.1");
  await room.released("0.0.2");
  await room.set("stable", "version=0.0.1");

  const answer = await visit(`/gallery/${room.id}/feed`);
  const text = await answer.text();
  expect(titlesIn(text)).toEqual([
    "The channel stable of Reading room has 0.0.1",
    "Published: Reading room 0.0.2",
    "Published: Reading room 0.0.1",
  ]);
  const ids = [...text.matchAll(/<id>(.*?)<\/id>/g)].map(([, id]) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const headers = { "if-none-match": answer.headers.get("etag") ?? "" };
  expect((await visit(`/gallery/${room.id}/feed`, { headers })).status).toBe(304);
  expect(await (await visit(`/gallery/${room.id}`)).text()).toContain(`/gallery/${room.id}/feed`);
});
