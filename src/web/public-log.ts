import { Hono } from "hono";
import { readCheckpoint, verifierKey } from "#lib/attest/log/checkpoint";
import { isTilePath } from "#lib/attest/log/tiles";
import { newestNote } from "#domain/log/log";
import { listPublicKeys } from "#domain/builds/attestation-keys";
import { findCheckpoint, findTile } from "#storage/log-files";

/** Monitors may be web pages of other sites. */
const anyone = { "access-control-allow-origin": "*" };
const text = { ...anyone, "content-type": "text/plain; charset=utf-8" };

/** The public log as files (c2sp.org/tlog-tiles). */
export const publicLog = new Hono<{ Bindings: Env }>()
  .get("/checkpoint", async (c) => {
    const note = await newestNote(c.env.BLOBS);
    return note !== undefined ? c.body(note, 200, { ...text, "cache-control": "no-cache" }) : empty();
  })
  .get("/keys", async (c) => {
    const found = await findCheckpoint(c.env.BLOBS);
    const checkpoint = found && readCheckpoint(found.note);
    if (!checkpoint) return empty();
    const keys = await listPublicKeys(c.env);
    const lines = keys.map((key) => `${verifierKey(checkpoint.origin, key)}\n`);
    return c.body(lines.join(""), 200, { ...text, "cache-control": "public, max-age=300" });
  })
  .get("/:path{tile/.+}", async (c) => {
    const path = c.req.param("path");
    const tile = isTilePath(path) ? await findTile(c.env.BLOBS, path) : undefined;
    if (!tile) return new Response("There is no such tile.\n", { status: 404, headers: text });
    return c.body(Uint8Array.from(tile), 200, {
      ...anyone,
      "content-type": "application/octet-stream",
      "cache-control": "public, max-age=31536000, immutable",
    });
  });

const empty = () => new Response("The log has no entries yet.\n", { status: 404, headers: text });
