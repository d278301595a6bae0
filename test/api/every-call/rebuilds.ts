import { signedIn } from "../../support/client.ts";
import { createBuild } from "../../support/factories.ts";
import type { Row } from "./row.ts";
import type { Sample } from "./sample.ts";

const path = "/builds/{build}/rebuilds";

/** An image whose rebuild waits. */
const waiting = async ({ ids }: Sample): Promise<Sample> => {
  const tux = await signedIn();
  const { buildId } = await createBuild(tux);
  await tux.post(`/builds/${buildId}/rebuilds`);
  return { tux, ids: { ...ids, build: buildId } };
};

export const rebuilds: readonly Row[] = [
  {
    call: "GET /builds/{build_id}/rebuilds",
    path,
    answer: "rebuilds",
    foreign: "invalid_build_id",
  },
  {
    call: "POST /builds/{build_id}/rebuilds",
    path,
    answer: "rebuild",
    foreign: "invalid_build_id",
    fresh: waiting,
  },
  {
    call: "DELETE /builds/{build_id}/rebuilds",
    path,
    answer: "success",
    foreign: "invalid_build_id",
    fresh: waiting,
  },
];
