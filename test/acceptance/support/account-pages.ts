/** The pages that anyone can see. */
export const openPages = ["/", "/gallery?search=radio", "/api/docs", "/api/docs/appliances", "/help"];

/** The pages that a signed-in operator can see. */
export const accountPages = [
  "/appliances",
  "/appliances/new",
  "/appliances/images?with=busybox",
  "/account",
  "/account/sessions",
  "/account/webhooks",
  "/account/storage",
  "/account/audit_log",
  "/service",
  "/service/accounts",
];

/** The pages of an appliance, below its address. */
export const appliancePages = [
  "",
  "/software?q=he",
  "/configuration/general",
  "/configuration/pictures",
  "/configuration/users",
  "/configuration/startup",
  "/configuration/keys",
  "/files",
  "/files/new",
  "/build",
  "/share",
];
