import { agreements, autostarts, checks, databases, users, volumes, type ListOf } from "./lists.ts";
import { settingsOf, type Setting } from "./settings.ts";

export interface Section {
  /** The section's part of the address. */
  path: string;
  title: string;
  settings: readonly Setting[];
  list?: ListOf;
}

const section = (path: string, title: string, list?: ListOf): Section => ({
  path,
  title,
  settings: settingsOf(path),
  ...(list && { list }),
});

/** The pages of the configuration. Each field names its page (src/lib/configuration/document.ts). */
export const sections: readonly Section[] = [
  section("general", "Name and description"),
  section("pictures", "Pictures"),
  section("locale", "Language and time"),
  section("network", "Network and firewall"),
  section("users", "Users", users),
  section("machine", "Disk and memory", volumes),
  section("startup", "Startup", autostarts),
  section("databases", "Databases", databases),
  section("scripts", "Scripts"),
  section("checks", "Checks", checks),
  section("agreements", "Licence agreements", agreements),
  section("keys", "GPG keys"),
];
