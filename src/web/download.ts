import { Hono, type Context } from "hono";
import { answerError } from "#http/respond";
import {
  attestationFile,
  attestationFormats,
  formats,
  getAttestations,
  type AttestationFormat,
} from "#domain/builds/attestation";
import { findByLink } from "#domain/builds/download-link";
import { noteInPassing } from "#domain/full-disk";
import { noteDownload } from "#domain/gallery/clone";
import { findProof, proofSuffix } from "#domain/log/log";
import { openerFor } from "#domain/operation/downloads";
import { readerOf } from "#http/client-address";
import { answerImage } from "#http/image";
import { answerText } from "#http/text";
import { errorPage, notFoundPage, wantsPage } from "./error-page.tsx";
import type { WebEnv } from "./factory.ts";

/**
 * Downloads images by their unguessable URL, without credentials, and the documents about an image, whose URLs have an
 * additional suffix. The URL of an account other than the owner may have expired.
 */
export const download = new Hono<WebEnv>().get("/:token/:fileName", async (c) => {
  const found = await findByLink(c.var.db, c.req.param("token"));
  const imageName = found?.build.fileName ?? undefined;
  const wanted = imageName === undefined ? undefined : wantedOf(c.req.param("fileName"), imageName);
  if (!found || imageName === undefined || wanted === undefined) return noFile(c);
  const { build, isLasting, readerId } = found;
  if (build.expiredAt !== null) return gone(c);
  if (wanted === "proof") {
    const text = await findProof({ env: c.env, db: c.var.db }, build);
    const fileName = imageName + proofSuffix;
    return text === undefined ? noFile(c) : await answerText(c.req.raw, { text, contentType: "text/plain", fileName });
  }
  if (wanted !== "image") {
    const made = await getAttestations({ env: c.env, db: c.var.db }, build);
    return await answerText(c.req.raw, attestationFile(made, { format: wanted, imageName }));
  }
  const image = await answerImage(openerFor(c.env, readerOf(c)), c.req.raw, build);
  if (image?.ok && c.req.method === "GET")
    await noteInPassing("a download", () => noteDownload(c.var.db, build, readerId));
  image?.headers.set("link", linksOf(imageName));
  // A cache must not serve it after the link has expired.
  if (!isLasting) image?.headers.set("cache-control", "private, no-cache");
  return image ?? noFile(c);
});

/** The build's file with this name, if there is one. */
const wantedOf = (name: string, imageName: string): "image" | "proof" | AttestationFormat | undefined =>
  name === imageName
    ? "image"
    : name === imageName + proofSuffix
      ? "proof"
      : formats.find((format) => name === imageName + attestationFormats[format].suffix);

/** Links to the documents about an image, for programs that follow links (RFC 8288). */
const linksOf = (imageName: string): string =>
  formats
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

const noFile = (c: Context<WebEnv>) =>
  wantsPage(c) ? notFoundPage(c) : new Response("There is no such file.\n", { status: 404 });
