import { z } from "zod";
import { CompletePackage, partDigestHeader, Sha256 } from "#lib/contract/index";
import { completePackage, packagesOfBuild, readPiece, storePiece } from "#domain/builds/stored-packages";
import { heldBuild } from "#agent-api/attempt";
import { readMessage } from "#agent-api/body";
import { factory } from "#agent-api/factory";
import { AgentRefusal } from "#agent-api/refusal";

const PackageId = z.coerce.number().int().positive();
const PieceParams = z.object({ packageId: PackageId, piece: z.coerce.number().int().min(1).max(64) });
const Sent = z.object({ size: z.coerce.number().int().positive(), sha256: Sha256 });

/**
 * Files of frozen packages, stored because mirrors may drop them. An attempt uploads the files that it has fetched, and
 * downloads those that it can no longer fetch.
 */
export const storedPackages = factory
  .createApp()
  .get("/:id/stored-packages", async (c) => {
    const build = await heldBuild(c);
    return c.json({ packages: await packagesOfBuild({ env: c.env, db: c.var.db }, build) });
  })
  .get("/:id/stored-packages/:packageId/:piece", async (c) => {
    const build = await heldBuild(c);
    const piece = await readPiece({ env: c.env, db: c.var.db }, build, PieceParams.parse(c.req.param()));
    if (!piece) throw new AgentRefusal("no_package");
    return new Response(piece.body, {
      headers: { "content-type": "application/octet-stream", "content-length": String(piece.size) },
    });
  })
  .put("/:id/stored-packages/:packageId/:piece", async (c) => {
    const build = await heldBuild(c);
    const sent = Sent.parse({ size: c.req.header("content-length"), sha256: c.req.header(partDigestHeader) });
    const body = c.req.raw.body;
    if (!body) throw new AgentRefusal("invalid", "The piece has no body.");
    const stored = await storePiece({ env: c.env, db: c.var.db }, build, {
      ...PieceParams.parse(c.req.param()),
      ...sent,
      body,
    });
    if (stored !== "stored") throw refusal(stored);
    return c.json({});
  })
  .post("/:id/stored-packages/:packageId", async (c) => {
    const build = await heldBuild(c);
    const packageId = PackageId.parse(c.req.param("packageId"));
    const { pieces } = await readMessage(c, CompletePackage);
    const answer = await completePackage({ env: c.env, db: c.var.db }, build, { packageId, pieces });
    if (typeof answer === "string") throw refusal(answer);
    return c.json(answer);
  });

const refusal = (why: "unknown" | "wrong_digest"): AgentRefusal =>
  why === "unknown" ? new AgentRefusal("no_package") : new AgentRefusal("wrong_digest");
