import { refused, type Row } from "./row.ts";

const path = "/appliances/{appliance}/software";
const command = (verb: string, name: string) => ({
  path: `/appliances/{appliance}/cmd/${verb}?name=${name}`,
  answer: "success",
  foreign: "invalid_appliance_id" as const,
  refused: [
    refused(`/appliances/{appliance}/cmd/${verb}`, "missing_parameter"),
    refused(`/appliances/{appliance}/cmd/${verb}?name=`, "missing_parameter"),
    refused(`/appliances/{appliance}/cmd/${verb}?name=a%00b`, "invalid_value"),
    refused(`/appliances/1/cmd/${verb}?name=${name}`, "access_denied", { status: 403 }),
  ],
});
const pinnable = (verb: string, name: string) => {
  const { path, refused: others, ...row } = command(verb, name);
  const pins = [
    refused(`${path}&version=1%200`, "invalid_version"),
    refused(`${path}&repository_id=x`, "invalid_repository_id"),
    refused(`${path}&repository_id=999999999`, "invalid_repository_id"),
  ];
  return { ...row, path: `${path}&version=1.0-1&repository_id={tinyMain}`, refused: [...others, ...pins] };
};

export const software: readonly Row[] = [
  {
    call: "GET /appliances/{appliance_id}/software",
    path,
    answer: "software",
    foreign: "invalid_appliance_id",
  },
  {
    call: "PUT /appliances/{appliance_id}/software",
    path,
    sent: { xml: "<software><package>hello</package><pattern>base</pattern></software>" },
    answer: "software",
    foreign: "invalid_appliance_id",
    refused: [
      refused(path, "invalid_xml", { sent: { xml: "" } }),
      refused(path, "invalid_node", { sent: { xml: "<software><rpm>hello</rpm></software>" } }),
      refused(path, "invalid_value", { sent: { xml: "<software><package/></software>" } }),
      refused("/appliances/1/software", "access_denied", { status: 403 }),
    ],
  },
  {
    call: "GET /appliances/{appliance_id}/software/installed",
    path: `${path}/installed?build_id={build}`,
    answer: "software_map",
    foreign: "invalid_appliance_id",
    refused: [
      refused(`${path}/installed?build_id=x`, "invalid_build_id"),
      refused(`${path}/installed?build_id={bootable}`, "invalid_build_id"),
    ],
  },
  {
    call: "GET /appliances/{appliance_id}/software/search",
    path: `${path}/search?q=hello&all_fields=true&all_repos=1`,
    answer: "software_map",
    foreign: "invalid_appliance_id",
    refused: [
      refused(`${path}/search`, "missing_parameter"),
      refused(`${path}/search?q=a&all_fields=perhaps`, "invalid_value"),
    ],
  },
  {
    call: "GET /appliances/{appliance_id}/software/effect",
    path: `${path}/effect?add_package=hello=1.0-1&add_package=bash&ban_package=webdemo-pro&add_repository={tinyMain}`,
    answer: "software_effect",
    foreign: "invalid_appliance_id",
    refused: [
      refused(`${path}/effect?add_package=a%20b`, "invalid_value"),
      refused(`${path}/effect?add_package=a=1%200`, "invalid_version"),
      refused(`${path}/effect?add_repository=x`, "invalid_repository_id"),
      refused(`${path}/effect?add_repository=999999999`, "invalid_repository_id"),
    ],
  },
  { call: "POST /appliances/{appliance_id}/cmd/add_package", ...pinnable("add_package", "hello") },
  { call: "POST /appliances/{appliance_id}/cmd/add_pattern", ...pinnable("add_pattern", "base") },
  { call: "POST /appliances/{appliance_id}/cmd/ban_package", ...command("ban_package", "webdemo-pro") },
  { call: "POST /appliances/{appliance_id}/cmd/remove_package", ...command("remove_package", "hello") },
  { call: "DELETE /appliances/{appliance_id}/cmd/remove_package", ...command("remove_package", "hello") },
  { call: "POST /appliances/{appliance_id}/cmd/remove_pattern", ...command("remove_pattern", "web") },
  { call: "DELETE /appliances/{appliance_id}/cmd/remove_pattern", ...command("remove_pattern", "web") },
  { call: "POST /appliances/{appliance_id}/cmd/unban_package", ...command("unban_package", "webdemo-pro") },
  { call: "DELETE /appliances/{appliance_id}/cmd/unban_package", ...command("unban_package", "webdemo-pro") },
];
