import type { InstalledPackage } from "../contract.ts";
import { FileTexts, scan } from "./root-scan.ts";
import type { RootTree } from "./root-walk.ts";

/**
 * The links that make systemd start a unit at boot: what packages and administrators enable is below /etc, and what
 * always starts with a target is next to the units. Timers start nothing at boot.
 */
const enabled =
  /^(?:\/etc\/systemd\/system\/[^/]+\.(?:wants|requires)|(?:\/usr)?\/lib\/systemd\/system\/multi-user\.target\.wants)\/([^/]+\.(?:service|socket))$/;
const masked = /^\/etc\/systemd\/system\/([^/]+)$/;
/** dpkg's lists of the files of each package. */
const fileList = /^\/var\/lib\/dpkg\/info\/([a-z0-9][a-z0-9+.-]*)(?::[a-z0-9-]+)?\.list$/;
const unitFile = /^(?:\/usr)?\/lib\/systemd\/system\/([^/]+\.(?:service|socket))$/gm;
/** A larger list is not from dpkg. */
const maxListBytes = 8 * 1024 * 1024;
const maxUnits = 100;

/** The units that systemd starts at boot, by the package that contains each. Empty without systemd and dpkg. */
export async function bootServices(root: RootTree, signal: AbortSignal): Promise<Record<string, string[]>> {
  const [units, off, owners] = [new Set<string>(), new Set<string>(), new Map<string, string>()];
  const texts = new FileTexts();
  for await (const found of scan(root, signal)) {
    if (found.type === "l") {
      const unit = enabled.exec(found.path)?.[1];
      if (unit !== undefined) units.add(unit);
      const name = found.target === "/dev/null" ? masked.exec(found.path)?.[1] : undefined;
      if (name !== undefined) off.add(name);
    }
    const owner = found.type === "f" ? fileList.exec(found.path)?.[1] : undefined;
    if (owner === undefined) continue;
    for (const [, unit = ""] of texts.of(found, maxListBytes).matchAll(unitFile)) owners.set(unit, owner);
  }
  const services: Record<string, string[]> = {};
  for (const unit of [...units].filter((each) => !off.has(each)).slice(0, maxUnits)) {
    const owner = owners.get(unit) ?? owners.get(templateOf(unit));
    if (owner !== undefined) (services[owner] ??= []).push(unit);
  }
  return services;
}

/** The packages, each with the units that it starts at boot. */
export const withServices = (
  installed: readonly InstalledPackage[],
  services: Readonly<Record<string, readonly string[]>>,
): InstalledPackage[] =>
  installed.map((each) =>
    Object.hasOwn(services, each.name) ? { ...each, services: [...(services[each.name] ?? [])] } : each,
  );

/** "getty@.service" for "getty@tty1.service". */
const templateOf = (unit: string): string => unit.replace(/@[^.]*(?=\.)/, "@");
