import type { Command } from "./command.ts";
import { appliances } from "./commands/appliances.ts";
import { builds } from "./commands/builds.ts";
import { configuration } from "./commands/configuration.ts";
import { images } from "./commands/images.ts";
import { login } from "./commands/login.ts";
import { software } from "./commands/software.ts";

/** Every command, in the order of the help. The program, the manual and the completion are made of this list. */
export const commands: readonly Command[] = [
  ...login,
  ...appliances,
  ...software,
  ...configuration,
  ...builds,
  ...images,
];

/** What the commands of one first word are about. */
export const groups: Readonly<Record<string, string>> = {
  config: "The settings of an appliance",
};
