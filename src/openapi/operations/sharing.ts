import { v2, xml, type Group, type Operation } from "#openapi/operation";
import { sharing as sharingDocument } from "#openapi/shapes/gallery";

const ofAppliance = {
  versions: v2,
  answer: xml(sharingDocument),
  unknown: ["invalid_appliance_id"],
} satisfies Partial<Operation>;

export const sharing: Group = {
  title: "Sharing",
  about:
    "Who else may read an appliance and clone it. Every call answers the list as it is then. This came with version 2.",
  operations: [
    {
      name: "getSharing",
      method: "GET",
      path: "/appliances/{appliance_id}/sharing",
      ...ofAppliance,
      summary: "With whom it is shared",
    },
    {
      name: "shareAppliance",
      method: "POST",
      path: "/appliances/{appliance_id}/sharing/{username}",
      ...ofAppliance,
      summary: "Share it with somebody",
      refusals: ["invalid_username"],
    },
    {
      name: "unshareAppliance",
      method: "DELETE",
      path: "/appliances/{appliance_id}/sharing/{username}",
      ...ofAppliance,
      summary: "Share it with somebody no more",
      refusals: ["invalid_username"],
    },
  ],
};
