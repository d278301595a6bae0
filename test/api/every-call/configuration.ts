import { pngOf } from "../../picture/png-maker.ts";
import { refused, type Row } from "./row.ts";

const path = "/appliances/{appliance}/configuration";

function picture(kind: "logo" | "background"): Row[] {
  const call = `/appliances/{appliance_id}/configuration/${kind}`;
  const change = {
    path: `${path}/${kind}`,
    sent: { file: Uint8Array.from(pngOf(16, 16)), name: "x.png" },
    answer: "success",
    foreign: "invalid_appliance_id",
    refused: [
      refused(`${path}/${kind}`, "missing_parameter", { sent: { text: "" } }),
      refused(`${path}/${kind}`, "invalid_value", { sent: { file: "no picture" } }),
      refused(`/appliances/1/configuration/${kind}`, "access_denied", { status: 403 }),
    ],
  } as const;
  return [
    { call: `GET ${call}`, path: `${path}/${kind}`, answer: "image/png", foreign: "invalid_appliance_id" },
    { call: `PUT ${call}`, ...change },
    { call: `POST ${call}`, ...change },
    {
      call: `DELETE ${call}`,
      path: `${path}/${kind}`,
      answer: "success",
      foreign: "invalid_appliance_id",
      refused: [refused(`/appliances/1/configuration/${kind}`, "access_denied", { status: 403 })],
    },
  ];
}

export const configuration: readonly Row[] = [
  {
    call: "GET /appliances/{appliance_id}/configuration",
    path,
    answer: "configuration",
    foreign: "invalid_appliance_id",
  },
  {
    call: "PUT /appliances/{appliance_id}/configuration",
    path,
    sent: { xml: "<configuration><network><type>dhcp</type></network></configuration>" },
    answer: "configuration",
    foreign: "invalid_appliance_id",
    refused: [
      refused(path, "invalid_xml", { sent: { xml: "" } }),
      refused(path, "invalid_node", { sent: { xml: "<configuration><colour/></configuration>" } }),
      refused(path, "invalid_value", {
        sent: { xml: "<configuration><settings><memory_size>much</memory_size></settings></configuration>" },
      }),
      refused("/appliances/1/configuration", "access_denied", { status: 403 }),
    ],
  },
  ...picture("logo"),
  ...picture("background"),
];
