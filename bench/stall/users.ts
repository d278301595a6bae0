import { restClient } from "../../test/acceptance/support/rest.ts";
import { cloneJeos } from "../place.ts";
import { authorizationOf, counted, type Scenario } from "./scenario.ts";

const people = 100;
const posts = 4;
/** The longest accepted password, because hashing takes longer for longer passwords. */
const password = (of: number): string => String(of).padEnd(128, "x");

/** Every password of an appliance is hashed when its build starts. */
export const users: Scenario = {
  name: "users",
  what: `${posts} builds of an appliance with ${people} users and long passwords`,
  prepare: async ({ account }) => {
    const client = restClient(account);
    const applianceId = await cloneJeos(client);
    await putUsers(account, applianceId);
    const url = `${account.url}/api/v2/user/running_builds?appliance_id=${applianceId}&image_type=oem&force=true`;
    const headers = { authorization: authorizationOf(account) };
    const start = async () => (await fetch(url, { method: "POST", headers })).status;
    return async () => counted(await Promise.all(Array.from({ length: posts }, start)));
  },
};

type Account = Parameters<typeof authorizationOf>[0];

async function putUsers(account: Account, applianceId: string): Promise<void> {
  const root = { uid: 0, name: "root", password: password(0), group: "root", shell: "/bin/bash", homedir: "/root" };
  const others = Array.from({ length: people - 1 }, (_, n) => ({
    uid: 2000 + n,
    name: `user${n}`,
    password: password(n + 1),
    group: "users",
    shell: "/bin/bash",
    homedir: `/home/user${n}`,
  }));
  const answer = await fetch(`${account.url}/api/v2/user/appliances/${applianceId}/configuration`, {
    method: "PUT",
    headers: { authorization: authorizationOf(account), "content-type": "application/json" },
    body: JSON.stringify({ configuration: { users: [root, ...others] } }),
  });
  if (!answer.ok) throw new Error(`the users were answered with ${answer.status} ${await answer.text()}`);
}
