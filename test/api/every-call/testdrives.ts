import { signedIn } from "../../support/client.ts";
import { bootableBuild } from "../../support/testdrives.ts";
import { agentClaims } from "./agent.ts";
import { refused, type Row } from "./row.ts";

export const testdrives: readonly Row[] = [
  { call: "GET /testdrives", path: "/testdrives", answer: "testdrives" },
  {
    call: "POST /testdrives",
    path: "/testdrives?build_id={bootable}",
    answer: "testdrive",
    foreign: "invalid_build_id",
    refused: [
      refused("/testdrives", "missing_parameter"),
      refused("/testdrives?build_id=x", "invalid_build_id"),
      refused("/testdrives?build_id=999999999", "invalid_build_id"),
      refused("/testdrives?build_id={bootable}&network=nat", "invalid_value"),
    ],
    // One account has few testdrive slots.
    fresh: async ({ ids }) => {
      const tux = await signedIn();
      return { tux, ids: { ...ids, bootable: (await bootableBuild(tux)).id } };
    },
    // The request waits for a builder agent.
    meanwhile: () => agentClaims(),
  },
  {
    call: "DELETE /testdrives/{testdrive_id}",
    path: "/testdrives/{testdrive}",
    answer: "success",
    foreign: "unknown_error",
  },
];
