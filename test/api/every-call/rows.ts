import type { Row } from "./row.ts";
import { applianceRepositories } from "./appliance-repositories.ts";
import { appliances } from "./appliances.ts";
import { builds } from "./builds.ts";
import { channels } from "./channels.ts";
import { configuration } from "./configuration.ts";
import { contents } from "./contents.ts";
import { definitions } from "./definitions.ts";
import { events } from "./events.ts";
import { gallery } from "./gallery.ts";
import { general } from "./general.ts";
import { images } from "./images.ts";
import { modifiedFiles } from "./modified-files.ts";
import { repositories } from "./repositories.ts";
import { sessions } from "./sessions.ts";
import { software } from "./software.ts";
import { testdrives } from "./testdrives.ts";
import { tokens } from "./tokens.ts";
import { vex } from "./vex.ts";
import { uploads } from "./uploads.ts";

/** Every call of the API. A new call needs a row here. */
export const rows: readonly Row[] = [
  ...general,
  ...tokens,
  ...sessions,
  ...appliances,
  ...configuration,
  ...definitions,
  ...applianceRepositories,
  ...software,
  ...contents,
  ...builds,
  ...images,
  ...vex,
  ...testdrives,
  ...modifiedFiles,
  ...events,
  ...repositories,
  ...uploads,
  ...gallery,
  ...channels,
];
