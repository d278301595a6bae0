import { diskQuota } from "#domain/accounts/quota";
import { factory } from "#api/factory";
import { xml } from "#api/respond";
import { plainListOf } from "#wire/xml";

export const account = factory
  .createApp()
  .get("/account", async (c) => {
    const { account } = c.var;
    return xml(c, "account", {
      username: account.username,
      displayname: account.displayName,
      email: account.email,
      created_at: account.createdAt,
      openid_urls: plainListOf("openid_url", []),
      disk_quota: await diskQuota(c.var.db, Number(c.env.ACCOUNT_QUOTA_GB), account.id),
    });
  })
  .get("/api_version", (c) => xml(c, "version", c.var.version.number));
