import type * as accountRates from "#storage/account-rates";
import type * as accountRemoval from "#storage/account-removal";
import type * as accountSshKeys from "#storage/account-ssh-keys";
import type * as accounts from "#storage/accounts";
import type * as agents from "#storage/agents";
import type * as agreements from "#storage/agreements";
import type * as auditLog from "#storage/audit-log";
import type * as encrypted from "#storage/encrypted";
import type * as events from "#storage/events";
import type * as idempotentAnswers from "#storage/idempotent-answers";
import type * as limits from "#storage/limits";
import type * as reservations from "#storage/reservations";
import type * as resumableUploads from "#storage/resumable-uploads";
import type * as schemaVersion from "#storage/schema-version";
import type * as serviceSettings from "#storage/service-settings";
import type * as sessions from "#storage/sessions";
import type * as tokens from "#storage/tokens";
import type * as webhooks from "#storage/webhooks";
import { encryptedColumns } from "#storage/encrypted";
import type { Calls } from "./calls.ts";
import { account, at, ids } from "./rows.ts";

const own = ids.account;
const entry = { event: "key.renewed" as const, actor: "key", detail: {}, address: null, at, minute: 1 };
const acceptance = { accountId: own, baseSystem: "tiny-1.0", textSha256: "sha256", acceptedAt: at };
const holder = { accountId: own, key: "key", createdAt: at, requestId: "request" };
const token = {
  uid: "token",
  accountId: own,
  name: "ci",
  scope: "read" as const,
  applianceId: null,
  tokenHmac: "hmac",
  createdAt: at,
  expiresAt: null,
};
const session = {
  secretHmac: "hmac",
  createdAt: at,
  lastUsedAt: at,
  expiresAt: at,
  browser: "Firefox on Linux",
  network: null,
};
const newUpload = {
  accountId: own,
  applianceId: ids.appliance,
  baseSystem: null,
  metadata: null,
  sentName: null,
  length: 10,
  offset: 0,
  blobId: "blob",
  multipartId: "multipart",
  leaseId: "lease",
  leaseEndsAt: at,
  createdAt: at,
  expiresAt: at,
  finishedAt: null,
  madeId: null,
  requestId: "request",
};
const upload = { ...newUpload, id: 1 };
const webhook = { uid: "webhook", accountId: own, url: "", events: [], secretCipher: "cipher", createdAt: at };

