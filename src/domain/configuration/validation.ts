import { storedConfiguration } from "#lib/configuration/document";
import { validateChecks } from "#domain/configuration/checks";
import type { Configured } from "#domain/configuration/change";
import { faultsIn, wrongValues, type Check } from "#domain/configuration/check";
import type { Fault } from "#domain/refusal";
import { validateDatabases, validateUsers } from "#domain/configuration/people";
import * as rules from "#domain/configuration/rules";
import { highestNumber } from "#domain/version";
import { keyboardLayouts } from "#lib/kiwi/keytables";
import type { Configuration } from "#lib/configuration/stored";
import { outOfLimits } from "#lib/wire/limits";

const maxTextBytes = 64 * 1024;
/**
 * The maximum size, measured as JSON with XML's escapes. A row of D1 has at most 2 MB, and a client that reads the
 * document must be able to send it back in a body.
 */
const maxConfigurationBytes = 512 * 1024;

/**
 * Refuses values that are invalid in an image. Checks everything, because a change may invalidate something that it
 * does not name. Volumes may be too large for the disk, because clients send the two separately; `status` reports it
 * until they fit (issues.ts).
 */
export function validate(configured: Configured): void {
  const faults = faultsOf(configured);
  if (faults.length > 0) throw wrongValues(faults);
}

/** All values that are invalid in an image. */
export const faultsOf = (configured: Configured): Fault[] =>
  faultsIn((check) => {
    const { configuration } = configured;
    validateIdentity(check, configured);
    validateTexts(check, configuration);
    validateLocale(check, configuration.locale);
    validateNetwork(check, configuration.network);
    validateFirewall(check, configuration.firewall);
    validateUsers(check, configuration);
    validateDatabases(check, configuration.databases);
    validateSettings(check, configuration.settings);
    validateLvm(check, configuration.lvm);
    validateScripts(check, configuration.scripts);
    validateChecks(check, configuration);
    for (const { path, why } of outOfLimits(storedConfiguration, configuration)) check(false, path, why);
    check(
      bytesOf(configuration) <= maxConfigurationBytes,
      "configuration",
      "must be smaller: it is too large as a whole",
    );
  });

const bytesOf = (configuration: Configuration): number =>
  new TextEncoder().encode(JSON.stringify(configuration).replaceAll(/[&<>]/g, "&amp;")).byteLength;

function validateIdentity(check: Check, { name, version }: Configured): void {
  check(name !== "" && rules.isLine(name, 255), "name", "must be one line of 1 to 255 characters");
  check(rules.isVersion(version), "version", `must be like 0.0.1, with numbers up to ${highestNumber}`);
}

function validateTexts(check: Check, { description, website, tags, eulas }: Configuration): void {
  checkText(check, description, "description");
  check(website === "" || rules.isWebsite(website), "website", "must be a web address");
  check(tags.length <= 50, "tags", "must not be more than 50");
  for (const tag of tags) {
    check(tag !== "" && rules.isLine(tag, 50), "tags/tag", "must be one line of 1 to 50 characters");
  }
  check(eulas.length <= 20, "eulas", "must not be more than 20");
  for (const eula of eulas) {
    check(eula.trim() !== "", "eulas/eula", "must not be empty");
    checkText(check, eula, "eulas/eula");
  }
}

function validateLocale(check: Check, { keyboardLayout, language, timezone }: Configuration["locale"]): void {
  const layouts = `must be one of ${keyboardLayouts.join(", ")}`;
  check(keyboardLayouts.includes(keyboardLayout), "locale/keyboard_layout", layouts);
  check(rules.isLocale(language), "locale/language", "must be like de_DE.UTF-8");
  check(rules.isTimezone(timezone), "locale/timezone/location", "must be a time zone such as Europe/Vienna");
}

function validateNetwork(
  check: Check,
  { type, hostname, ip, netmask, route, nameservers }: Configuration["network"],
): void {
  const family = rules.addressFamily(ip);
  check(hostname === "" || rules.isHostname(hostname), "network/hostname", "must be a host name (RFC 1123)");
  check(ip === "" || family !== undefined, "network/ip", "must be an IPv4 or IPv6 address");
  const mask = family === 6 ? "a prefix length, 1 to 128" : "like 255.255.255.0, or a prefix length";
  check(netmask === "" || rules.isNetmask(netmask, family ?? 4), "network/netmask", `must be ${mask}`);
  const isRoute = rules.addressFamily(route) === (family ?? rules.addressFamily(route) ?? 4);
  check(route === "" || isRoute, "network/route", "must be an address of the same family as ip");
  check(nameservers.length <= 8, "network/nameservers", "must not be more than 8");
  const isList = nameservers.every((one) => rules.addressFamily(one) !== undefined);
  check(isList, "network/nameservers", "must be addresses, separated by commas");
  if (type !== "manual") return;
  check(ip !== "", "network/ip", "is required with a fixed address");
  check(netmask !== "", "network/netmask", "is required with a fixed address");
}

function validateFirewall(check: Check, { openPorts }: Configuration["firewall"]): void {
  check(openPorts.length <= 200, "firewall/open_port", "must not be more than 200");
  for (const port of openPorts) {
    const wanted = "must be a service name or a port number, such as ssh, 8080 or 53/udp";
    check(rules.isPort(port), "firewall/open_port", wanted);
  }
}

/** Checks `disk_size` separately. It is shown in gigabytes, so its bounds are not those of the stored number. */
function validateSettings(check: Check, { diskSizeMb }: Configuration["settings"]): void {
  check(diskSizeMb >= 64 && diskSizeMb <= 1024 * 1024, "settings/disk_size", "must be 1 to 1024 GB, or at least 64M");
}

function validateLvm(check: Check, { enabled, kind, volumeGroup, volumes }: Configuration["lvm"]): void {
  const isLvm = kind === "lvm";
  check(volumes.length <= 50, "lvm/volumes", "must not be more than 50");
  for (const { path, sizeMb } of volumes) {
    const isMountable = path === "/" || (rules.isPath(path) && !unmountable.test(path));
    check(isMountable, "lvm/volumes/volume/path", "must be an absolute path that can be a separate volume");
    check(sizeMb >= 1 && sizeMb <= 1024 * 1024, "lvm/volumes/volume/size", "must be 1 MB to 1024 GB");
  }
  const paths = volumes.map(({ path }) => path);
  check(new Set(paths).size === paths.length, "lvm/volumes/volume/path", "must not be the same for two volumes");
  check(!enabled || !isLvm || volumeGroup !== "", "lvm/volume_group", "is required if LVM is enabled");
  check(
    isLvm || !paths.includes("/"),
    "lvm/volumes/volume/path",
    "must not be /: its partition has the rest of the disk",
  );
}

// Directories that the kernel creates at run time, or that are needed before the volumes are mounted.
const unmountable = /^\/(proc|sys|dev|run|boot|etc|bin|sbin|lib|lib64)(\/|$)/;

function validateScripts(check: Check, scripts: Configuration["scripts"]): void {
  for (const [name, { script }] of Object.entries(scripts)) checkText(check, script, `scripts/${name}/script`);
}

function checkText(check: Check, text: string, path: string): void {
  check(rules.isText(text), path, "must not have control characters");
  check(new TextEncoder().encode(text).byteLength <= maxTextBytes, path, "must not be longer than 64 KiB");
}
