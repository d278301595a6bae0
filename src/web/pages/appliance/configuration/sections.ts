import { keyboardLayouts } from "#kiwi/keytables";
import { networkTypes } from "#documents/configuration";
import type { Configuration } from "#model/configuration";
import { agreements, autostarts, databases, users, volumes, type ListOf } from "./lists.ts";

/** A field of a form, by the path of its element in the document `configuration`. */
export interface Setting {
  path: string;
  label: string;
  kind: "line" | "lines" | "number" | "switch" | "choice" | "list" | "script";
  hint?: string;
  /** Of a choice: values with their words. */
  options?: readonly (readonly [value: string, words: string])[];
  /** Where the document leaves out what is stored. */
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

/** The pages of the configuration. What a value may be is the document's and the domain's business. */
export const sections: readonly Section[] = [
  {
    path: "general",
    title: "Name and description",
    settings: [
      { path: "name", label: "Name", kind: "line" },
      { path: "version", label: "Version", kind: "line", hint: "The next build has it, e.g. 0.0.2." },
      { path: "description", label: "Description", kind: "lines" },
      { path: "website", label: "Website", kind: "line" },
      { path: "tags/tag", label: "Tags", kind: "list", hint: "By commas." },
    ],
  },
  { path: "pictures", title: "Pictures", settings: [] },
  {
    path: "locale",
    title: "Language and time",
    settings: [
      { path: "locale/language", label: "Language", kind: "line", hint: "Such as de_DE.UTF-8." },
      {
        path: "locale/keyboard_layout",
        label: "Keyboard",
        kind: "choice",
        options: keyboardLayouts.map((layout) => [layout, layout]),
      },
      { path: "locale/timezone/location", label: "Time zone", kind: "line", hint: "Such as Europe/Berlin, or UTC." },
    ],
  },
  {
    path: "network",
    title: "Network and firewall",
    settings: [
      {
        path: "network/type",
        label: "Address",
        kind: "choice",
        options: networkTypes.map((type) => [type, networkWords[type]]),
      },
      {
        path: "network/hostname",
        label: "Host name",
        kind: "line",
        hint: "This and the next four: of a fixed address.",
      },
      { path: "network/ip", label: "IP address", kind: "line" },
      { path: "network/netmask", label: "Netmask", kind: "line" },
      { path: "network/route", label: "Gateway", kind: "line" },
      { path: "network/nameservers", label: "Name servers", kind: "line", hint: "By commas." },
      { path: "firewall/enabled", label: "Firewall", kind: "switch" },
      {
        path: "firewall/open_port",
        label: "Open ports",
        kind: "list",
        hint: "Names or numbers, by commas: ssh, 8080.",
      },
    ],
  },
  { path: "users", title: "Users", settings: [], list: users },
  {
    path: "machine",
    title: "Disk and memory",
    settings: [
      {
        path: "settings/memory_size",
        label: "Memory in MB",
        kind: "number",
        hint: "Of testdrives and virtual machines.",
      },
      { path: "settings/disk_size", label: "Disk in GB", kind: "number" },
      { path: "settings/swap_size", label: "Swap in MB", kind: "number" },
      { path: "lvm/enabled", label: "Divide the disk into volumes (LVM)", kind: "switch" },
      {
        path: "lvm/volume_group",
        label: "Name of the volume group",
        kind: "line",
        hint: "With volumes: 1 to 63 letters, digits, and _ + . -",
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
        path: "settings/runlevel",
        label: "Starts with",
        kind: "choice",
        options: [
          ["3", "a text console"],
          ["5", "a desktop"],
        ],
      },
      {
        path: "settings/automatic_login",
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
      { path: "scripts/build/enabled", label: "Run a script at the end of each build", kind: "switch" },
      { path: "scripts/build/script", label: "Script of the build", kind: "script" },
      { path: "scripts/boot/enabled", label: "Run a script at each boot", kind: "switch" },
      { path: "scripts/boot/script", label: "Script at boot", kind: "script" },
    ],
  },
  { path: "agreements", title: "Licence agreements", settings: [], list: agreements },
  { path: "keys", title: "GPG keys", settings: [] },
];
