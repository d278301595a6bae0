import { createHash } from "node:crypto";
import { createReadStream, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { AnswerOf } from "../client/client.ts";
import { unreachable } from "../client/failure.ts";
import { Complaint } from "../complaint.ts";
import type { PinnedKey } from "../login/login.ts";
import { unverified } from "../verify/envelope.ts";
import { bills, provenance, verifyBills, verifyImage, type Verified } from "../verify/image.ts";
import { downloadTo, type Tell } from "./resumed.ts";

type Build = AnswerOf<"getBuild">["build"];

export interface Wanted {
  build: Build;
  folder: string;
  /** Undefined: only the checksum counts. */
  keys: readonly PinnedKey[] | undefined;
}

export interface Downloaded {
  file: string;
  verified: Verified | undefined;
}

/** Downloads an image with what speaks for it. The image gets its name when it is verified. */
export async function downloadImage({ build, folder, keys }: Wanted, tell: Tell): Promise<Downloaded> {
  const url = build.download_url;
  if (url === undefined || build.expired)
    throw new Complaint(
      "refused",
      `Build ${build.id} has no image.`,
      "`kiln builds APPLIANCE` lists those that have one.",
    );
  mkdirSync(folder, { recursive: true });
  const file = join(folder, basename(decodeURIComponent(new URL(url).pathname)));
  // Before gigabytes come: whether the signature is one that counts.
  if (keys) {
    for (const suffix of [...bills, provenance]) writeFileSync(file + suffix, await textAt(url + suffix));
    await verifyBills(file, keys);
  }
  // A version that is built again has the same name, and is another image.
  const part = `${file}.${build.id}.part`;
  if (existsSync(file) && !existsSync(part)) renameSync(file, part);
  await downloadTo(part, url, tell);
  try {
    await compare(part, build);
    const verified = keys && (await verifyImage(file, keys, part));
    renameSync(part, file);
    return { file, verified };
  } catch (error) {
    rmSync(part);
    throw error;
  }
}

async function compare(part: string, { checksum }: Build): Promise<void> {
  const hash = createHash("sha1");
  await pipeline(createReadStream(part), hash);
  if (hash.digest("hex") !== checksum?.sha1)
    throw unverified("What arrived is not the image: its SHA-1 is another one.", "Download it again.");
}

async function textAt(url: string): Promise<string> {
  const answer = await fetch(url).catch((error: unknown) => {
    throw unreachable(new URL(url).origin, error);
  });
  if (answer.ok) return await answer.text();
  throw unverified(
    "The service has no signed provenance of this image.",
    "If you trust the way to the service, use --unverified: then only the checksum counts.",
  );
}
