/** Every code of docs/api/errors.md, with its usual message. */
const table = [
  ["unknown_error", "Something is wrong with this request."],
  ["internal_error", "Something went wrong inside the service. Please try again later."],
  ["access_denied", "You have no permission to do this."],
  ["wrong_http_method", "This call does not support that HTTP method."],
  ["invalid_xml", "The body is not well-formed XML."],
  ["invalid_node", "The XML contains an element that this call does not know."],
  ["invalid_value", "A value is invalid."],
  ["missing_appliance_id", "No appliance was specified: pass its id as appliance_id."],
  ["invalid_appliance_id", "Invalid appliance id."],
  ["invalid_version", "The appliance has no such version."],
  ["missing_version", "A version is required."],
  ["version_not_published", "This version is not published."],
  ["version_published", "This version is already published in the gallery."],
  ["unknown_query", "Unknown gallery query: use latest, popular, username or search."],
  ["invalid_username", "There is no account with that name."],
  ["invalid_image_type", "Invalid image type."],
  ["invalid_parent", "The comment that this one replies to does not exist."],
  ["missing_rating", "A rating is required."],
  ["invalid_rating", "A rating must be a number from 0 to 5."],
  ["sle_agreement_missing", "The legal agreement for this base system has not been accepted yet."],
  ["invalid_architecture", "This architecture cannot be built."],
  ["missing_parameter", "A required parameter is missing."],
  ["invalid_build_id", "Invalid build id."],
  ["raw_image_unavailable", "The files of this image are not available."],
  ["invalid_path", "The image has no such file."],
  ["invalid_gpg_key_id", "Invalid GPG key id."],
  ["invalid_name", "A name is needed to import a GPG key."],
  ["invalid_target", "The only target of a GPG key is rpm."],
  ["key_already_exists", "The appliance already has this GPG key."],
  ["invalid_key", "This is not a usable GPG key."],
  ["invalid_request", "Send either a file or a url, not both."],
  ["invalid_protocol", "Files can be downloaded only by HTTP, HTTPS and FTP."],
  ["download_error", "The file could not be downloaded."],
  ["invalid_overlay_file_id", "Invalid overlay file id."],
  ["invalid_running_build_id", "Invalid running build id."],
  ["read_only_mode_active", "Appliances cannot be changed at the moment. Please try again later."],
  ["configuration_error", "The appliance cannot be built as it is configured; its status says why."],
  ["image_is_locked", "This version is published in the gallery and cannot be rebuilt."],
  ["image_already_exists", "Image already exists. Pick another version or type, or force the build."],
  ["initial_build_pending", "The first build of this version must finish before further image types are built."],
  ["no_build_slots", "The service is at capacity. Please try again later."],
  ["cannot_delete_published_build", "A published build cannot be deleted. Unpublish it first."],
  ["invalid_template_set", "There is no template set of that name."],
  ["invalid_base_system", "There is no such base system."],
  ["invalid_rpm_id", "Invalid RPM id."],
  ["invalid_file", "Only RPMs and tarballs of RPMs may be uploaded."],
  ["invalid_repository_id", "Invalid repository id."],
  ["missing_url", "A url is required to add a repository."],
  ["missing_name", "A name is required to add a repository."],
  ["repository_already_exists", "This repository already exists."],
  ["user_repository_not_found", "You have no user repository for this base system yet: upload an RPM first."],
  ["build_not_found", "There is no image of this build."],
] as const;
export type RefusalCode = (typeof table)[number][0];
export const refusalCodes = table.map(([code]) => code);

const usualMessages = new Map<RefusalCode, string>(table);

/** The kind of problem. Each entry point maps it to a status. */
export type Reason =
  /** The object of the call does not exist, or this account may not see it. */
  | "unknown"
  /** The usual reason: an argument is invalid, or the current state does not allow the call. */
  | "invalid"
  /** The object has changed since the client read it. */
  | "changed"
  /** The first request with the same Idempotency-Key is still in progress, or its answer was not stored. */
  | "repeated"
  /** The Idempotency-Key belongs to another request. */
  | "key_taken"
  | "too_fast"
  /** Another request is writing the object. */
  | "busy"
  /** The bytes of a file do not begin where the stored ones end. */
  | "wrong_offset"
  | "too_large"
  /** The call does not accept this type of body. */
  | "wrong_type"
  /** The client uses a version of the protocol that this service does not support. */
  | "wrong_protocol";

/** An unknown id is "unknown" if it names the object of the call, and "invalid" if it is only an argument. */
export type IdReason = Extract<Reason, "unknown" | "invalid">;

/** An invalid value, by its path in the document. */
export interface Fault {
  path: string;
  /** The reason, without a full stop. */
  why: string;
}

interface Detail {
  reason?: Reason;
  message?: string;
  retryAfterSeconds?: number;
  faults?: readonly Fault[];
  repository?: number | undefined;
}

/** Thrown if the domain refuses a request. `message` replaces the usual message. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly reason: Reason;
  readonly retryAfterSeconds: number | undefined;
  /** All invalid values. */
  readonly faults: readonly Fault[];
  /** The id of a repository that solves the problem if it is added to the appliance. */
  readonly repository: number | undefined;

  constructor(code: RefusalCode, detail: Detail = {}) {
    super(detail.message || usualMessages.get(code));
    this.name = "Refusal";
    this.code = code;
    this.reason = detail.reason ?? "invalid";
    this.retryAfterSeconds = detail.retryAfterSeconds;
    this.faults = detail.faults ?? [];
    this.repository = detail.repository;
  }
}

/** Another request has changed the state that a change refers to. */
export const changedMeanwhile = () =>
  new Refusal("unknown_error", {
    reason: "changed",
    message: "It has changed since you read it. Read it again, and repeat your change.",
  });

/** The refusal of a client that sends too many requests. The specification has no code for it. */
export const tooFast = (retryAfterSeconds: number, message: string) =>
  new Refusal("unknown_error", { reason: "too_fast", message, retryAfterSeconds });
