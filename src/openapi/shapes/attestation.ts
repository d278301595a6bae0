import { arrayOf, digest, document, fields, oneOf, text, url } from "#openapi/shape";

const attestation = fields({
  format: oneOf("spdx", "cyclonedx", "provenance"),
  file_name: text("Reading_room.x86_64-0.0.2.oem.tar.gz.spdx.json"),
  content_type: text("application/spdx+json"),
  sha256: digest("9b2f4c1d7e8a60351f2c4b6d8e0a7c9351b2d4f6081a3c5e7f9b1d2c4e6a8b0d"),
  url: url("https://kiln.example.org/api/v2/user/builds/31/attestations/spdx"),
});

export const attestations = document("Attestations", "attestations", arrayOf("attestation", attestation));
