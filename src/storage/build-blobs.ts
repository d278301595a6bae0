import { Buffer } from "node:buffer";
import { z } from "zod";
import { FrozenInput, InstalledPackage } from "#lib/contract/index";
import { inputKey, installedKey, reportedInstalledKey } from "./blobs.ts";

/** Stores a frozen input under its own SHA-256, and returns the SHA-256. */
export async function putInput(blobs: R2Bucket, input: FrozenInput): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(input));
  const sha256 = Buffer.from(await crypto.subtle.digest("SHA-256", bytes)).toString("hex");
  await blobs.put(inputKey(sha256), bytes, { httpMetadata: { contentType: "application/json" } });
  return sha256;
}

/** The frozen input is lost: it is gone, or does not match its schema. Other errors come from R2. */
export class InputLost extends Error {}

/** Undefined if the input is gone. */
export async function findInput(blobs: R2Bucket, sha256: string): Promise<FrozenInput | undefined> {
  const blob = await blobs.get(inputKey(sha256));
  return blob ? parsed(sha256, await blob.text()) : undefined;
}

export async function getInput(blobs: R2Bucket, sha256: string): Promise<FrozenInput> {
  const input = await findInput(blobs, sha256);
  if (!input) throw new InputLost(`the frozen input ${sha256} is gone`);
  return input;
}

function parsed(sha256: string, text: string): FrozenInput {
  try {
    return FrozenInput.parse(JSON.parse(text));
  } catch (cause) {
    throw new InputLost(`the frozen input ${sha256} cannot be read`, { cause });
  }
}

/** The packages that rpm reported in the image of a build. Undefined if the report is gone or never existed. */
export async function findInstalled(blobs: R2Bucket, uid: string): Promise<InstalledPackage[] | undefined> {
  const blob = await blobs.get(installedKey(uid));
  return blob ? z.array(InstalledPackage).parse(await blob.json()) : undefined;
}

/** Makes the winning attempt's report the report of the build. Repeating it is safe. */
export async function keepInstalled(blobs: R2Bucket, uid: string, attempt: number): Promise<void> {
  const reported = await blobs.get(reportedInstalledKey(uid, attempt));
  if (reported) await blobs.put(installedKey(uid), reported.body);
}

/** Removes every blob below a prefix, except those of a list of keys that `keep` returns. */
export async function deleteBlobsBelow(
  blobs: R2Bucket,
  prefix: string,
  keep: (keys: string[]) => Promise<ReadonlySet<string>> = () => Promise.resolve(new Set<string>()),
): Promise<void> {
  for (let startAfter: string | undefined; ;) {
    const { objects, truncated } = await blobs.list({ prefix, ...(startAfter !== undefined && { startAfter }) });
    const keys = objects.map(({ key }) => key);
    const kept = await keep(keys);
    const gone = keys.filter((key) => !kept.has(key));
    if (gone.length > 0) await blobs.delete(gone);
    if (!truncated) return;
    startAfter = objects.at(-1)?.key;
  }
}
