import { Buffer } from "node:buffer";
import { z } from "zod";
import { FrozenInput, InstalledPackage } from "#contract/index";
import { inputKey, installedKey } from "./blobs.ts";

/** Stores a frozen input under its own SHA-256, and returns that. */
export async function putInput(blobs: R2Bucket, input: FrozenInput): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(input));
  const sha256 = Buffer.from(await crypto.subtle.digest("SHA-256", bytes)).toString("hex");
  await blobs.put(inputKey(sha256), bytes, { httpMetadata: { contentType: "application/json" } });
  return sha256;
}

/** Undefined: it is gone. */
export async function findInput(blobs: R2Bucket, sha256: string): Promise<FrozenInput | undefined> {
  const blob = await blobs.get(inputKey(sha256));
  return blob ? FrozenInput.parse(await blob.json()) : undefined;
}

export async function getInput(blobs: R2Bucket, sha256: string): Promise<FrozenInput> {
  const input = await findInput(blobs, sha256);
  if (!input) throw new Error(`the frozen input ${sha256} is gone`);
  return input;
}

/** What rpm reported in the image of a build. Undefined: it is gone, or it never existed. */
export async function findInstalled(blobs: R2Bucket, uid: string): Promise<InstalledPackage[] | undefined> {
  const blob = await blobs.get(installedKey(uid));
  return blob ? z.array(InstalledPackage).parse(await blob.json()) : undefined;
}

/** Removes every blob below a prefix. */
export async function deleteBlobsBelow(blobs: R2Bucket, prefix: string): Promise<void> {
  for (;;) {
    const { objects, truncated } = await blobs.list({ prefix });
    if (objects.length > 0) await blobs.delete(objects.map(({ key }) => key));
    if (!truncated) return;
  }
}
