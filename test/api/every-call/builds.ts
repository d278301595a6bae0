import { signedIn } from "../../support/client.ts";
import { createAppliance, createBuild, startBuild } from "../../support/factories.ts";
import { refused, type Row } from "./row.ts";

const start = "/running_builds?appliance_id={appliance}";

export const builds: readonly Row[] = [
  {
    call: "GET /running_builds",
    path: start,
    answer: "running_builds",
    foreign: "invalid_appliance_id",
    refused: [
      refused("/running_builds", "missing_appliance_id"),
      refused("/running_builds?appliance_id=0", "invalid_appliance_id"),
      refused("/running_builds?appliance_id=999999999", "invalid_appliance_id"),
    ],
  },
  { call: "GET /account/running_builds", path: "/account/running_builds", answer: "running_builds" },
  {
    call: "POST /running_builds",
    path: `${start}&image_type=iso&force=1`,
    answer: "build",
    foreign: "invalid_appliance_id",
    refused: [
      refused("/running_builds", "missing_appliance_id"),
      refused("/running_builds?appliance_id=x", "invalid_appliance_id"),
      refused("/running_builds?appliance_id=1", "access_denied", { status: 403 }),
      refused(`${start}&image_type=floppy`, "invalid_image_type"),
      refused(`${start}&version=9.9.9`, "invalid_version"),
      refused(`${start}&force=perhaps`, "invalid_value"),
      refused(`${start}&multi=perhaps`, "invalid_value"),
    ],
    // One account has few build slots.
    fresh: async ({ ids }) => {
      const tux = await signedIn();
      return { tux, ids: { ...ids, appliance: await createAppliance(tux) } };
    },
  },
  {
    call: "GET /running_builds/{build_id}",
    path: "/running_builds/{running}",
    answer: "running_build",
    foreign: "invalid_running_build_id",
  },
  {
    call: "DELETE /running_builds/{build_id}",
    path: "/running_builds/{running}",
    answer: "success",
    foreign: "invalid_running_build_id",
    fresh: async ({ tux, ids }) => ({
      tux,
      ids: { ...ids, running: await startBuild(tux, await createAppliance(tux)) },
    }),
  },
  {
    call: "GET /running_builds/{build_id}/log",
    path: "/running_builds/{running}/log",
    answer: "text/plain; charset=utf-8",
    foreign: "invalid_running_build_id",
  },
  {
    call: "GET /builds",
    path: "/builds?appliance_id={appliance}",
    answer: "builds",
    foreign: "invalid_appliance_id",
    refused: [
      refused("/builds?appliance_id=", "missing_appliance_id"),
      refused("/builds?appliance_id=0", "invalid_appliance_id"),
      refused("/builds?appliance_id=999999999", "invalid_appliance_id"),
    ],
  },
  {
    call: "GET /builds/{build_id}",
    path: "/builds/{build}",
    answer: "build",
    foreign: "invalid_build_id",
    refused: [refused("/builds/{running}", "invalid_build_id", { status: "unknown" })],
  },
  {
    call: "GET /builds/{build_id}/attestations",
    path: "/builds/{build}/attestations",
    answer: "attestations",
    foreign: "invalid_build_id",
    refused: [refused("/builds/{running}/attestations", "invalid_build_id", { status: "unknown" })],
  },
  {
    call: "GET /builds/{build_id}/attestations/{format}",
    path: "/builds/{build}/attestations/spdx",
    answer: "application/spdx+json",
    foreign: "invalid_build_id",
    refused: [
      refused("/builds/{running}/attestations/spdx", "invalid_build_id", { status: "unknown" }),
      refused("/builds/{build}/attestations/spdx3", "invalid_value"),
    ],
  },
  {
    call: "GET /builds/{build_id}/difference",
    path: "/builds/{build}/difference?to={otherBuild}&limit=2",
    answer: "difference",
    foreign: "invalid_build_id",
    refused: [
      refused("/builds/{build}/difference", "missing_parameter"),
      refused("/builds/{build}/difference?to=0", "invalid_build_id"),
      refused("/builds/{build}/difference?to=999999999", "invalid_build_id"),
      refused("/builds/{build}/difference?to={running}", "build_not_found"),
      refused("/builds/{running}/difference?to={build}", "build_not_found"),
      refused("/builds/{build}/difference?to={build}&path=etc", "invalid_value"),
      refused("/builds/{build}/difference?to={build}&after=etc", "invalid_value"),
      refused("/builds/{build}/difference?to={build}&limit=0", "invalid_value"),
    ],
  },
  {
    call: "GET /builds/{build_id}/updates",
    path: "/builds/{build}/updates",
    answer: "updates",
    foreign: "invalid_build_id",
    refused: [refused("/builds/{running}/updates", "invalid_build_id", { status: "unknown" })],
  },
  {
    call: "GET /builds/{build_id}/advisories",
    path: "/builds/{build}/advisories",
    answer: "build_advisories",
    foreign: "invalid_build_id",
    refused: [refused("/builds/{running}/advisories", "invalid_build_id", { status: "unknown" })],
  },
  {
    call: "DELETE /builds/{build_id}",
    path: "/builds/{build}",
    answer: "success",
    foreign: "invalid_build_id",
    refused: [refused("/builds/{running}", "invalid_build_id", { status: "unknown" })],
    fresh: async ({ tux, ids }) => ({ tux, ids: { ...ids, build: (await createBuild(tux)).buildId } }),
  },
];
