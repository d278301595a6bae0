import { listByApiKey } from "#domain/accounts/account";
import { arrayOf } from "#wire/xml";
import { challenge, givenCredentials } from "#api/authenticate";
import { factory } from "#api/factory";
import { xml } from "#api/respond";
import { applianceFields } from "#api/views/appliance";

/** The list of an account's appliances, asked for by name and key at once: mounted before `authenticate`, it challenges as that does. */
export const applianceList = factory.createApp().get("/appliances", async (c) => {
  const given = givenCredentials(c.req.raw, c.env);
  const all = given && (await listByApiKey(c.var.db, c.env, given));
  if (!all) return challenge(c);
  return xml(
    c,
    "appliances",
    arrayOf(
      "appliance",
      all.map((one) => applianceFields(one, c.var)),
    ),
  );
});
