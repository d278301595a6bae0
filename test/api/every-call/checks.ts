import { signedIn } from "../../support/client.ts";
import { createBuild } from "../../support/factories.ts";
import { refused, type Row } from "./row.ts";
import type { Sample } from "./sample.ts";

const path = "/builds/{build}/checks";

/** A build whose appliance has a check. */
const checked = async ({ ids }: Sample): Promise<Sample> => {
  const tux = await signedIn();
  const { applianceId, buildId } = await createBuild(tux);
  const configuration = { checks: [{ kind: "login" }] };
  await tux.put(`/appliances/${applianceId}/configuration`, JSON.stringify({ configuration }), "application/json");
  await tux.post(`/builds/${buildId}/checks`);
  return { tux, ids: { ...ids, build: buildId } };
};

export const checks: readonly Row[] = [
  {
    call: "GET /builds/{build_id}/checks",
    path,
    answer: "check_runs",
    foreign: "invalid_build_id",
    fresh: checked,
  },
  {
    call: "POST /builds/{build_id}/checks",
    path,
    answer: "check_run",
    foreign: "invalid_build_id",
    fresh: checked,
    refused: [refused(path, "build_not_found")],
  },
];
