import { signedIn } from "../../support/client.ts";
import { putConfiguration } from "../../support/configurations.ts";
import { createBuild } from "../../support/factories.ts";
import { refused, type Row } from "./row.ts";
import type { Sample } from "./sample.ts";

const manifest = "/appliances/{appliance}/software/manifest";
const file = "/appliances/{appliance}/image_files";
const rebuilds = "/builds/{build}/rebuilds";
const checkRuns = "/builds/{build}/checks";

/** An image with a waiting rebuild. */
const withRebuild = async ({ ids }: Sample): Promise<Sample> => {
  const tux = await signedIn();
  const { buildId } = await createBuild(tux);
  await tux.post(`/builds/${buildId}/rebuilds`);
  return { tux, ids: { ...ids, build: buildId } };
};

/** A build whose appliance has a check. */
const withChecks = async ({ ids }: Sample): Promise<Sample> => {
  const tux = await signedIn();
  const { applianceId, buildId } = await createBuild(tux);
  await putConfiguration(tux, applianceId, { checks: [{ kind: "login" }] });
  await tux.post(`/builds/${buildId}/checks`);
  return { tux, ids: { ...ids, build: buildId } };
};

export const images: readonly Row[] = [
  {
    call: "GET /account/images",
    path: "/account/images?package=busybox&before=999999",
    answer: "images",
    refused: [
      refused("/account/images", "missing_parameter"),
      refused(`/account/images?package=${"a".repeat(201)}`, "invalid_value"),
      refused(`/account/images?package=a&version=${"1".repeat(201)}`, "invalid_value"),
      refused("/account/images?package=a&before=x", "invalid_value"),
      refused("/account/images?cve=CVE-1999-1", "invalid_value"),
    ],
  },
  {
    call: "GET /appliances/{appliance_id}/software/manifest/{image_type}",
    path: `${manifest}/oem?version=0.0.1`,
    answer: "manifest",
    foreign: "invalid_appliance_id",
    refused: [
      refused(`${manifest}/floppy`, "invalid_image_type"),
      refused(`${manifest}/iso`, "invalid_image_type"),
      refused(`${manifest}/oem?version=9.9.9`, "invalid_version"),
    ],
  },
  {
    call: "GET /appliances/{appliance_id}/image_files",
    path: `${file}?build_id={build}&path=/etc/hostname`,
    answer: "application/octet-stream",
    foreign: "invalid_appliance_id",
    refused: [
      refused(`${file}?path=/etc/hostname`, "missing_parameter"),
      refused(`${file}?build_id={build}`, "missing_parameter"),
      refused(`${file}?build_id=x&path=/etc/hostname`, "invalid_build_id"),
      refused(`${file}?build_id={bootable}&path=/etc/hostname`, "invalid_build_id"),
      refused(`${file}?build_id={build}&path=/no/such/file`, "invalid_path"),
    ],
  },
  {
    call: "GET /builds/{build_id}/rebuilds",
    path: rebuilds,
    answer: "rebuilds",
    foreign: "invalid_build_id",
  },
  {
    call: "POST /builds/{build_id}/rebuilds",
    path: rebuilds,
    answer: "rebuild",
    foreign: "invalid_build_id",
    fresh: withRebuild,
  },
  {
    call: "DELETE /builds/{build_id}/rebuilds",
    path: rebuilds,
    answer: "success",
    foreign: "invalid_build_id",
    fresh: withRebuild,
  },
  {
    call: "GET /builds/{build_id}/checks",
    path: checkRuns,
    answer: "check_runs",
    foreign: "invalid_build_id",
    fresh: withChecks,
  },
  {
    call: "POST /builds/{build_id}/checks",
    path: checkRuns,
    answer: "check_run",
    foreign: "invalid_build_id",
    fresh: withChecks,
    refused: [refused(checkRuns, "build_not_found")],
  },
];
