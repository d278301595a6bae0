/*
 * A rebuild is claimed like a build, with `isRebuild`, by agents whose capabilities have `rebuilds`. For the image, the
 * agent uses nothing that it has cached except packages, and it uploads no part of the image.
 */
import { z } from "zod";
import { Sha256 } from "./image-type.ts";

/**
 * POST /agent/builds/:id/rebuilt, before `finish` of a rebuild: the image that the agent has made. The answer reports
 * whether it equals the first one. Then the agent uploads the artifact "files-index", which is required if they differ.
 * The first statement of an attempt counts.
 */
export const RebuiltImage = z.object({ sha256: Sha256, size: z.int().positive() });
export type RebuiltImage = z.infer<typeof RebuiltImage>;
export const RebuiltAnswer = z.object({ same: z.boolean() });
