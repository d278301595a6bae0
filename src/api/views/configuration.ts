import type { ShownConfiguration } from "#domain/configuration/of-appliance";
import type { Configuration } from "#domain/configuration/configuration";
import { gigabytes } from "#domain/configuration/change";
import { XmlList, type XmlFields, type XmlValue } from "#xml/write";

/** The element `configuration` (wire.md §2.4): what is there in which case, and the order, are the original's. */
export function configurationFields({ id, name, version, imageType, configuration }: ShownConfiguration): XmlFields {
  const { description, website, tags, eulas, databases, autostarts } = configuration;
  return {
    id,
    name,
    description: description || undefined,
    version,
    type: imageType,
    website: website || undefined,
    tags: listUnlessEmpty("tag", tags),
    locale: localeFields(configuration.locale),
    network: networkFields(configuration.network),
    firewall: firewallFields(configuration.firewall),
    users: counted("user", configuration.users.map(userFields)),
    eulas: counted("eula", eulas),
    databases: listUnlessEmpty("database", databases.map(databaseFields)),
    autostarts: listUnlessEmpty("autostart", autostarts.map(autostartFields)),
    settings: settingsFields(configuration.settings),
    lvm: lvmFields(configuration.lvm),
    scripts: {
      build: scriptFields(configuration.scripts.build),
      boot: scriptFields(configuration.scripts.boot),
      autoyast: scriptFields(configuration.scripts.autoyast),
    },
  };
}

/** `count` on the list element (wire.md §1.4). */
const counted = (item: string, items: readonly XmlValue[]) => new XmlList(item, items, { count: items.length });

const listUnlessEmpty = (item: string, items: readonly XmlValue[]) =>
  items.length === 0 ? undefined : counted(item, items);

const localeFields = ({ keyboardLayout, language, timezone }: Configuration["locale"]): XmlFields => ({
  keyboard_layout: keyboardLayout,
  language,
  timezone: { location: timezone },
});

/** Details are kept with every type, and shown with `manual` alone. */
export function networkFields({
  type,
  hostname,
  ip,
  netmask,
  route,
  nameservers,
}: Configuration["network"]): XmlFields {
  if (type !== "manual") return { type };
  return {
    type,
    hostname: hostname || undefined,
    ip: ip || undefined,
    netmask: netmask || undefined,
    route: route || undefined,
    nameservers: nameservers.join(", ") || undefined,
  };
}

export const firewallFields = ({ enabled, openPorts }: Configuration["firewall"]): XmlFields => ({
  enabled,
  open_port: openPorts,
});

const userFields = ({ uid, name, password, group, shell, homedir }: Configuration["users"][number]): XmlFields => ({
  uid,
  name,
  password,
  group,
  shell,
  homedir,
});

const databaseFields = ({ type, users }: Configuration["databases"][number]): XmlFields => ({
  type,
  users: counted(
    "user",
    users.map(({ username, password, databases }) => ({ username, password, database_list: databases.join(",") })),
  ),
});

const autostartFields = (autostart: Configuration["autostarts"][number]): XmlFields => ({
  command: autostart.command,
  description: autostart.description || undefined,
  enabled: autostart.enabled,
  user: autostart.user,
});

/** Exactly these: clients reject any other. */
const settingsFields = (settings: Configuration["settings"]): XmlFields => ({
  memory_size: settings.memorySizeMb,
  disk_size: gigabytes(settings.diskSizeMb),
  swap_size: settings.swapSizeMb,
  pae_enabled: settings.paeEnabled,
  xen_host_mode_enabled: settings.xenHostModeEnabled,
  cdrom_enabled: settings.cdromEnabled,
  webyast_enabled: settings.webyastEnabled,
  live_installer_enabled: settings.liveInstallerEnabled,
  public_clonable: settings.publicClonable,
  runlevel: settings.runlevel,
  automatic_login: settings.automaticLogin || undefined,
});

/** Volumes, too, are kept when LVM is off, and not shown. */
function lvmFields({ enabled, volumeGroup, volumes }: Configuration["lvm"]): XmlFields {
  if (!enabled) return { enabled };
  const fields = volumes.map(({ sizeMb, path }) => ({ size: sizeMb, path }));
  return { enabled, volume_group: volumeGroup, volumes: listUnlessEmpty("volume", fields) };
}

const scriptFields = ({ enabled, script }: Configuration["scripts"]["build"]): XmlFields => ({
  enabled,
  script: script || undefined,
});
