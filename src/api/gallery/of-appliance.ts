import { v2 } from "#api/operation";

export const ofAppliance = { access: "public", versions: v2, ids: { appliance_id: "invalid_appliance_id" } } as const;

/** For calls whose path exists only if the appliance is published. */
export const ofPublished = { ...ofAppliance, unknown: ["version_not_published"] } as const;
