import { isMap, parseDocument } from "yaml";
import { maxSeedBytes, type Seed } from "#lib/contract/index";
import { Refusal } from "#domain/refusal";

/** The data for a first boot, as a client sends it. */
export interface SentSeed {
  user_data?: string | undefined;
  meta_data?: string | undefined;
  network_config?: string | undefined;
}

/**
 * The first lines by which cloud-init recognises user data (its documentation, "User-data formats"). It ignores any
 * other text, with a warning that no one sees.
 */
const headers = [
  "#!",
  "#cloud-config",
  "#cloud-config-archive",
  "#cloud-boothook",
  "#include",
  "#include-once",
  "#part-handler",
  "## template: jinja",
  "Content-Type: multipart/",
  "MIME-Version:",
];

/**
 * The seed of a testdrive, after its form was checked. Undefined if none was sent. No message contains any part of it.
 * Names and types are checked against the image (`cloud-config.ts`).
 */
export function readSeed({ user_data, meta_data, network_config }: SentSeed): Seed | undefined {
  if (user_data === undefined && meta_data === undefined && network_config === undefined) return undefined;
  if (user_data !== undefined) checkUserData(user_data);
  if (meta_data !== undefined) checkYaml("meta_data", meta_data, maxSeedBytes.metaData);
  if (network_config !== undefined) checkYaml("network_config", network_config, maxSeedBytes.networkConfig);
  return {
    ...(user_data !== undefined && { userData: user_data }),
    ...(meta_data !== undefined && { metaData: meta_data }),
    ...(network_config !== undefined && { networkConfig: network_config }),
  };
}

function checkUserData(text: string): void {
  checkSize("user_data", text, maxSeedBytes.userData);
  const [first = ""] = text.split("\n", 1);
  if (/^#cloud-config\s*$/.test(first)) return checkYaml("user_data", text, maxSeedBytes.userData);
  if (headers.some((header) => first.startsWith(header))) return;
  refuseSeed("user_data", 'must begin with "#cloud-config", with "#!", or with another header of cloud-init');
}

function checkYaml(name: keyof SentSeed, text: string, maxBytes: number): void {
  checkSize(name, text, maxBytes);
  // Messages with an excerpt would reveal secrets.
  const document = parseDocument(text, { prettyErrors: false, logLevel: "error" });
  const [error] = document.errors;
  if (error) refuseSeed(name, `is not valid YAML in line ${text.slice(0, error.pos[0]).split("\n").length}`);
  if (document.contents !== null && !isMap(document.contents))
    refuseSeed(name, "must be a map of YAML: lines like name: value");
}

function checkSize(name: keyof SentSeed, text: string, maxBytes: number): void {
  if (new TextEncoder().encode(text).byteLength > maxBytes)
    refuseSeed(name, `must not be larger than ${maxBytes / 1024} KiB`);
}

/** Refuses a part of a seed. The message contains nothing of it. */
export function refuseSeed(name: keyof SentSeed, why: string): never {
  throw new Refusal("invalid_value", { message: `${name}: ${why}.`, faults: [{ path: name, why }] });
}
