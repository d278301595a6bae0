import { Complaint, type Exit } from "../complaint.ts";

/** An error of the service (docs/api/errors.md), and the call that it refused: `GET /tokens/{token_id}`. */
interface Refused {
  code: string;
  message: string;
  status: number;
  call: string;
}

export class ServiceRefusal extends Complaint {
  readonly code: string;
  readonly status: number;
  readonly call: string;

  constructor({ message, ...refused }: Refused) {
    super(exitOf(refused), message, repositoryAdvice(refused, message) ?? adviceFor(refused));
    this.code = refused.code;
    this.status = refused.status;
    this.call = refused.call;
  }
}

/** The service did not answer, or the connection was lost. */
export const unreachable = (url: string, cause: unknown): Complaint =>
  new Complaint(
    "unreachable",
    `${url} does not answer${reasonOf(cause)}.`,
    "Check that the service is running and the address is right. `kiln login ADDRESS` signs in to another one.",
  );

/** Whether the service is too busy, or restarting. The same request may succeed a moment later. */
export const isBusy = ({ status }: { status: number }): boolean => status === 429 || status >= 500;

/** The service answered, but not with the file. */
export function unavailable(url: string, status: number): Complaint {
  const { origin, pathname } = new URL(url);
  if (isBusy({ status }))
    return new Complaint("unreachable", `${origin} ${busyText(status)} (status ${status}).`, waitAdvice);
  const next = "Check that the address is right. If it is, tell the operator of the service.";
  return new Complaint("refused", `${origin} refused ${pathname} with status ${status}.`, next);
}

const busyText = (status: number): string =>
  status === 429 ? "has too many requests at this moment" : "cannot answer at this moment";
const waitAdvice = "Wait a few minutes, then try again. If the problem persists, tell the operator of the service.";

function reasonOf(cause: unknown): string {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  if (!(inner instanceof Error)) return "";
  return `: ${"code" in inner ? `${String(inner.code)}` : inner.message}`;
}

type Cause = Omit<Refused, "message">;

function exitOf({ code, status, call }: Cause): Exit {
  if (isUnknown({ code, status, call })) return "notFound";
  if (status === 401 || code === "access_denied") return "signedOut";
  if (status === 429) return "unreachable";
  if (status >= 500) return "broken";
  return code === "configuration_error" ? "unbuildable" : "refused";
}

/** The source of the clone does not exist. */
const isUnknownSource = ({ code, call }: Cause): boolean =>
  code === "invalid_appliance_id" && call === "POST /appliances";

/**
 * An id that is not part of the path has the status 400. Everyone may read the gallery, so an appliance that is denied
 * there is not in it.
 */
const isUnknown = ({ code, status, call }: Cause): boolean =>
  status === 404 || /^invalid_\w+_id$/.test(code) || (code === "access_denied" && call.startsWith("GET /gallery/"));

function adviceFor({ code, status, call }: Cause): string {
  if (status === 401) return "Sign in again: `kiln login`.";
  if (status >= 500) return "Try again in a moment. If the problem persists, tell the operator of the service.";
  if (status === 412) return "Nothing was changed. `kiln plan` shows what is different now; then apply the file again.";
  if (status === 429) return waitAdvice;
  if (isUnknownSource({ code, status, call }))
    return "`kiln templates` and `kiln gallery search` list what can be cloned.";
  const isOfPath = status !== 400 && isUnknown({ code, status, call });
  const list = isOfPath ? lists.find(([noun]) => call.includes(` /${noun}`)) : undefined;
  if (list) return list[1];
  const isOfFile = call.includes("/definition");
  return (
    advice[code] ?? `Correct what the message names.${isOfFile ? "" : " --help shows the arguments of the command."}`
  );
}

/** An appliance may lack a repository of its base system. */
function repositoryAdvice({ code }: Cause, message: string): string | undefined {
  const [, id] = code === "configuration_error" ? (/ the repository (\d+) has /.exec(message) ?? []) : [];
  return id === undefined ? undefined : `Add it: \`kiln repo add APPLIANCE ${id}\`.`;
}

/** Advice on how to list the objects of a kind. The kind is the first part of a call's path. */
const lists: readonly (readonly [noun: string, advice: string])[] = [
  ["gallery", "`kiln gallery search TEXT` lists what is published."],
  ["webhooks", "`kiln webhook list` shows the ids."],
  ["tokens", "`kiln token list` shows the ids."],
  ["appliances/{appliance_id}/channels", "`kiln channel list APPLIANCE` shows its channels."],
  ["testdrives", "`kiln testdrives` shows the ids."],
];

const advice: Readonly<Record<string, string>> = {
  access_denied: "Use a token or key that may do this: `kiln login`.",
  build_not_found: "`kiln builds APPLIANCE` lists the builds that have an image.",
  configuration_error: "`kiln status APPLIANCE` shows what is wrong, and what to install.",
  download_error: "Check that the address is right, and that the service can reach it.",
  image_already_exists: "Build it again with --force, or choose another version with --version.",
  image_is_locked: "This version is published. Build another one: --version N.N.N.",
  initial_build_pending: "Wait for the first build of this version: `kiln build … --follow`.",
  invalid_appliance_id: "`kiln list` shows your appliances.",
  invalid_build_id: "`kiln builds APPLIANCE` lists the builds of an appliance.",
  invalid_running_build_id: "`kiln builds APPLIANCE` lists the builds of an appliance.",
  invalid_image_type:
    "`kiln builds APPLIANCE` lists its images, and `kiln build APPLIANCE --type TYPE` makes another one.",
  invalid_node: "`kiln config get APPLIANCE` shows the settings by their names.",
  invalid_overlay_file_id: "`kiln file list APPLIANCE` shows the files of an appliance.",
  invalid_repository_id: "`kiln repo search TEXT` finds repositories, and `kiln repo import NAME URL` adds one.",
  invalid_rpm_id: "`kiln package list BASE` shows your packages.",
  invalid_version: "`kiln builds APPLIANCE` lists the versions. A version has three numbers, such as 0.0.2.",
  no_build_slots: "All builders are busy. Try again in a moment.",
  raw_image_unavailable: "The image or its disk is no longer stored. Build or boot it again.",
  read_only_mode_active: "The operator allows no changes now. Try again later.",
  repository_already_exists: "`kiln repo search NAME` finds it.",
  sle_agreement_missing: "Open the page that the message names, and accept the agreement.",
  version_not_published: "`kiln gallery search TEXT` lists what is published.",
  version_published: "It is in the gallery already. Build another version to publish.",
};
