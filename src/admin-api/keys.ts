import { z } from "zod";
import { deleteForeignAttestations } from "#domain/builds/foreign-attestations";
import { rehashPage, reencryptPage } from "#domain/stored-keys";
import { encryptedColumns } from "#storage/encrypted";
import { factory } from "#admin-api/factory";

const Walk = z.object({
  from: z.object({ column: z.enum(encryptedColumns), after: z.int().nonnegative() }).optional(),
});

const AfterBuild = z.object({ after: z.int().nonnegative().default(0) });

/**
 * Re-encrypts and rehashes stored secrets with the current keys, and deletes what foreign keys have signed, one page
 * per call. The caller continues at `next`.
 */
export const keys = factory
  .createApp()
  .post("/reencrypt", async (c) =>
    c.json(await reencryptPage({ env: c.env, db: c.var.db }, Walk.parse(await c.req.json()).from)),
  )
  .post("/rehash", async (c) =>
    c.json(await rehashPage({ env: c.env, db: c.var.db }, Walk.parse(await c.req.json()).from)),
  )
  .post("/resign", async (c) =>
    c.json(await deleteForeignAttestations({ env: c.env, db: c.var.db }, AfterBuild.parse(await c.req.json()).after)),
  );
