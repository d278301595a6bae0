import { isMap, parseDocument } from "yaml";
import { z } from "zod";
import { isIgnitionConfig, maxSeedBytes, type Seed } from "#lib/contract/index";
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
  if (user_data !== undefined) checkUserData(user_data, { meta_data, network_config });
  if (meta_data !== undefined) checkYaml("meta_data", meta_data, maxSeedBytes.metaData);
  if (network_config !== undefined) checkYaml("network_config", network_config, maxSeedBytes.networkConfig);
  return {
    ...(user_data !== undefined && { userData: user_data }),
    ...(meta_data !== undefined && { metaData: meta_data }),
    ...(network_config !== undefined && { networkConfig: network_config }),
  };
}

function checkUserData(text: string, others: Omit<SentSeed, "user_data">): void {
  checkSize("user_data", text, maxSeedBytes.userData);
  if (isIgnitionConfig(text)) {
    checkIgnitionConfig(text);
    return refuseOthers(others);
  }
  const [first = ""] = text.split("\n", 1);
  if (/^#cloud-config\s*$/.test(first)) return checkYaml("user_data", text, maxSeedBytes.userData);
  if (headers.some((header) => first.startsWith(header))) return;
  refuseSeed(
    "user_data",
    'must begin with "#cloud-config", with "#!", or with another header of cloud-init, or be JSON for Ignition',
  );
}

/** The versions that Ignition 2.14 reads, which Debian 12 and 13 have. */
const ignitionVersion = /^3\.[0-3]\.0$/;

/** The members of a configuration (Ignition's documentation, "Configuration Specification v3.3.0"). */
const IgnitionConfig = z.strictObject({
  ignition: z.looseObject({ version: z.string().regex(ignitionVersion) }),
  kernelArguments: z.unknown().optional(),
  passwd: z.unknown().optional(),
  storage: z.unknown().optional(),
  systemd: z.unknown().optional(),
});
const members = Object.keys(IgnitionConfig.shape).join(", ");

/** Ignition would end the boot of a machine whose configuration it cannot read. */
function checkIgnitionConfig(text: string): void {
  const issue = IgnitionConfig.safeParse(parseJson(text)).error?.issues[0];
  if (issue?.code === "unrecognized_keys") refuseSeed("user_data", `must have no other members than ${members}`);
  if (issue) refuseSeed("user_data", "must have an ignition/version from 3.0.0 to 3.3.0");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return refuseSeed("user_data", "is not valid JSON");
  }
}

function refuseOthers(others: Omit<SentSeed, "user_data">): void {
  if (others.meta_data !== undefined) refuseSeed("meta_data", "is not read by Ignition");
  if (others.network_config !== undefined) refuseSeed("network_config", "is not read by Ignition");
}

function checkYaml(name: keyof SentSeed, text: string, maxBytes: number): void {
  checkSize(name, text, maxBytes);
  const document = parseYaml(text);
  const [error] = document.errors;
  if (error) refuseSeed(name, `is not valid YAML in line ${text.slice(0, error.pos[0]).split("\n").length}`);
  if (document.contents !== null && !isMap(document.contents))
    refuseSeed(name, "must be a map of YAML: lines like name: value");
}

/**
 * Parses YAML as cloud-init does, for which the last of equal keys counts. To look for equal keys would take seconds,
 * because each is compared with all others. Messages contain no excerpt, which would reveal secrets.
 */
export const parseYaml = (text: string) =>
  parseDocument(text, { uniqueKeys: false, prettyErrors: false, logLevel: "error" });

function checkSize(name: keyof SentSeed, text: string, maxBytes: number): void {
  if (new TextEncoder().encode(text).byteLength > maxBytes)
    refuseSeed(name, `must not be larger than ${maxBytes / 1024} KiB`);
}

/** Refuses a part of a seed. The message contains nothing of it. */
export function refuseSeed(name: keyof SentSeed, why: string): never {
  throw new Refusal("invalid_value", { message: `${name}: ${why}.`, faults: [{ path: name, why }] });
}
