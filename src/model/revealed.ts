/** Kinds of secrets that others get with an appliance or its images. */
export const revealedKinds = ["user_password", "database_password", "overlay_file", "script"] as const;
