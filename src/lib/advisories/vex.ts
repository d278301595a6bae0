/** The statuses of OpenVEX that an owner can give an advisory: the others follow from the feeds. */
export const vexStatuses = ["not_affected", "under_investigation"] as const;
export type VexStatus = (typeof vexStatuses)[number];

/** The reasons why an image is not affected, as OpenVEX 0.2.0 lists them. */
export const vexJustifications = [
  "component_not_present",
  "vulnerable_code_not_present",
  "vulnerable_code_not_in_execute_path",
  "vulnerable_code_cannot_be_controlled_by_adversary",
  "inline_mitigations_already_exist",
] as const;
export type VexJustification = (typeof vexJustifications)[number];
