import { Hono, type Context } from "hono";
import { answerError } from "#http/respond";
import {
  attestationFiles,
  attestationFormats,
  formats,
  madeFormats,
  type AttestationFormat,
} from "#domain/builds/attestation";
import { deltaSuffix } from "#domain/builds/delta";
import { findByLink } from "#domain/builds/download-link";
import { noteInPassing } from "#domain/full-disk";
import { noteDownload } from "#domain/gallery/clone";
import { proofSuffix } from "#lib/attest/log/proof";
import { findProof } from "#domain/log/log";
import { openerFor } from "#domain/operation/downloads";
import { readerOf } from "#http/client-address";
import { answerDelta, answerImage } from "#http/image";
import { answerText, type TextFile } from "#http/text";
import type { Build } from "#storage/builds";
import { errorPage, notFoundPage, wantsPage } from "./error-page.tsx";
import type { WebEnv } from "./factory.ts";

const checksumSuffix = ".sha256";

/**
 * Downloads images by their unguessable URL, without credentials, and the documents about an image, whose URLs have an
 * additional suffix. The URL of an account other than the owner may have expired.
 */
export const download = new Hono<WebEnv>().get("/:token/:fileName", async (c) => {
  const found = await findByLink(c.var.db, c.req.param("token"));
  if (!found) return noFile(c);
  const answer = await answerDownload(c, found.build, { fileName: c.req.param("fileName"), readerId: found.readerId });
  // A cache must not serve the file after the link has expired.
  if (!found.isLasting) answer.headers.set("cache-control", "private, no-cache");
  return answer;
});

/** The file of a build with this name: its image, or a document about it. `readerId`: the account that downloads it. */
export async function answerDownload(
  c: Context<WebEnv>,
  build: Build,
  { fileName, readerId }: { fileName: string; readerId?: number | undefined },
): Promise<Response> {
  const imageName = build.fileName ?? undefined;
  const wanted = imageName === undefined ? undefined : wantedOf(fileName, imageName);
  if (imageName === undefined || wanted === undefined) return noFile(c);
  if (build.expiredAt !== null) return gone(c);
  if (wanted === "proof") {
    const text = await findProof({ env: c.env, db: c.var.db }, build);
    const fileName = imageName + proofSuffix;
    return text === undefined ? noFile(c) : await answerText(c.req.raw, { text, contentType: "text/plain", fileName });
  }
  if (wanted === "checksum") return await answerText(c.req.raw, checksumFile(build, imageName));
  if (wanted === "delta") {
    const delta = await answerDelta(openerFor(c.env, readerOf(c)), c.req.raw, build);
    // Counts only requests for the whole delta: a client first reads just its beginning, to find out whether it has the
    // earlier image.
    if (delta?.status === 200 && c.req.method === "GET")
      await noteInPassing("a download", () => noteDownload(c.var.db, build, readerId));
    return delta ?? noFile(c);
  }
  if (wanted !== "image") {
    const [file] = await attestationFiles({ env: c.env, db: c.var.db }, build, [wanted]);
    return file ? await answerText(c.req.raw, file) : noFile(c);
  }
  const image = await answerImage(openerFor(c.env, readerOf(c)), c.req.raw, build);
  if (image?.ok && c.req.method === "GET")
    await noteInPassing("a download", () => noteDownload(c.var.db, build, readerId));
  image?.headers.set("link", linksOf(imageName));
  return image ?? noFile(c);
}

/** The ends of the names of files about an image. Each follows the name of the image. */
export const suffixes: readonly string[] = [
  checksumSuffix,
  proofSuffix,
  deltaSuffix,
  ...formats.map((format) => attestationFormats[format].suffix),
];

/** The build's file with this name, if there is one. */
function wantedOf(
  name: string,
  imageName: string,
): "image" | "checksum" | "proof" | "delta" | AttestationFormat | undefined {
  if (name === imageName) return "image";
  if (name === imageName + checksumSuffix) return "checksum";
  if (name === imageName + proofSuffix) return "proof";
  if (name === imageName + deltaSuffix) return "delta";
  return formats.find((format) => name === imageName + attestationFormats[format].suffix);
}

/** A line for `sha256sum --check`. */
const checksumFile = ({ sha256 }: Build, imageName: string): TextFile => ({
  text: `${sha256 ?? ""}  ${imageName}\n`,
  contentType: "text/plain; charset=utf-8",
  fileName: imageName + checksumSuffix,
});

/** Links to the documents about an image, for programs that follow links (RFC 8288). */
const linksOf = (imageName: string): string =>
  madeFormats
    .map((format) => attestationFormats[format])
    .map(
      ({ suffix, contentType }) =>
        `<${encodeURIComponent(imageName + suffix)}>; rel="describedby"; type="${contentType}"`,
    )
    .join(", ");

const expired = "This image was removed because of its age. Build its version again to download it.";

const gone = (c: Context<WebEnv>) =>
  wantsPage(c)
    ? errorPage(c, { status: 410, message: expired })
    : answerError(c, { code: "build_not_found", message: expired }, 410);

export const noFile = (c: Context<WebEnv>) =>
  wantsPage(c) ? notFoundPage(c) : new Response("There is no such file.\n", { status: 404 });
