import { refuseBeyondToken } from "#api/access";
import { authenticate } from "#api/authenticate";
import { factory } from "#api/factory";
import { appliances, listAppliances } from "#api/appliances";
import { configuration } from "#api/configuration";
import { applianceRepositories } from "#api/appliance-repositories";
import { software } from "#api/software";
import { builds } from "#api/builds";
import { events } from "#api/events";
import { files } from "#api/files";
import { gallery, versionless } from "#api/gallery/index";
import { general } from "#api/general";
import { gpgKeys } from "#api/gpg-keys";
import { idempotent } from "#api/idempotency";
import { images } from "#api/images";
import { refuseChangesInReadOnlyMode } from "#api/read-only";
import { mounted } from "#api/mount";
import { repositories } from "#api/repositories";
import { rpms } from "#api/rpms";
import { runningBuilds } from "#api/running-builds";
import { testdrives } from "#api/testdrives";
import { sharing } from "#api/sharing";
import { tokens } from "#api/tokens";
import { v1, v2, type ApiVersion } from "#api/versions";

/** Door 1: every resource is mounted once per version, from the same handlers. */
export const api = factory.createApp().route("/v1/user", resources(v1)).route("/v2/user", resources(v2));

function resources(version: ApiVersion) {
  return factory
    .createApp()
    .use(async (c, next) => {
      c.set("version", version);
      await next();
    })
    .route("/", mounted({ operations: [listAppliances] }, version)) // checks the credentials itself
    .use(authenticate)
    .use(refuseBeyondToken)
    .use(refuseChangesInReadOnlyMode)
    .use(idempotent)
    .route("/", mounted(general, version))
    .route("/", mounted(tokens, version))
    .route("/", mounted(appliances, version))
    .route("/", mounted(runningBuilds, version))
    .route("/", mounted(builds, version))
    .route("/", mounted(files, version))
    .route("/", mounted(rpms, version))
    .route("/", mounted(repositories, version))
    .route("/", mounted(applianceRepositories, version))
    .route("/", mounted(software, version))
    .route("/", mounted(images, version))
    .route("/", mounted(configuration, version))
    .route("/", mounted(gpgKeys, version))
    .route("/", mounted(sharing, version))
    .route("/", versionless)
    .route("/", mounted(gallery, version))
    .route("/", mounted(testdrives, version))
    .route("/", mounted(events, version));
}
