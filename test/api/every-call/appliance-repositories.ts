import { refused, type Row } from "./row.ts";

const ofAppliance = { answer: "repositories", foreign: "invalid_appliance_id" } as const;
const path = "/appliances/{appliance}/repositories";
const list = (...ids: (string | number)[]) => ({
  xml: `<repositories>${ids.map((id) => `<repository><id>${id}</id></repository>`).join("")}</repositories>`,
});

const one = (verb: "add" | "remove") => {
  const path = `/appliances/{appliance}/cmd/${verb}_repository`;
  return {
    ...ofAppliance,
    path: `${path}?repo_id={repository}`,
    refused: [
      refused(path, "missing_parameter"),
      refused(`${path}?repo_id=`, "missing_parameter"),
      refused(`${path}?repo_id=x`, "invalid_repository_id"),
      refused(`/appliances/1/cmd/${verb}_repository?repo_id={repository}`, "access_denied", { status: 403 }),
      // Removing a missing repository changes nothing; adding an unknown one is an error.
      ...(verb === "add" ? [refused(`${path}?repo_id=999999999`, "invalid_repository_id")] : []),
    ],
  };
};

export const applianceRepositories: readonly Row[] = [
  { call: "GET /appliances/{appliance_id}/repositories", path, ...ofAppliance },
  {
    call: "PUT /appliances/{appliance_id}/repositories",
    path,
    ...ofAppliance,
    sent: list("{tinyMain}", "{repository}"),
    refused: [
      refused(path, "invalid_xml", { sent: { xml: "" } }),
      refused(path, "invalid_xml", { sent: { xml: "<repositories>" } }),
      refused(path, "invalid_node", { sent: { xml: "<software/>" } }),
      refused(path, "invalid_repository_id", { sent: list("x") }),
      refused(path, "invalid_repository_id", { sent: list(999_999_999) }),
      refused("/appliances/1/repositories", "access_denied", { status: 403 }),
    ],
  },
  { call: "POST /appliances/{appliance_id}/cmd/add_repository", ...one("add") },
  { call: "POST /appliances/{appliance_id}/cmd/remove_repository", ...one("remove") },
  { call: "DELETE /appliances/{appliance_id}/cmd/remove_repository", ...one("remove") },
  {
    call: "POST /appliances/{appliance_id}/cmd/add_user_repository",
    path: "/appliances/{appliance}/cmd/add_user_repository",
    ...ofAppliance,
    refused: [refused("/appliances/1/cmd/add_user_repository", "access_denied", { status: 403 })],
  },
];
