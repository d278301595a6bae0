import { sessionOf } from "../../support/browser.ts";
import { signedIn } from "../../support/client.ts";
import type { Row } from "./row.ts";
import type { Sample } from "./sample.ts";

const fresh = async ({ ids }: Sample): Promise<Sample> => {
  const tux = await signedIn();
  return { tux, ids: { ...ids, session: String((await sessionOf(tux)).id) } };
};

export const sessions: readonly Row[] = [
  { call: "GET /account/sessions", path: "/account/sessions", answer: "sessions" },
  {
    call: "DELETE /account/sessions/{session_id}",
    path: "/account/sessions/{session}",
    answer: "success",
    foreign: "unknown_error",
    fresh,
  },
];
