/** The answers of the admin routes: the stand-in of admin.test.ts. */

const acceptance = {
  username: "rhea",
  baseSystem: "SLES11_SP1",
  textSha256: "ab".repeat(32),
  acceptedAt: "2026-11-20T10:00:00.000Z",
  current: true,
};

const token = {
  id: 7,
  name: "nightly",
  scope: "build",
  applianceId: 1004,
  createdAt: "2026-11-20T10:00:00.000Z",
  expiresAt: null,
  lastUsedAt: "2026-11-21T09:00:00.000Z",
};

const session = {
  id: 5,
  browser: "Firefox on Linux",
  network: "192.0.2.*",
  createdAt: "2026-11-20T10:00:00.000Z",
  lastUsedAt: "2026-11-21T09:00:00.000Z",
  expiresAt: "2026-11-28T09:00:00.000Z",
};

const entry = {
  id: 8,
  accountId: 3,
  username: "rhea",
  event: "token.created",
  actor: "key",
  detail: { token_id: 7, scope: "build" },
  address: null,
  at: "2026-11-20T10:00:00.000Z",
  count: 1,
};

const build = {
  id: 12,
  name: "Kiosk",
  version: "0.0.2",
  imageType: "oem",
  username: "rhea",
  status: "queued",
  createdAt: "2026-11-20T10:00:00.000Z",
  completedAt: null,
};

/** Other paths return the mode that the request sets. */
export const answers: Record<string, unknown> = {
  "/admin/health": { ok: true, version: "0.1.0", wasm: true, reasons: [] },
  "/admin/queue": { builds: [{ ...build, why: "Waiting: no builder" }] },
  "/admin/queue/running": { builds: [build] },
  "/admin/queue/failures": { builds: [{ ...build, completedAt: "2026-11-20T11:00:00.000Z", reason: "no systemctl" }] },
  "/admin/queue/failures/12/again": { id: 13, state: "queued" },
  "/admin/agreements": { agreements: [acceptance] },
  "/admin/accounts/rhea/tokens": { tokens: [token] },
  "/admin/audit?account=rhea&before=9": { entries: [entry] },
  "/admin/accounts/rhea/sessions": { sessions: [session] },
  "/admin/accounts/rhea/quota": { quotaGb: 50, hasOwnQuota: true },
  "/admin/accounts/rhea/password": { password: "battery staple" },
};
