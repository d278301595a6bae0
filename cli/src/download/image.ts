import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import type { AnswerOf } from "../client/client.ts";
import { Complaint } from "../complaint.ts";
import { digestOfFile } from "../files.ts";
import type { PinnedKey } from "../login/login.ts";
import { unverified } from "../verify/envelope.ts";
import { checkLog } from "../verify/history.ts";
import { noteNextTo } from "../verify/logged.ts";
import { verifyBills, verifyImage, type Verified } from "../verify/image.ts";
import { fetchDocuments, type Documents } from "./documents.ts";
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

type Note = (text: string) => void;

/** Downloads an image with its bills of materials and its provenance. All get their names after verification. */
export async function downloadImage(
  { image, folder, service, keys, force, delta }: Wanted,
  { report, note }: { report: ProgressReporter; note: Note },
): Promise<Downloaded> {
  const { url, use } = image;
  mkdirSync(folder, { recursive: true });
  const file = join(folder, image.name);
  using _ = lockDownload(file);
  const isThere = existsSync(file) && (await isImage(file, image));
  if (existsSync(file) && !isThere && !force)
    throw new Complaint("refused", `${file} already exists, and is a different file.`, "Replace it with --force.");
  // Verifies the signature before the large download.
  using documents = keys && (await fetchDocuments(image, { folder, note }));
  const signed = documents && (await verifyDocuments(documents, { image, service, keys, note }));
  const disk =
    keys && signed && delta && !isThere
      ? await diskFromDelta(
          { url, folder, signed, keys, from: delta.from, older: delta.older(signed.appliance_id) },
          { report, note },
        )
      : undefined;
  const verify = async (whole: string) => keys && documents && (await verifyImage(documents.image, keys, whole));
  if (isThere) await verify(file);
  else if (!disk) await downloadWhole(file, image, { verify, report });
  documents?.publish();
  return { file, ...disk, verified: signed, use };
}

/** Verifies all but the image. Documents that are refused stay on the machine, as evidence. */
async function verifyDocuments(
  documents: Documents,
  { image, service, keys, note }: Pick<Wanted, "image" | "service"> & { keys: readonly PinnedKey[]; note: Note },
): Promise<Verified> {
  try {
    const signed = await verifyBills(documents.image, keys);
    refuseOther(signed, image);
    if (signed.log) await checkLog(service, keys, [noteNextTo(documents.image)]);
    return signed;
  } catch (error) {
    if (error instanceof Complaint && error.exit === "unverified")
      note(`The refused documents are in ${documents.keep()}.`);
    throw error;
  }
}

async function downloadWhole(
  file: string,
  image: Image,
  { verify, report }: { verify: (whole: string) => Promise<unknown>; report: ProgressReporter },
): Promise<void> {
  // An image of a rebuilt version has the same name, but is a different image.
  const part = `${file}.${image.id}.part`;
  await downloadTo(part, image.url, report);
  try {
    if (!(await isImage(part, image)))
      throw unverified("The downloaded file is not the image: its checksum differs.", "Download it again.");
    await verify(part);
    renameSync(part, file);
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
