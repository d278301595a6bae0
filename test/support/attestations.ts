import { Buffer } from "node:buffer";
import { z } from "zod";

/** A DSSE envelope with one signature. */
export const Envelope = z.object({
  payload: z.base64(),
  payloadType: z.literal("application/vnd.in-toto+json"),
  signatures: z.array(z.object({ keyid: z.string(), sig: z.base64() })).length(1),
});

export const bodyOf = async (answer: Response) => new TextDecoder().decode(await answer.bytes());

const exported = async (format: "pkcs8" | "spki", key: CryptoKey) =>
  Buffer.from((await crypto.subtle.exportKey(format, key)) as ArrayBuffer).toString("base64");

/** Another key, as an operator would configure it. */
export const otherKey = async () => {
  const { privateKey, publicKey } = (await crypto.subtle.generateKey("Ed25519", true, ["sign"])) as CryptoKeyPair;
  return { pkcs8: await exported("pkcs8", privateKey), spki: await exported("spki", publicKey) };
};
