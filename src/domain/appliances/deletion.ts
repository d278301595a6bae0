import type { Services } from "#domain/services";
import { buildObject, cancelBuildsOf } from "#domain/builds/build";
import { Refusal } from "#domain/refusal";
import { logFailure } from "#log/log";
import { deleteApplianceRows, type Appliance } from "#storage/appliances";
import { isUnfinished } from "#storage/builds";
import type { Database } from "#storage/db";
import { isPublished } from "#storage/publications";

/**
 * Deletes an appliance with its builds; refused while it is in the gallery. First, agents stop its builds. Then one
 * batch deletes all rows and releases the blobs that they named. The sweep deletes the blobs, even if this is
 * interrupted.
 */
export async function deleteAppliance({ env, db }: Services, appliance: Appliance): Promise<void> {
  await refuseIfPublished(db, appliance);
  await cancelBuildsOf({ env, db }, appliance);
  const gone = await deleteApplianceRows(db, appliance.id).catch(async (error: unknown) => {
    // If it was published in the meantime, the batch changed nothing.
    await refuseIfPublished(db, appliance);
    throw error;
  });
  // Builds that were started in the meantime. If a build's object cannot be reached, the build continues, and the sweep
  // removes its image.
  const late = gone.filter(isUnfinished).map((build) =>
    buildObject(env, build)
      .cancel()
      .catch((error: unknown) => logFailure("could not cancel a build", error, { buildId: build.id })),
  );
  await Promise.all(late);
}

async function refuseIfPublished(db: Database, { id }: Appliance): Promise<void> {
  if (!(await isPublished(db, id))) return;
  throw new Refusal("cannot_delete_published_build", {
    message: "The appliance is published in the gallery. Unpublish all its versions first.",
  });
}
