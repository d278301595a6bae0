import { DifferenceRequest } from "#api/build-difference";
import { v2, type Operation } from "#openapi/operation";
import { buildDifference } from "#openapi/shapes/build-difference";

/** In what two builds differ. */
export const compareBuilds: Operation = {
  name: "compareBuilds",
  method: "GET",
  path: "/builds/{build_id}/difference",
  versions: v2,
  summary: "In what another build differs from this one: packages, licences, settings, size and files",
  details: "Your own builds, those of appliances that are shared with you, and those of published versions.",
  params: DifferenceRequest,
  about: {
    to: "Id of the other build.",
    path: "Only files at and below this path.",
    after: "Only files behind this path; next_url has it.",
    limit: "How many files at most: 100 when left out, and never more than 1000.",
  },
  answer: { kind: "document", document: buildDifference, asText: true },
  unknown: ["invalid_build_id"],
  refusals: ["missing_parameter", "invalid_build_id", "invalid_value", "build_not_found", "raw_image_unavailable"],
};
