import { networkTypes } from "#documents/configuration";
import type { Configuration } from "#model/configuration";
import type { FormField } from "./form-field.tsx";
import { keyboardList, languageList, timeZoneList } from "./pick-lists.ts";
import { agreements, autostarts, databases, users, volumes, type ListOf } from "./lists.ts";

export interface Setting extends FormField {
  /** What is stored, if the document omits it. */
  stored?: (configuration: Configuration) => string;
}

export interface Section {
  /** In the address. */
  path: string;
  title: string;
  settings: readonly Setting[];
  list?: ListOf;
}

const networkWords: Readonly<Record<(typeof networkTypes)[number], string>> = {
  dhcp: "By DHCP",
  manual: "Fixed",
  ask_on_first_boot: "Ask at the first boot",
  network_manager: "NetworkManager",
  none: "Keep the settings of the base system",
};

/** A value that only a fixed address uses. It is stored with every type. */
const ofManual = (of: (network: Configuration["network"]) => string): Pick<Setting, "stored" | "usedWith"> => ({
  stored: ({ network }) => of(network),
  usedWith: "manual",
});

/** The pages of the configuration. The document and the domain decide which values are valid. */
export const sections: readonly Section[] = [
  {
    path: "general",
    title: "Name and description",
    settings: [
      { name: "name", label: "Name", kind: "line" },
      {
        name: "version",
        label: "Version",
        kind: "line",
        hint: "Of the next build. A finished build raises its last number.",
      },
      {
        name: "description",
        label: "Description",
        kind: "lines",
        hint: "For you, the gallery, and /etc/kiln-release.",
      },
      { name: "website", label: "Website", kind: "line" },
      { name: "tags/tag", label: "Tags", kind: "list", hint: "Separated by commas." },
    ],
  },
  { path: "pictures", title: "Pictures", settings: [] },
  {
    path: "locale",
    title: "Language and time",
    settings: [
      {
        name: "locale/language",
        label: "Language",
        kind: "pick",
        hint: "Type a language or a country to search.",
        picks: languageList,
      },
      {
        name: "locale/keyboard_layout",
        label: "Keyboard",
        kind: "choice",
        options: keyboardList(),
      },
      {
        name: "locale/timezone/location",
        label: "Time zone",
        kind: "pick",
        hint: "Type a city to search, or UTC.",
        picks: timeZoneList,
      },
    ],
  },
  {
    path: "network",
    title: "Network and firewall",
    settings: [
      {
        name: "network/hostname",
        label: "Host name",
        kind: "line",
        hint: "Empty: the name that the base system or DHCP gives.",
        stored: ({ network }) => network.hostname,
      },
      {
        name: "network/type",
        label: "Address",
        kind: "choice",
        options: networkTypes.map((type) => [type, networkWords[type]]),
      },
      {
        name: "network/ip",
        label: "IP address",
        kind: "line",
        hint: "Every machine that boots this image has the same.",
        ...ofManual(({ ip }) => ip),
      },
      {
        name: "network/netmask",
        label: "Netmask",
        kind: "line",
        hint: "255.255.255.0, or 24 for short.",
        ...ofManual(({ netmask }) => netmask),
      },
      { name: "network/route", label: "Gateway", kind: "line", ...ofManual(({ route }) => route) },
      {
        name: "network/nameservers",
        label: "Name servers",
        kind: "line",
        hint: "Separated by commas.",
        ...ofManual(({ nameservers }) => nameservers.join(", ")),
      },
      {
        name: "firewall/enabled",
        label: "Firewall",
        kind: "switch",
        hint: "Closes all ports to others, except those below. Needs nftables, firewalld or SuSEfirewall2.",
      },
      {
        name: "firewall/open_port",
        label: "Open ports",
        kind: "ports",
        hint: "Other services or numbers, separated by commas, e.g. 8080, 53/udp.",
        usedWith: "firewall",
      },
    ],
  },
  { path: "users", title: "Users", settings: [], list: users },
  {
    path: "machine",
    title: "Disk and memory",
    settings: [
      {
        name: "settings/memory_size",
        label: "Memory in MB",
        kind: "number",
        hint: "Of testdrives and virtual machines.",
      },
      { name: "settings/disk_size", label: "Disk in GB", kind: "number", hint: "The size of the image's disk." },
      {
        name: "settings/swap_size",
        label: "Swap in MB",
        kind: "number",
        hint: "A file on the disk, made at the first boot if there is room. 0: none.",
      },
      {
        name: "lvm/enabled",
        label: "Divide the disk into volumes (LVM)",
        kind: "switch",
        hint: "Needs the package lvm2.",
      },
      {
        name: "lvm/volume_group",
        label: "Name of the volume group",
        kind: "line",
        hint: "1 to 63 letters, digits, and _ + . -",
        usedWith: "lvm",
        stored: ({ lvm }) => lvm.volumeGroup,
      },
    ],
    list: volumes,
  },
  {
    path: "startup",
    title: "Startup",
    settings: [
      {
        name: "settings/runlevel",
        label: "Starts with",
        kind: "choice",
        hint: "A desktop is only there if its packages are.",
        options: [
          ["3", "a text console"],
          ["5", "a desktop"],
        ],
      },
      {
        name: "settings/automatic_login",
        label: "Log this user in without a password",
        kind: "line",
        hint: "Empty: no one.",
      },
    ],
    list: autostarts,
  },
  { path: "databases", title: "Databases", settings: [], list: databases },
  {
    path: "scripts",
    title: "Scripts",
    settings: [
      { name: "scripts/build/enabled", label: "Run a script at the end of each build", kind: "switch" },
      {
        name: "scripts/build/script",
        label: "Script of the build",
        kind: "script",
        hint: "Runs as root in the image. If it fails, the build fails.",
        usedWith: "build-script",
      },
      { name: "scripts/boot/enabled", label: "Run a script at each boot", kind: "switch" },
      {
        name: "scripts/boot/script",
        label: "Script at boot",
        kind: "script",
        hint: "Runs as root on the machine, when it has started.",
        usedWith: "boot-script",
      },
    ],
  },
  { path: "agreements", title: "Licence agreements", settings: [], list: agreements },
  { path: "keys", title: "GPG keys", settings: [] },
];