export const ofAccounts = {
  "account-rates": {
    countUse: [[{ accountId: own, what: "builds", window: 1, most: 1 }]],
  } satisfies Calls<typeof accountRates>,
  "account-ssh-keys": {
    listSshKeys: [[own]],
    readKeys: [[own, 200]],
    saveSshKeys: [[own, ["ssh-ed25519 key"]]],
  } satisfies Calls<typeof accountSshKeys>,
  "account-removal": {
    markRemoved: [[2, at]],
    takeRemoved: [[10, at]],
    pageOfPublications: [[own, 10]],
    pageOfAppliances: [[own, 10]],
    pageOfRpms: [[own, 10]],
    pageOfRepositories: [[own, 10]],
    deleteComments: [[own, 10]],
    deleteOpinions: [[own, 10]],
    deleteSmallRows: [[own, 10]],
    deleteAccountRows: [[2]],
  } satisfies Calls<typeof accountRemoval>,
  accounts: {
    addAccount: [[{ ...account, id: undefined, uid: "another", username: "another", apiKeyHmac: "another" }]],
    findAccount: [["tux"]],
    findOwner: [[ids.appliance]],
    listAccounts: [[]],
    savePasswordHash: [[own, "hash"]],
    saveLock: [[own, null]],
    saveOperator: [[own, false]],
    saveMailsAdvisories: [[own, true]],
    findMailedAccount: [["tux"]],
    pageOfAccounts: [[{ after: 0, limit: 10 }]],
    saveQuotaGb: [[own, 50]],
    findQuotaGb: [[own]],
    saveApiKey: [[own, { hmac: "hmac", cipher: "cipher" }]],
    usedBytes: [[own]],
    usedBytesByKind: [[own]],
  } satisfies Calls<typeof accounts>,
  agents: {
    addAgent: [[{ name: "agent", tokenHmac: "hmac" }]],
    findAgentByToken: [["hmac"]],
    findAgentByName: [["name"]],
    findAgentById: [[1]],
    listAgents: [[]],
    listAgentsSeen: [[{ since: at, ids: [1, 2] }]],
    listAbilities: [[]],
    countBuilders: [[at, 2]],
    saveDrained: [["agent", null]],
    removeAgent: [["agent"]],
    saveCapabilities: [
      [1, { arches: ["x86_64"], imageTypes: ["oem"], isolation: "vm", testdrives: true, builder: "9.24.56" }],
    ],
    noteSeen: [[1, at]],
  } satisfies Calls<typeof agents>,
  agreements: {
    findAcceptance: [[acceptance]],
    addAcceptance: [[acceptance]],
    listAllAcceptances: [[]],
  } satisfies Calls<typeof agreements>,
  "audit-log": {
    addAuditEntry: [[{ ...entry, accountId: own }]],
    addAuditEntryOf: [["tux", entry]],
    listAuditLog: [
      [{ limit: 10 }],
      [{ before: 10, limit: 10 }],
      [{ accountId: own, limit: 10 }],
      [{ accountId: own, before: 10, limit: 10 }],
    ],
    deleteAuditBefore: [[at, 10]],
  } satisfies Calls<typeof auditLog>,
  encrypted: {
    pageOfEncrypted: [
      [{ column: "API keys", after: 0 }, 10],
      [{ column: "stored answers", after: 0 }, 10],
      [{ column: "configurations", after: 0 }, 10],
    ],
    countEncrypted: [[encryptedColumns.map((column) => ({ column, after: 0 }))]],
    saveEncrypted: [["web servers of testdrives", [{ row: 1, stored: "", again: "" }]]],
    saveApiKeyHmacs: [[[{ row: own, stored: "", hmac: "" }]]],
  } satisfies Calls<typeof encrypted>,
  events: {
    findBuildOfEvent: [["build"]],
    findTestdriveOfEvent: [["testdrive"]],
    listOutbox: [[10]],
    forgetOutboxEvent: [[1]],
    noteOutboxTry: [[1, at]],
  } satisfies Calls<typeof events>,
  "idempotent-answers": {
    takeKey: [
      [
        { ...holder, requestSha256: "sha256", leaseEndsAt: at },
        { storedSince: at, limits: { keys: 1, answerBytes: 1 } },
      ],
    ],
    hasKeys: [[own, 1]],
    findKeyHolder: [[own, "key"]],
    renewKey: [[holder, at]],
    storeAnswer: [[holder, { status: 200, contentType: "text/plain", body: "" }, { answerBytes: 1 }]],
    endLease: [[holder]],
    freeKey: [[holder]],
    deleteAnswersBefore: [[at]],
  } satisfies Calls<typeof idempotentAnswers>,
  limits: {
    countAll: [[own]],
  } satisfies Calls<typeof limits>,
  reservations: {
    reserve: [
      [
        { blobId: "blob", accountId: own, bytes: 1, expiresAt: at },
        { leastBytes: 1, quotaBytes: 100 },
      ],
    ],
    unreserved: [[["blob"]]],
    endReservation: [["blob"]],
    deleteExpiredReservations: [[at, 10]],
  } satisfies Calls<typeof reservations>,
  "resumable-uploads": {
    addResumableUpload: [[newUpload, { most: 10, quotaBytes: 100 }]],
    findResumableUpload: [[own, 1]],
    findResumableUploadOfRequest: [["request"]],
    listUnfinishedUploads: [[own]],
    pageOfResumableUploads: [[own, 10]],
    listExpiredUploads: [[at, 10]],
    takeLease: [[upload, { leaseId: "lease", leaseEndsAt: at }, at]],
    renewLease: [[upload, at]],
    endLease: [[upload]],
    recordProgress: [
      [upload, { offset: 1, expiresAt: at }],
      [upload, { offset: 1, expiresAt: at }, { number: 1, etag: "etag" }],
    ],
    listParts: [[1]],
    finishUpload: [[upload, { madeId: 1, finishedAt: at, expiresAt: at }]],
    deleteResumableUpload: [[1]],
    listBlobsOfUploads: [[["blob"]]],
  } satisfies Calls<typeof resumableUploads>,
  "schema-version": {
    missingMigration: [[]],
  } satisfies Calls<typeof schemaVersion>,
  "service-settings": {
    getSettings: [[["read_only", "read_only_message"]]],
    addSetting: [["read_only", "on"]],
    saveSetting: [["read_only_message", "Until noon."]],
    deleteSettings: [[["read_only", "read_only_message"]]],
  } satisfies Calls<typeof serviceSettings>,
  sessions: {
    addSession: [
      [
        {
          ...account,
          lockedAt: null,
          isOperator: false,
          mailsAdvisories: false,
          quotaGb: null,
          removedAt: null,
          removalTriedAt: null,
        },
        session,
        10,
      ],
    ],
    findSessionByHmac: [["hmac", ids.appliance]],
    listSessions: [[own, at]],
    noteSessionUse: [[1, { at, expiresAt: at, unlessSince: at }]],
    deleteSessionByHmac: [["hmac"]],
    deleteSession: [[own, 1]],
    deleteSessions: [[own]],
    sessionsOf: [[own]],
    deleteExpiredSessions: [[at, 10]],
  } satisfies Calls<typeof sessions>,
  tokens: {
    addToken: [[token, 10]],
    findTokenByHmac: [["hmac"]],
    listTokens: [[own]],
    listReachable: [[own, 200]],
    saveTokenHmac: [["token", "hmac"]],
    noteTokenUse: [[1, { at, unlessSince: at }]],
    findTokenOwner: [[1]],
    hasToken: [[1]],
    deleteToken: [[own, 1]],
  } satisfies Calls<typeof tokens>,
  webhooks: {
    addWebhook: [[webhook, 10]],
    listWebhooks: [[own]],
    findWebhookByUid: [["webhook"]],
    listWebhooksOf: [["account"]],
    findWebhook: [[own, 1]],
    saveWebhookHealth: [[1, { failingSince: null, disabledReason: null }]],
    deleteWebhook: [[own, 1]],
  } satisfies Calls<typeof webhooks>,
};
