import type { Services } from "#domain/services";
import type { Build } from "#storage/builds";
import { findEarlierWithDelta } from "#storage/deltas";

/** The suffix of a delta's file name, after the name of the image. */
export const deltaSuffix = ".delta";

/**
 * The delta from the image that most people have when they update: the newest one of another version with the same
 * type. Published ones have precedence. Undefined if there is none.
 */
export async function findEarlierDelta(
  { env, db }: Services<Pick<Env, "BLOBS">>,
  build: Pick<Build, "applianceId" | "imageType" | "version">,
): Promise<R2ObjectBody | undefined> {
  const key = await findEarlierWithDelta(db, build);
  return (key !== undefined && (await env.BLOBS.get(key))) || undefined;
}
