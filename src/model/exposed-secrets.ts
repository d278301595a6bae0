/** Kinds of secrets that others get with an appliance or its images. */
export const exposedKinds = [
  "user_password",
  "database_password",
  "overlay_file",
  "script",
  "user_repository",
] as const;
