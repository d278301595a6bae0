import { Hono } from "hono";
import { listPublicKeys } from "#domain/builds/attestation-keys";

/** The keys for verifying attestations: all as a JSON Web Key Set with PEM, and the current one as PEM. */
export const attestationKeys = new Hono<{ Bindings: Env }>()
  .get("/kiln-attestation-keys.json", async (c) => {
    const keys = (await listPublicKeys(c.env)).map(({ id, x, pem, isCurrent }) => ({
      kty: "OKP",
      crv: "Ed25519",
      alg: "EdDSA",
      use: "sig",
      kid: id,
      x,
      pem,
      state: isCurrent ? "current" : "retired",
    }));
    return c.json({ keys }, 200, cacheHeaders);
  })
  .get("/kiln-attestation.pem", async (c) => {
    const key = (await listPublicKeys(c.env)).find(({ isCurrent }) => isCurrent);
    if (!key) return c.text("This service has no signing key.\n", 404);
    return c.body(key.pem, 200, { ...cacheHeaders, "content-type": "application/x-pem-file" });
  });

const cacheHeaders = { "cache-control": "public, max-age=300" };
