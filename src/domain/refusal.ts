/** Every code of api.md, "Errors"; src/api/errors.ts gives each its status and sentence. */
export const refusalCodes = [
  "unknown_error",
  "internal_error",
  "access_denied",
  "wrong_http_method",
  "invalid_xml",
  "invalid_node",
  "invalid_value",
  "missing_appliance_id",
  "invalid_appliance_id",
  "invalid_version",
  "missing_version",
  "version_not_published",
  "version_published",
  "unknown_query",
  "invalid_username",
  "invalid_image_type",
  "invalid_parent",
  "missing_rating",
  "invalid_rating",
  "sle_agreement_missing",
  "invalid_architecture",
  "missing_parameter",
  "invalid_build_id",
  "raw_image_unavailable",
  "invalid_path",
  "invalid_gpg_key_id",
  "invalid_name",
  "invalid_target",
  "key_already_exists",
  "invalid_key",
  "invalid_request",
  "invalid_protocol",
  "download_error",
  "invalid_overlay_file_id",
  "invalid_running_build_id",
  "read_only_mode_active",
  "configuration_error",
  "image_is_locked",
  "image_already_exists",
  "initial_build_pending",
  "no_build_slots",
  "cannot_delete_published_build",
  "invalid_template_set",
  "invalid_base_system",
  "invalid_rpm_id",
  "invalid_file",
  "invalid_repository_id",
  "missing_url",
  "missing_name",
  "repository_already_exists",
  "user_repository_not_found",
  "build_not_found",
] as const;
export type RefusalCode = (typeof refusalCodes)[number];

/**
 * What a client got wrong: an id in the path, a parameter or the body, the state that it takes things to be in, its
 * Idempotency-Key, which another request has, or how often it asks.
 */
type Place = "path" | "parameter" | "precondition" | "key_at_work" | "key_of_another" | "rate";

/**
 * The domain says no. `in: "path"` marks an id that stood in the path, which v2 answers with 404 (wire.md §4.2);
 * `message` replaces the table's sentence where a better one is known.
 */
export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly in: Place;
  /** When it is worth trying again, where that is known. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: RefusalCode, detail: { in?: Place; message?: string; retryAfterSeconds?: number } = {}) {
    super(detail.message ?? "");
    this.name = "Refusal";
    this.code = code;
    this.in = detail.in ?? "parameter";
    this.retryAfterSeconds = detail.retryAfterSeconds;
  }
}

/** Somebody was faster than a change that named the state it is meant for (If-Match). */
export const changedMeanwhile = () =>
  new Refusal("unknown_error", {
    in: "precondition",
    message: "It has changed since it was read. Read it again, and make the change to that.",
  });

/** The specification has no code for it. */
export const tooFast = (retryAfterSeconds: number, message: string) =>
  new Refusal("unknown_error", { in: "rate", message, retryAfterSeconds });
