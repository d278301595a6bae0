import type { CallGroup } from "#api/call";
import { applianceRepositories } from "#api/appliance-repositories";
import { appliances } from "#api/appliances";
import { builds } from "#api/builds";
import { channels } from "#api/channels";
import { checks } from "#api/checks";
import { configuration } from "#api/configuration";
import { definitions } from "#api/definitions";
import { events } from "#api/events";
import { files } from "#api/overlay-files";
import { gallery } from "#api/gallery/index";
import { general } from "#api/general";
import { gpgKeys } from "#api/gpg-keys";
import { images } from "#api/images";
import { rebuilds } from "#api/rebuilds";
import { repositories } from "#api/repositories";
import { rpms } from "#api/rpms";
import { runningBuilds } from "#api/running-builds";
import { schematics } from "#api/schematics";
import { sessions } from "#api/sessions";
import { sharing } from "#api/sharing";
import { software } from "#api/software";
import { testdrives } from "#api/testdrives";
import { tokens } from "#api/tokens";
import { vex } from "#api/vex";
import { uploads } from "#api/uploads";

/** Every call of the API, in the order of the reference page. Paths are relative to the prefix. */
export const groups: readonly CallGroup[] = [
  general,
  tokens,
  sessions,
  appliances,
  configuration,
  definitions,
  schematics,
  applianceRepositories,
  software,
  files,
  gpgKeys,
  runningBuilds,
  builds,
  images,
  rebuilds,
  checks,
  vex,
  testdrives,
  events,
  rpms,
  uploads,
  repositories,
  sharing,
  gallery,
  channels,
];
