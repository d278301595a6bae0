import { refused, type Row } from "./row.ts";

const manifest = "/appliances/{appliance}/software/manifest";
const file = "/appliances/{appliance}/image_files";

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
];
