import { arrayOf, digest, fields, oneOf, text, url } from "#lib/wire/field";
import { document, type Viewer } from "#lib/wire/shape";

/** A Kiln extension. The URL needs credentials, unlike the one next to the image, which is itself secret. */
const attestation = fields({
  format: oneOf("format", ["spdx", "cyclonedx", "provenance", "rebuilds", "vex"]),
  file_name: text("fileName", "Reading_room.x86_64-0.0.2.oem.tar.gz.spdx.json"),
  content_type: text("contentType", "application/spdx+json"),
  sha256: digest("sha256", "9b2f4c1d7e8a60351f2c4b6d8e0a7c9351b2d4f6081a3c5e7f9b1d2c4e6a8b0d"),
  url: url(addressOf, "https://kiln.example.org/api/v2/user/builds/31/attestations/spdx"),
});

export const attestations = document("Attestations", "attestations", arrayOf("attestation", attestation));

function addressOf({ buildId, format }: { buildId: number; format: string }, { baseUrl }: Viewer): string {
  return `${baseUrl}/api/v2/user/builds/${buildId}/attestations/${format}`;
}
