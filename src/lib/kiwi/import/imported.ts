import type { ImageType } from "#lib/contract/index";
import type { Configuration } from "#lib/configuration/stored";
import type { XmlNode } from "#lib/wire/read-xml";

/**
 * The definition of an appliance (docs/api/definitions.md) from a description. Everything that the description lacks is
 * absent.
 */
export interface ImportedDefinition {
  name?: string;
  base_system?: string;
  arch?: string;
  version?: string;
  type?: ImageType;
  repositories?: { name?: string; url?: string; uploads?: boolean }[];
  packages: { name: string; version?: string }[];
  patterns: { name: string }[];
  bans: { name: string }[];
  configuration: ImportedConfiguration;
  gpg_keys?: { name: string; key: string }[];
}

interface ImportedUser {
  uid: number;
  name: string;
  group: string;
  shell: string;
  homedir: string;
  ssh_keys?: readonly string[];
  administrator?: boolean;
}

export interface ImportedConfiguration {
  description?: string;
  website?: string;
  locale?: { keyboard_layout?: string; language?: string; timezone?: { location: string } };
  network?: {
    type: "dhcp" | "manual" | "ask_on_first_boot" | "network_manager" | "none";
    hostname?: string;
    ip?: string;
    netmask?: string;
    route?: string;
    nameservers?: string;
  };
  firewall?: { enabled: boolean; open_port: readonly string[] };
  /** Without passwords, because a description has only hashes. */
  users?: ImportedUser[];
  eulas?: readonly string[];
  databases?: { type: "pgsql" | "mysql"; users: { username: string; database_list: string }[] }[];
  autostarts?: { command: string; description: string; enabled: boolean; user: string }[];
  /** Settings by their names in the document. Each is read by the module that writes it. */
  settings?: Record<string, string | number | boolean>;
  lvm?: {
    enabled: boolean;
    kind?: Configuration["lvm"]["kind"];
    volume_group?: string;
    volumes?: { size: number; path: string }[];
  };
  scripts?: Partial<Record<"build" | "boot" | "autoyast", { enabled: boolean; script: string }>>;
}

/** A file of the image. */
export interface ImportedFile {
  path: string;
  owner: string;
  group: string;
  permissions: string;
  content: Uint8Array;
}

/** A part of a description that is not imported. */
export interface Omission {
  /** The omitted part: `preferences/type/firmware`, or the path of a file. */
  what: string;
  why: string;
}

/** The result of reading a description, or a part of it. */
export interface Imported {
  definition: ImportedDefinition;
  files: ImportedFile[];
  omitted: Omission[];
}

/** The files next to a description. */
export interface NextTo {
  /** The files by path, with `/` between the parts. */
  files: ReadonlyMap<string, { content: Uint8Array; mode: number }>;
}

export const textOf = (content: Uint8Array | undefined): string | undefined =>
  content === undefined ? undefined : new TextDecoder("utf-8", { ignoreBOM: true, fatal: false }).decode(content);

export const childrenOf = (node: XmlNode, name: string): XmlNode[] =>
  node.children.filter((child) => child.name === name);
