import type { Command } from "./command.ts";
import { account } from "./commands/account.ts";
import { advisories } from "./commands/advisories.ts";
import { appliances } from "./commands/appliances.ts";
import { builds } from "./commands/builds.ts";
import { channels } from "./commands/channels.ts";
import { checks } from "./commands/checks.ts";
import { completion } from "./commands/completion.ts";
import { configuration } from "./commands/configuration.ts";
import { contents } from "./commands/contents.ts";
import { definitions } from "./commands/definitions.ts";
import { difference } from "./commands/difference.ts";
import { events } from "./commands/events.ts";
import { gallery } from "./commands/gallery.ts";
import { images } from "./commands/images.ts";
import { imagesWith } from "./commands/images-with.ts";
import { imports } from "./commands/import.ts";
import { log } from "./commands/log.ts";
import { login } from "./commands/login.ts";
import { mcpFor } from "./commands/mcp.ts";
import { rebuilds } from "./commands/rebuilds.ts";
import { repositories } from "./commands/repositories.ts";
import { sign } from "./commands/sign.ts";
import { software } from "./commands/software.ts";
import { testdrives } from "./commands/testdrives.ts";
import { tokens } from "./commands/tokens.ts";
import { vex } from "./commands/vex.ts";
import { updates } from "./commands/updates.ts";

const allButMcp: readonly Command[] = [
  ...login,
  ...appliances,
  ...software,
  ...repositories,
  ...contents,
  ...configuration,
  ...definitions,
  ...imports,
  ...builds,
  ...images,
  ...sign,
  ...log,
  ...imagesWith,
  ...checks,
  ...rebuilds,
  ...testdrives,
  ...difference,
  ...updates,
  ...advisories,
  ...vex,
  ...gallery,
  ...channels,
  ...events,
  ...tokens,
  ...account,
  ...completion,
];

/** Every command, in the order of the help. Program, manual and completion are made from this list. */
export const commands: readonly Command[] = [...allButMcp, ...mcpFor(allButMcp)];

/** The subject of all commands with the same first word. */
export const groups: Readonly<Record<string, string>> = {
  account: "What you have chosen for your account",
  channel: "Addresses of published images that last",
  config: "The settings of an appliance",
  log: "The public log of published images",
  file: "Files that builds copy into the image",
  gallery: "Appliances that others have published",
  package: "Your own packages",
  repo: "Where packages come from",
  token: "Secrets for programs",
  vex: "What you state about security advisories",
  webhook: "Addresses that get your events",
};
