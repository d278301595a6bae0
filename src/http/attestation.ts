import { Buffer } from "node:buffer";
import { attestationFormats, sha256Of, type AttestationFormat } from "#domain/builds/attestation";
import type { Attestations } from "#storage/attestations";
import { answerBlob } from "./blob.ts";

/** One of the documents about an image, as a file beside it. */
export async function answerAttestation(
  request: Request,
  attestations: Attestations,
  { format, imageName }: { format: AttestationFormat; imageName: string },
): Promise<Response> {
  const text = attestations[format];
  const bytes = Buffer.from(text);
  const { contentType, suffix } = attestationFormats[format];
  return await answerBlob(request, {
    size: bytes.byteLength,
    etag: `"${sha256Of(text)}"`,
    contentType,
    fileName: imageName + suffix,
    read: async ({ offset, length }) => ({ body: new Blob([bytes.subarray(offset, offset + length)]).stream() }),
  });
}
