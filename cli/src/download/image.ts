import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { billSuffixes, provenanceSuffix } from "../attest.ts";
import type { AnswerOf } from "../client/client.ts";
import { sendForFile } from "../client/send.ts";
import { Complaint } from "../complaint.ts";
import { digestOfFile } from "../files.ts";
import type { PinnedKey } from "../login/login.ts";
import { unverified } from "../verify/envelope.ts";
import { checkLog } from "../verify/history.ts";
import { proofSuffix } from "../image-log.ts";
import { noteNextTo } from "../verify/logged.ts";
import { verifyBills, verifyImage, type Verified } from "../verify/image.ts";
import { rebuildStatements } from "../verify/rebuilds.ts";
import { diskFromDelta, type MadeDisk } from "./from-delta.ts";
import { lockDownload } from "./lock.ts";
import { downloadTo, type ProgressReporter } from "./resumed.ts";

type Build = AnswerOf<"getBuild">["build"];
type InChannel = AnswerOf<"listPublishedChannels">["channels"][number]["images"][number];

/** An image of the service. */
export interface Image extends Pick<Build, "version" | "image_type"> {
  /** The requested build. The service may answer with another one. */
  id: number;
  url: string;
  name: string;
  /** How to start the image. Undefined if the service is too old to report it. */
  use: Build["use"] | undefined;
  checksum: { algorithm: "sha1" | "sha256"; hex: string | undefined };
}

/** The image of a build. `id` is the requested one. */
export function imageOfBuild(id: number, build: Build): Image {
  const { version, image_type, use, checksum } = build;
  const url = linkOf(build);
  const name = nameIn(basename(decodeURIComponent(new URL(url).pathname)));
  return { id, version, image_type, use, url, name, checksum: { algorithm: "sha1", hex: checksum?.sha1 } };
}

/** An image of the version that a channel has. */
export const imageInChannel = (version: string, image: InChannel): Image => ({
  id: image.build_id,
  version,
  image_type: image.image_type,
  use: image.use,
  url: image.url,
  name: nameIn(image.file_name),
  checksum: { algorithm: "sha256", hex: image.sha256 },
});

interface Wanted {
  image: Image;
  folder: string;
  /** The address of the service. */
  service: string;
  /** Undefined if only the checksum is verified. */
  keys: readonly PinnedKey[] | undefined;
  /** Replaces another file of the same name. */
  force: boolean;
  /**
   * Whether deltas may be used: optionally the earlier image to use them with, and the addresses of the older images.
   * False if only the whole image will do.
   */
  delta: { from: string | undefined; older: (applianceId: number) => AsyncIterable<string> } | false;
}

export interface Downloaded {
  /** The image, or its disk. */
  file: string;
  /** How the disk was made from that of an earlier image. Undefined if the image was downloaded. */
  made?: MadeDisk["made"];
  verified: Verified | undefined;
  use: Image["use"];
}

/** Downloads an image with its bills of materials and its provenance. The image gets its name after verification. */
export async function downloadImage(
  { image, folder, service, keys, force, delta }: Wanted,
  { report, note }: { report: ProgressReporter; note: (text: string) => void },
): Promise<Downloaded> {
  const { id, url, use } = image;
  mkdirSync(folder, { recursive: true });
  const file = join(folder, image.name);
  using _ = lockDownload(file);
  const isThere = existsSync(file) && (await isImage(file, image));
  if (existsSync(file) && !isThere && !force)
    throw new Complaint("refused", `${file} already exists, and is a different file.`, "Replace it with --force.");
  // Verifies the signature before the large download.
  if (keys) {
    for (const suffix of [...billSuffixes, provenanceSuffix]) writeFileSync(file + suffix, await textAt(url + suffix));
    for (const suffix of [proofSuffix, rebuildStatements]) await fetchIfThere(file, url, suffix);
    const signed = await verifyBills(file, keys);
    refuseOther(signed, image);
    if (signed.log) await checkLog(service, keys, [noteNextTo(file)]);
    const disk =
      delta && !isThere
        ? await diskFromDelta(
            { url, folder, signed, keys, from: delta.from, older: delta.older(signed.appliance_id) },
            { report, note },
          )
        : undefined;
    if (disk) return { ...disk, verified: signed, use };
  }
  if (isThere) return { file, verified: keys && (await verifyImage(file, keys)), use };
  // An image of a rebuilt version has the same name, but is a different image.
  const part = `${file}.${id}.part`;
  await downloadTo(part, url, report);
  try {
    if (!(await isImage(part, image)))
      throw unverified("The downloaded file is not the image: its checksum differs.", "Download it again.");
    const verified = keys && (await verifyImage(file, keys, part));
    renameSync(part, file);
    return { file, verified, use };
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}

/** A valid signature may belong to another build: an older one, or another account's. */
function refuseOther(signed: Verified, { id, version, image_type: type }: Image): void {
  if (signed.build_id === String(id) && signed.version === version && signed.image_type === type) return;
  throw unverified(
    `The provenance is about build ${signed.build_id} (${signed.version}, ${signed.image_type}), not about build ${id} (${version}, ${type}).`,
    "Do not use the image. Tell the operator of the service.",
  );
}

/** The address of the image of a build. */
export function linkOf({ id, download_url: url, expired }: Build): string {
  if (url !== undefined && !expired) return url;
  throw new Complaint("refused", `Build ${id} has no image.`, "`kiln builds APPLIANCE` lists those that have one.");
}

/** The service chooses the name, but not that of a hidden file. */
function nameIn(name: string): string {
  if (/^[^./\u0000-\u001F][^/\u0000-\u001F]*$/.test(name)) return name;
  throw unverified(`${JSON.stringify(name)} is not the name of an image.`, "Tell the operator of the service.");
}

const isImage = async (file: string, { checksum }: Image): Promise<boolean> =>
  (await digestOfFile(file, checksum.algorithm)) === checksum.hex;

/**
 * Fetches a file about an image, if there is one: only published images have a proof, few images were rebuilt, and
 * older services have neither.
 */
async function fetchIfThere(file: string, url: string, suffix: string): Promise<void> {
  const answer = await sendForFile(url + suffix);
  if (answer) writeFileSync(file + suffix, await answer.text());
  else rmSync(file + suffix, { force: true });
}

async function textAt(url: string): Promise<string> {
  const answer = await sendForFile(url);
  if (answer) return await answer.text();
  throw unverified(
    "The service has no signed provenance of this image.",
    "If you trust the connection to the service, use --unverified: then only the checksum is verified.",
  );
}
