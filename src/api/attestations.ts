import { formats, getAttestations, getAttestedBuild } from "#domain/builds/attestation";
import { Refusal } from "#domain/refusal";
import { answerAttestation } from "#http/attestation";
import { factory } from "#api/factory";
import { pathId } from "#api/params";
import { xml } from "#api/respond";
import { v2Only } from "#api/v2-only";
import { attestationFields } from "#api/views/attestation";
import { arrayOf } from "#wire/xml";

const path = "/builds/:id/attestations";

/** Bills of material of an image, and the signed statement where it comes from. */
export const attestations = factory
  .createApp()
  .get(path, v2Only, async (c) => {
    const build = await getAttestedBuild(c.var.db, c.var.account.id, pathId(c, "id", "invalid_build_id"));
    const made = await getAttestations({ env: c.env, db: c.var.db }, build);
    const fields = formats.map((format) => attestationFields(format, { build, text: made[format] }, c.var));
    return xml(c, "attestations", arrayOf("attestation", fields));
  })
  .get(`${path}/:format`, v2Only, async (c) => {
    const build = await getAttestedBuild(c.var.db, c.var.account.id, pathId(c, "id", "invalid_build_id"));
    const format = formats.find((one) => one === c.req.param("format"));
    if (!format) throw new Refusal("invalid_value", { message: `Pick one of ${formats.join(", ")}.` });
    const made = await getAttestations({ env: c.env, db: c.var.db }, build);
    return await answerAttestation(c.req.raw, made, { format, imageName: build.fileName ?? "image" });
  });
