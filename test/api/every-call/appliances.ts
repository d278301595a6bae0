import { createAppliance } from "../../support/factories.ts";
import { refused, type Row } from "./row.ts";
import type { Sample } from "./sample.ts";

const withAnother = async ({ tux, ids }: Sample): Promise<Sample> => ({
  tux,
  ids: { ...ids, appliance: await createAppliance(tux) },
});

export const appliances: readonly Row[] = [
  { call: "GET /appliances", path: "/appliances", answer: "appliances" },
  {
    call: "GET /overview",
    path: "/overview?search=k&page=1&per_page=2",
    answer: "overview",
    refused: [refused("/overview?page=0", "invalid_value"), refused("/overview?per_page=x", "invalid_value")],
  },
  {
    call: "POST /appliances",
    path: "/appliances?clone_from={appliance}&name=Copy&arch=x86_64",
    answer: "appliance",
    foreign: "invalid_appliance_id",
    refused: [
      refused("/appliances", "missing_parameter"),
      refused("/appliances?clone_from=", "missing_parameter"),
      refused("/appliances?clone_from=0", "invalid_appliance_id"),
      refused("/appliances?clone_from=999999999", "invalid_appliance_id"),
      refused("/appliances?clone_from=1&arch=vax", "invalid_value"),
      refused("/appliances?clone_from=1&name=a%0Ab", "invalid_value"),
    ],
  },
  {
    call: "GET /appliances/{appliance_id}",
    path: "/appliances/{appliance}",
    answer: "appliance",
    foreign: "invalid_appliance_id",
  },
  {
    call: "DELETE /appliances/{appliance_id}",
    path: "/appliances/{appliance}",
    answer: "success",
    foreign: "invalid_appliance_id",
    refused: [refused("/appliances/1", "access_denied", { status: 403 })],
    fresh: withAnother,
  },
  {
    call: "GET /appliances/{appliance_id}/status",
    path: "/appliances/{appliance}/status",
    answer: "status",
    foreign: "invalid_appliance_id",
  },
];
