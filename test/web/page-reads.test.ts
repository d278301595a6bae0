import { beforeEach, expect, it } from "vitest";
import { applianceOwner, type Owner } from "../support/appliance-owner.ts";
import { isD1, withFate } from "../support/storage-faults.ts";

// Calls of D1 are round trips, which take most of a page's time.

let firefox: Owner["firefox"];
let id: Owner["id"];
beforeEach(async () => void ({ firefox, id } = await applianceOwner()));

/** The number of D1 calls that a page needs when the state of the appliance is known. */
async function callsFor(path: string): Promise<number> {
  await (await firefox.get(path)).text();
  let calls = 0;
  await withFate(
    async (name, call) => {
      if (isD1(name)) calls += 1;
      return await call();
    },
    async () => {
      const answer = await firefox.get(path);
      await answer.text();
      expect(answer.status).toBe(200);
    },
  );
  return calls;
}

it.each([
  ["/", 3],
  ["/account", 2],
  ["/appliances/new", 3],
  ["/appliance/ID/configuration/general", 2],
  ["/appliance/ID/configuration/users", 3],
  ["/appliance/ID/files/new", 2],
  ["/appliance/ID/build", 4],
  ["/appliance/ID/share", 4],
])("%s needs at most %i calls of D1", async (path, most) => {
  expect(await callsFor(path.replace("ID", String(id)))).toBeLessThanOrEqual(most);
});
