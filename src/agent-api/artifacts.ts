import { z } from "zod";
import { ArtifactName, CompleteUpload, OpenUpload, partDigestHeader, Sha256 } from "#lib/contract/index";
import { putPart } from "#storage/artifacts";
import { attemptOf } from "#agent-api/attempt";
import { readMessage } from "#agent-api/body";
import { factory } from "#agent-api/factory";
import { accepted, AgentRefusal } from "#agent-api/refusal";

const Artifact = z.object({ name: ArtifactName });
const Part = z.object({
  number: z.coerce.number().int().positive(),
  size: z.coerce.number().int().positive(),
  sha256: Sha256,
});

/** Uploads of an attempt's artifacts: opened or resumed, sent part by part, and then completed. */
export const artifacts = factory
  .createApp()
  .post("/:id/artifacts/:name", async (c) => {
    const { name } = Artifact.parse(c.req.param());
    const { build, token } = attemptOf(c);
    const file = await readMessage(c, OpenUpload);
    return c.json(accepted(await build.openUpload(token, name, file)));
  })
  .put("/:id/artifacts/:name/parts/:number", async (c) => {
    const { name } = Artifact.parse(c.req.param());
    const { build, token } = attemptOf(c);
    const part = Part.parse({
      number: c.req.param("number"),
      size: c.req.header("content-length"),
      sha256: c.req.header(partDigestHeader),
    });
    const body = c.req.raw.body;
    if (!body) throw new AgentRefusal("invalid", "The part has no body.");

    const place = accepted(await build.expectPart(token, name, part));
    if ("recorded" in place) {
      await body.pipeTo(new WritableStream());
      return c.json(place);
    }
    const { etag, sha256 } = await putPart(c.env.BLOBS, place, { ...part, body });
    if (sha256 !== part.sha256) throw new AgentRefusal("wrong_digest");
    accepted(await build.recordPart(token, name, { ...part, etag }));

    return c.json({ recorded: true });
  })
  .post("/:id/artifacts/:name/complete", async (c) => {
    const { name } = Artifact.parse(c.req.param());
    const { build, token } = attemptOf(c);
    const stated = await readMessage(c, CompleteUpload);
    return c.json(accepted(await build.completeUpload(token, name, stated)));
  });
