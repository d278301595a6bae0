import type { ContentfulStatusCode } from "hono/utils/http-status";
import { Refusal, type RefusalCode } from "#domain/refusal";
import { WireFault } from "#wire/fault";
import type { ApiVersion } from "#api/versions";

/** What a client is told of an error; everything that is not a Refusal is our bug and shows nothing of itself. */
export interface ShownError {
  status: ContentfulStatusCode;
  code: RefusalCode;
  message: string;
  /** Headers that belong to it. */
  headers: Record<string, string>;
}

export function shown(error: unknown, version?: ApiVersion): ShownError {
  if (error instanceof WireFault) return shown(new Refusal(error.code, { message: error.message }), version);
  if (!(error instanceof Refusal)) {
    return { status: 500, code: "internal_error", message: table.internal_error[1], headers: {} };
  }
  const [status, sentence] = table[error.code];
  const unknownIdStatus = version?.unknownIdStatus ?? 404;
  const special = error.in === "path" && unknownIdStatus === 404 ? 404 : statusOfPlace[error.in];
  const { retryAfterSeconds: seconds } = error;
  const headers = seconds === undefined ? {} : { "Retry-After": String(seconds) };
  return { status: special ?? status, code: error.code, message: error.message || sentence, headers };
}

// What the original did not have, and so has no code for.
const statusOfPlace: Partial<Record<Refusal["in"], ContentfulStatusCode>> = {
  precondition: 412,
  key_at_work: 409,
  key_of_another: 422,
  rate: 429,
};

// Statuses: wire.md §4.2. The compiler checks that no code of the specification is missing.
const table: Record<RefusalCode, readonly [ContentfulStatusCode, string]> = {
  unknown_error: [400, "Something is wrong with this request."],
  internal_error: [500, "Something went wrong inside the service. Please try again later."],
  access_denied: [403, "You have no permission to do this."],
  wrong_http_method: [400, "This call does not know that HTTP method."],
  invalid_xml: [400, "The body is not well-formed XML."],
  invalid_node: [400, "The XML has an element that this call does not know."],
  invalid_value: [400, "A value cannot be used."],
  missing_appliance_id: [400, "No appliance was specified: pass its id as appliance_id."],
  invalid_appliance_id: [400, "Invalid appliance id."],
  invalid_version: [400, "The appliance has no such version."],
  missing_version: [400, "A version is required."],
  version_not_published: [400, "This version is not published."],
  version_published: [400, "This version is already published in the gallery."],
  unknown_query: [400, "Unknown gallery query: use latest, popular, username or search."],
  invalid_username: [400, "There is no account of that name."],
  invalid_image_type: [400, "Invalid image type."],
  invalid_parent: [400, "The comment that this one replies to does not exist."],
  missing_rating: [400, "A rating is required."],
  invalid_rating: [400, "A rating is a number from 0 to 5."],
  sle_agreement_missing: [400, "The legal agreement for this base system has not been accepted yet."],
  invalid_architecture: [400, "This architecture cannot be built."],
  missing_parameter: [400, "A required parameter is missing."],
  invalid_build_id: [400, "Invalid build id."],
  raw_image_unavailable: [400, "The files of this image are not available."],
  invalid_path: [400, "The image has no such file."],
  invalid_gpg_key_id: [400, "Invalid GPG key id."],
  invalid_name: [400, "A name is needed to import a GPG key."],
  invalid_target: [400, "The only target of a GPG key is rpm."],
  key_already_exists: [400, "The appliance already has this GPG key."],
  invalid_key: [400, "This is not a usable GPG key."],
  invalid_request: [400, "Send either a file or a url, not both and not neither."],
  invalid_protocol: [400, "Files are fetched by HTTP, HTTPS and FTP only."],
  download_error: [400, "The file could not be downloaded."],
  invalid_overlay_file_id: [400, "Invalid overlay file id."],
  invalid_running_build_id: [400, "Invalid running build id."],
  read_only_mode_active: [400, "Appliances cannot be changed at the moment. Please try again later."],
  configuration_error: [400, "The appliance cannot be built as it is configured; its status says why."],
  image_is_locked: [400, "This version is published in the gallery and cannot be rebuilt."],
  image_already_exists: [400, "Image already exists. Pick another version or type, or force the build."],
  initial_build_pending: [400, "The first build of this version must finish before further image types are built."],
  no_build_slots: [400, "The service is at capacity. Please try again later."],
  cannot_delete_published_build: [400, "A published build cannot be deleted. Unpublish it first."],
  invalid_template_set: [400, "There is no template set of that name."],
  invalid_base_system: [400, "There is no such base system."],
  invalid_rpm_id: [400, "Invalid RPM id."],
  invalid_file: [400, "Only RPMs and tarballs of RPMs may be uploaded."],
  invalid_repository_id: [400, "Invalid repository id."],
  missing_url: [400, "A url is required to add a repository."],
  missing_name: [400, "A name is required to add a repository."],
  repository_already_exists: [400, "This repository already exists."],
  user_repository_not_found: [400, "You have no user repository for this base system yet: upload an RPM first."],
  build_not_found: [400, "There is no image of this build."],
};
