import { refused, type Row } from "./row.ts";
import type { Sample } from "./sample.ts";

const path = "/appliances/{appliance}/vex";
const readOnly = (rest = "") => refused(`/appliances/1/vex${rest}`, "access_denied", { status: 403 });
const foreign = "invalid_appliance_id";
const examined = "status=under_investigation&text=Soon";

const withStatement = async ({ tux, ids }: Sample): Promise<Sample> => {
  await tux.put(`/appliances/${ids["appliance"]}/vex/CVE-2026-1?${examined}`, "");
  return { tux, ids };
};

export const vex: readonly Row[] = [
  {
    call: "GET /appliances/{appliance_id}/vex",
    path,
    answer: "vex_statements",
    foreign,
    refused: [readOnly()],
  },
  {
    call: "PUT /appliances/{appliance_id}/vex/{advisory}",
    path: `${path}/CVE-2026-2?status=not_affected&justification=component_not_present&text=Absent&build_id={build}`,
    answer: "vex_statements",
    foreign,
    refused: [
      readOnly(`/CVE-2026-1?${examined}`),
      refused(`${path}/CVE-2026-1?status=fixed&text=No`, "invalid_value"),
      refused(`${path}/CVE-2026-1?status=not_affected&text=No`, "invalid_value"),
      refused(`${path}/CVE-2026-1?${examined}&justification=component_not_present`, "invalid_value"),
      refused(`${path}/CVE-2026-1?status=under_investigation`, "invalid_value"),
      refused(`${path}/CVE%202026?${examined}`, "invalid_value"),
      refused(`${path}/CVE-2026-1?${examined}&build_id=999999999`, "invalid_build_id", { status: "unknown" }),
    ],
  },
  {
    call: "DELETE /appliances/{appliance_id}/vex/{advisory}",
    path: `${path}/CVE-2026-1`,
    answer: "success",
    foreign,
    unknownId: "invalid_appliance_id",
    refused: [readOnly("/CVE-2026-1"), refused(`${path}/CVE-2026-9`, "unknown_error", { status: "unknown" })],
    fresh: withStatement,
  },
];
