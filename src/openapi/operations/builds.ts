import { ListRequest } from "#api/builds";
import { both, v2, xml, type Group } from "#openapi/operation";
import { attestations } from "#openapi/shapes/attestation";
import { compareBuilds } from "#openapi/operations/build-difference";
import { build, builds as buildsDocument } from "#openapi/shapes/build";
import { success } from "#openapi/shapes/general";

export const builds: Group = {
  title: "Finished builds",
  about: "What was built. Its download_url works without credentials, with ranges and an ETag.",
  operations: [
    {
      name: "listBuilds",
      method: "GET",
      path: "/builds",
      versions: both,
      summary: "Builds of an appliance, the newest first",
      params: ListRequest,
      answer: xml(buildsDocument),
      refusals: ["missing_appliance_id", "invalid_appliance_id"],
    },
    {
      name: "getBuild",
      method: "GET",
      path: "/builds/{build_id}",
      versions: both,
      summary: "One build; on v2 with its log and where its time went",
      answer: xml(build),
      unknown: ["invalid_build_id"],
    },
    compareBuilds,
    {
      name: "deleteBuild",
      method: "DELETE",
      path: "/builds/{build_id}",
      versions: both,
      summary: "Delete a build with its image",
      answer: xml(success),
      unknown: ["invalid_build_id"],
      refusals: ["cannot_delete_published_build"],
    },
    {
      name: "listAttestations",
      method: "GET",
      path: "/builds/{build_id}/attestations",
      versions: v2,
      summary: "What is in its image and where that comes from, signed",
      details: "Also of published versions, for everybody. The same files lie beside the image, at its download_url.",
      answer: xml(attestations),
      unknown: ["invalid_build_id"],
      refusals: ["build_not_found", "unknown_error"],
    },
    {
      name: "getAttestation",
      method: "GET",
      path: "/builds/{build_id}/attestations/{format}",
      versions: v2,
      summary: "One of them: a bill of materials, or the signed provenance",
      about: { format: "spdx (SPDX 2.3), cyclonedx (CycloneDX 1.6) or provenance (SLSA v1 in a DSSE envelope)." },
      answer: {
        kind: "file",
        types: ["application/spdx+json", "application/vnd.cyclonedx+json", "application/vnd.in-toto.bundle"],
        what: "The document.",
      },
      unknown: ["invalid_build_id"],
      refusals: ["invalid_value", "build_not_found", "unknown_error"],
    },
  ],
};
