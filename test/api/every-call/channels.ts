import { refused, type Row } from "./row.ts";
import type { Sample } from "./sample.ts";

const path = "/appliances/{published}/channels";
const readOnly = (rest = "") => refused(`/appliances/1/channels${rest}`, "access_denied", { status: 403 });
const foreign = "invalid_appliance_id";

const withChannel = async ({ tux, ids }: Sample): Promise<Sample> => {
  await tux.put(`/appliances/${ids["published"]}/channels/testing`, "");
  return { tux, ids };
};

export const channels: readonly Row[] = [
  {
    call: "GET /appliances/{appliance_id}/channels",
    path,
    answer: "channels",
    foreign,
    refused: [readOnly()],
  },
  {
    call: "PUT /appliances/{appliance_id}/channels/{channel}",
    path: `${path}/stable?version=0.0.1&automatic=true`,
    answer: "channels",
    foreign,
    refused: [
      readOnly("/stable"),
      refused(`${path}/Stable`, "invalid_value"),
      refused(`${path}/stable?automatic=perhaps`, "invalid_value"),
      refused(`${path}/stable?version=9.9.9`, "version_not_published"),
    ],
  },
  {
    call: "DELETE /appliances/{appliance_id}/channels/{channel}",
    path: `${path}/testing`,
    answer: "success",
    foreign,
    unknownId: "invalid_appliance_id",
    refused: [readOnly("/stable"), refused(`${path}/none`, "unknown_error", { status: "unknown" })],
    fresh: withChannel,
  },
  {
    call: "GET /gallery/appliances/{appliance_id}/channels",
    path: "/gallery/appliances/{published}/channels",
    answer: "channels",
    unknownId: "invalid_appliance_id",
    refused: [
      refused("/gallery/appliances/{stranger}/channels", "access_denied", { status: 403 }),
      refused("/gallery/appliances/{appliance}/channels", "version_not_published", { status: "unknown" }),
    ],
  },
];
