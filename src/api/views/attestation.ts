import { attestationFormats, sha256Of, type AttestationFormat } from "#domain/builds/attestation";
import type { Build } from "#storage/builds";
import type { XmlFields } from "#wire/xml";

/** The element `attestation`: ours. The address wants credentials, unlike that beside the image, which is a secret. */
export const attestationFields = (
  format: AttestationFormat,
  { build, text }: { build: Build; text: string },
  { baseUrl }: { baseUrl: string },
): XmlFields => ({
  format,
  file_name: `${build.fileName}${attestationFormats[format].suffix}`,
  content_type: attestationFormats[format].contentType,
  sha256: sha256Of(text),
  url: `${baseUrl}/api/v2/user/builds/${build.id}/attestations/${format}`,
});
