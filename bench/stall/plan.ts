import { createHash } from "node:crypto";
import { restClient } from "../../test/acceptance/support/rest.ts";
import { cloneJeos } from "../place.ts";
import { authorizationOf, counted, type Scenario } from "./scenario.ts";

const files = 10_000;
const times = 5;

export const plan: Scenario = {
  name: "plan",
  what: `${times} plans of a definition with ${files.toLocaleString("en")} files`,
  prepare: async ({ account }) => {
    const id = await cloneJeos(restClient(account));
    const url = `${account.url}/api/v2/user/appliances/${id}/definition/plan`;
    const headers = { authorization: authorizationOf(account), "content-type": "application/json" };
    const body = JSON.stringify({ definition: { files: Array.from({ length: files }, (_, n) => file(n)) } });
    return async () => {
      const statuses: number[] = [];
      for (let n = 0; n < times; n++) statuses.push((await fetch(url, { method: "POST", headers, body })).status);
      return counted(statuses);
    };
  },
};

/** A file whose description is so short that all of them fit into one document of 1 MiB. */
const file = (n: number) => ({
  path: `/d/${n}`,
  size: n % 10,
  sha256: createHash("sha256").update(String(n)).digest("hex"),
});
