import { ListRequest } from "#api/rpms";
import { both, xml, type Body, type Group } from "#openapi/operation";
import { success } from "#openapi/shapes/general";
import { rpm, rpms as rpmsDocument } from "#openapi/shapes/repository";

const upload: Body = { kind: "file", what: "An RPM, or a tarball of RPMs." };

export const rpms: Group = {
  title: "Your own packages",
  about: "RPMs and tarballs of RPMs. Those of one base system make up your user repository for it.",
  operations: [
    {
      name: "listRpms",
      method: "GET",
      path: "/rpms",
      versions: both,
      summary: "Your uploads for a base system",
      params: ListRequest,
      answer: xml(rpmsDocument),
      refusals: ["missing_parameter", "invalid_base_system"],
    },
    {
      name: "uploadRpm",
      method: "POST",
      path: "/rpms",
      versions: both,
      summary: "Upload an RPM or a tarball of RPMs",
      details: "The same package built again replaces the earlier one and keeps its id.",
      params: ListRequest,
      body: upload,
      answer: xml(rpm),
      refusals: ["missing_parameter", "invalid_base_system", "invalid_file", "unknown_error"],
    },
    {
      name: "getRpm",
      method: "GET",
      path: "/rpms/{rpm_id}",
      versions: both,
      summary: "One upload",
      answer: xml(rpm),
      unknown: ["invalid_rpm_id"],
    },
    {
      name: "replaceRpm",
      method: "PUT",
      path: "/rpms/{rpm_id}",
      versions: both,
      summary: "Replace its content",
      body: upload,
      answer: xml(rpm),
      unknown: ["invalid_rpm_id"],
      refusals: ["missing_parameter", "invalid_file", "unknown_error"],
    },
    {
      name: "deleteRpm",
      method: "DELETE",
      path: "/rpms/{rpm_id}",
      versions: both,
      summary: "Take it out of the user repository",
      answer: xml(success),
      unknown: ["invalid_rpm_id"],
    },
    {
      name: "downloadRpm",
      method: "GET",
      path: "/rpms/{rpm_id}/data",
      versions: both,
      summary: "The file",
      answer: { kind: "file", types: ["application/x-rpm", "application/octet-stream"], what: "What was uploaded." },
      unknown: ["invalid_rpm_id"],
    },
  ],
};
