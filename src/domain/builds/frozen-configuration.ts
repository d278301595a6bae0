import type { FrozenConfiguration } from "#lib/contract/index";
import { configurationOf } from "#lib/configuration/stored";
import type { Appliance } from "#storage/appliances";

/** The facts about an appliance that a manifest contains in addition to the KIWI description. */
export function frozenConfiguration(appliance: Appliance): FrozenConfiguration {
  const { locale, network, firewall, settings, scripts } = configurationOf(appliance);
  return {
    baseSystem: appliance.baseSystem,
    estimatedRawMb: appliance.estimatedRawMb,
    locale,
    runlevel: settings.runlevel,
    memoryMb: settings.memorySizeMb,
    cdrom: settings.cdromEnabled,
    network,
    firewall: { ...firewall, openPorts: [...firewall.openPorts] },
    webyast: settings.webyastEnabled,
    ...(scripts.build.enabled && { buildScript: scripts.build.script }),
  };
}
