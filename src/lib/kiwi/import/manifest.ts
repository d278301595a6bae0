import { imageTypes } from "#lib/contract/image-formats";
import type { ImageType } from "#lib/contract/index";
import { describedBy } from "#lib/kiwi/import/description";
import { childrenOf, type Imported, type ImportedDefinition } from "#lib/kiwi/import/imported";
import { layoutOf } from "#lib/kiwi/import/preferences";
import type { XmlNode } from "#lib/wire/read-xml";

type Configuration = ImportedDefinition["configuration"];

/**
 * Reads the manifest of a build (compatibility.md, "The manifest"): a description, and in `extra_config` what KIWI
 * descriptions cannot express.
 */
export function importManifest(manifest: XmlNode, serviceUrl: string): Imported {
  const image = childrenOf(manifest, "config").flatMap((one) => childrenOf(one, "image"))[0];
  const extra = childrenOf(manifest, "extra_config")[0];
  const described = describedBy(image ?? emptyNode, "kiln");
  const { definition, omitted } = described;
  const text = (name: string) => (extra && childrenOf(extra, name)[0]?.text) || undefined;
  const type = text("image_type");
  const base = text("base_system");
  const arch = text("arch");
  const keys = childrenOf(extra ?? emptyNode, "gpg_keys").flatMap((one) => childrenOf(one, "gpg_key"));
  const files = childrenOf(extra ?? emptyNode, "overlay_files").flatMap((one) => childrenOf(one, "file"));
  return {
    definition: {
      ...definition,
      ...(base !== undefined && { base_system: base }),
      ...(arch !== undefined && { arch }),
      ...(type !== undefined && isImageType(type) && { type }),
      repositories: childrenOf(extra ?? emptyNode, "repository").map((one) => repositoryOf(one, serviceUrl)),
      configuration: { ...definition.configuration, ...configurationOf(extra ?? emptyNode, definition.configuration) },
      gpg_keys: keys.map(({ attributes, exactText }) => ({ name: attributes.get("name") ?? "key", key: exactText })),
    },
    files: [],
    omitted: [
      ...omitted,
      ...files.map((one) => ({
        what: childrenOf(one, "path")[0]?.text ?? "overlay_files/file",
        why: "a manifest has only the name of the file: add its content with `kiln file add`",
      })),
    ],
  };
}

const isImageType = (text: string): text is ImageType => imageTypes.some((type) => type === text);

const emptyNode: XmlNode = { name: "", attributes: new Map(), children: [], text: "", exactText: "" };

/** A repository that the service stores is identified by its name, because its URL differs between services. */
function repositoryOf(node: XmlNode, serviceUrl: string): NonNullable<ImportedDefinition["repositories"]>[number] {
  const name = childrenOf(node, "name")[0]?.text ?? "";
  const url = childrenOf(node, "source")[0]?.attributes.get("path");
  if (url === undefined) return { uploads: true };
  return url.startsWith(`${serviceUrl}/`) ? { name } : { name, url };
}

const textIn = (section: XmlNode | undefined, name: string): string | undefined =>
  section && childrenOf(section, name)[0]?.text;

function configurationOf(extra: XmlNode, known: Configuration): Configuration {
  const [locale] = childrenOf(extra, "locale");
  const layout = layoutOf(textIn(locale, "keytable") ?? "");
  const language = textIn(locale, "language");
  const zone = textIn(extra, "time_zone");
  const runlevel = textIn(extra, "default_runlevel");
  const [network] = childrenOf(extra, "network");
  const [firewall] = childrenOf(extra, "firewall");
  const script = childrenOf(extra, "build_script")[0]?.exactText;
  const isOn = (name: string) => textIn(firewall, name) === "true";
  return {
    locale: {
      ...known.locale,
      ...(layout !== undefined && { keyboard_layout: layout }),
      ...(language !== undefined && { language }),
      ...(zone !== undefined && { timezone: { location: zone } }),
    },
    settings: {
      ...known.settings,
      ...(runlevel !== undefined && { runlevel: Number(runlevel) }),
      ...(firewall && { webyast_enabled: isOn("webyast") }),
    },
    ...(network && { network: networkOf(network) }),
    // A manifest lists no other ports.
    ...(firewall && {
      firewall: { enabled: isOn("firewall_enabled"), open_port: ["ssh", "http"].filter((port) => isOn(port)) },
    }),
    ...(script !== undefined && { scripts: { build: { enabled: true, script } } }),
  };
}

const networkTypes = ["dhcp", "manual", "ask_on_first_boot", "network_manager", "none"] as const;

function networkOf(node: XmlNode): NonNullable<Configuration["network"]> {
  const type = networkTypes.find((one) => one === node.attributes.get("config")) ?? "none";
  const texts = node.children.map(({ name, text }) => [name, text] as const);
  const addresses: Partial<Record<string, string>> = Object.fromEntries(texts);
  const { hostname = "", ip = "", netmask = "", route = "", nameservers = "" } = addresses;
  return type === "manual" ? { type, hostname, ip, netmask, route, nameservers } : { type };
}
