import { CloneRequest } from "#api/appliances/appliances";
import { both, xml, type Group } from "#openapi/operation";
import { appliance, appliances as appliancesDocument, applianceStatus } from "#openapi/shapes/appliance";
import { success } from "#openapi/shapes/general";

export const appliances: Group = {
  title: "Appliances",
  about: "An appliance is what an image is built from: repositories, software, files, configuration.",
  operations: [
    {
      name: "listAppliances",
      method: "GET",
      path: "/appliances",
      versions: both,
      summary: "Your appliances with their finished images, the newest first",
      answer: xml(appliancesDocument),
    },
    {
      name: "cloneAppliance",
      method: "POST",
      path: "/appliances",
      versions: both,
      summary: "Copy a template or an appliance",
      params: CloneRequest,
      about: {
        name: "Name of the copy; one is made when it is left out.",
        arch: "x86_64 or i686; i686 when it is left out.",
      },
      answer: xml(appliance),
      refusals: ["missing_parameter", "invalid_appliance_id", "invalid_value", "invalid_architecture", "access_denied"],
    },
    {
      name: "getAppliance",
      method: "GET",
      path: "/appliances/{appliance_id}",
      versions: both,
      summary: "One appliance",
      details: "Templates can be read by everybody; they have no parent.",
      answer: xml(appliance),
      unknown: ["invalid_appliance_id"],
    },
    {
      name: "deleteAppliance",
      method: "DELETE",
      path: "/appliances/{appliance_id}",
      versions: both,
      summary: "Delete an appliance with its builds",
      answer: xml(success),
      unknown: ["invalid_appliance_id"],
      refusals: ["cannot_delete_published_build"],
    },
    {
      name: "getApplianceStatus",
      method: "GET",
      path: "/appliances/{appliance_id}/status",
      versions: both,
      summary: "Whether it can be built; if not, why, and what to install",
      answer: xml(applianceStatus),
      unknown: ["invalid_appliance_id"],
    },
  ],
};
