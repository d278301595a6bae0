import { sql } from "drizzle-orm";
import type * as importTurns from "#storage/import-turns";
import type * as importStates from "#storage/import-states";
import type * as imports from "#storage/imports";
import type * as namePages from "#storage/name-pages";
import type * as packageTexts from "#storage/package-texts";
import type * as packages from "#storage/packages";
import type * as repositories from "#storage/repositories";
import type * as repositoryStates from "#storage/repository-states";
import type * as rpms from "#storage/rpms";
import type * as userRepositories from "#storage/user-repositories";
import type { Calls } from "./calls.ts";
import { at, ids, packageRow, repository, rpm } from "./rows.ts";

const [own, it] = [ids.account, ids.repository];
const lease = { repositoryId: it, ends: [at] };
const contents = { url: repository.url, revision: "revision" };
const facts = { parts: [], packageCount: 1, bytes: 1, arches: ["x86_64" as const], baseSystem: null, workMs: 1 };
const line = { accountId: own, patience: "quick" as const };
const found = { indexTag: null, signer: null, signingKeys: null };
const { accountId: _, ...findings } = { ...repository, ...found, revision: "revision", parts: [], packageCount: 1 };
const shown = { id: it, importId: "import" };
const search = { repositories: [shown], arches: ["noarch"], limit: 10 };
const uploads = {
  accountId: own,
  baseSystem: "tiny-1.0",
  name: "Uploads",
  arches: ["x86_64" as const],
  type: "deb" as const,
};

export const ofRepositories = {
  "import-turns": {
    queueImports: [[[it], at]],
    acquireSlot: [[line, at]],
    beginTry: [[it, { now: at, leaseEndsAt: at }]],
    renewTry: [[lease, at]],
    endTry: [[lease]],
    endTurn: [[lease, at]],
    endLostTurn: [[it, at]],
    moveToPatient: [[lease]],
    releaseSlot: [[it]],
    releaseLostSlots: [[{ now: at, sentBefore: at }]],
    giveAllTurnsBack: [[]],
    listQueues: [[10]],
  } satisfies Calls<typeof importTurns>,
  "import-states": {
    beginImport: [[it, { checkId: "check", startedAt: at }]],
    noteProgress: [[it, { checkId: "check", progress: { packages: 1, percent: null } }]],
    switchRevision: [[it, "check", { ...findings, snapshotUrl: null, importId: "import", packagesFolder: "" }]],
    confirmRevision: [[it, { checkId: "check", ...found }]],
    failImport: [[it, { checkId: "check", problem: "", indexTag: null }]],
  } satisfies Calls<typeof importStates>,
  "repository-states": {
    keptState: [[{ now: at, when: sql`id = ${it}` }]],
    listStates: [[[it], at]],
    removeStates: [[at]],
  } satisfies Calls<typeof repositoryStates>,
  imports: {
    beginContents: [["import", contents]],
    finishContents: [["import", facts]],
    findMadeImport: [[contents]],
    findImport: [["import"]],
    releaseImport: [["import"]],
    listUnusedAfter: [[{ id: "", before: at, limit: 10 }]],
    listImports: [[["import"]]],
  } satisfies Calls<typeof imports>,
  "name-pages": {
    saveNamePages: [["import"]],
    listByShortName: [[{ repositories: [shown], arches: ["noarch"], needle: "gt", limit: 10 }]],
    listNames: [
      [{ repositories: [shown], needle: "gt", limit: 10 }],
      [{ repositories: [shown], needle: "gtk", limit: 10 }],
    ],
    deleteNamePages: [["import"]],
  } satisfies Calls<typeof namePages>,
  packages: {
    savePackages: [["import", [packageRow]]],
    listForNameIndex: [[{ importId: "import", after: { name: "gtk", id: 1 }, limit: 10 }]],
    describePackages: [[[1, 2]]],
    listVersions: [[{ repositories: [shown], arches: ["noarch"], names: ["gtk3"] }]],
    searchPackages: [[{ ...search, q: "gtk" }], [{ ...search, q: "gt" }], [{ ...search, q: "g".repeat(60) }]],
    searchNames: [[{ repositories: [shown], q: "gtk", limit: 10 }], [{ repositories: [shown], q: "gt", limit: 10 }]],
    similarNames: [[{ repositories: [shown], arches: ["noarch"], pieces: ["gtk", "tk3"] }]],
    listPatterns: [[[shown]]],
    listImportsWithPackages: [[{ after: "", limit: 10 }]],
    deletePackages: [["import"]],
  } satisfies Calls<typeof packages>,
  "package-texts": {
    searchTexts: [[{ repositories: [shown], arches: ["noarch"], q: "gtk", limit: 10 }]],
  } satisfies Calls<typeof packageTexts>,
  repositories: {
    findRepository: [[it]],
    rereadRepositories: [[[{ id: it }]]],
    withSigningKeys: [[[{ id: it }]]],
    findVisibleRepository: [[own, it]],
    findVisibleRepositoryByUrl: [[own, repository.url]],
    listVisibleByIds: [[own, [it]]],
    listFailing: [[10]],
    listVisibleRepositories: [[own], [own, { baseSystem: "tiny-1.0" }]],
    findUserRepository: [[own, "tiny-1.0"]],
    findRepositoryByUid: [["repository"]],
    addRepository: [[{ ...repository, uid: "another", url: "http://mirror.example.org/another" }, 10]],
    removeUnimported: [[9]],
    removeFailed: [[own]],
    deleteRepository: [[own, 9]],
    listUsersOf: [[it, 10]],
    listByCatalogue: [["tiny"]],
    listUnimported: [[["tiny"]]],
    listUncheckedSince: [[at, 10]],
    listOwnFiles: [[]],
    markImporting: [[[it]]],
    replaceApplianceRepositories: [[ids.appliance, [it]]],
    addApplianceRepository: [[ids.appliance, it]],
    removeApplianceRepository: [[ids.appliance, it]],
  } satisfies Calls<typeof repositories>,
  rpms: {
    listRpms: [[own, "tiny-1.0"]],
    findRpm: [[own, 1]],
    findRpmOfRequest: [["request"]],
    addRpm: [[rpm, { quotaBytes: 1e6, most: 10 }]],
    replaceRpm: [[1, rpm, 1e6]],
    deleteRpm: [[own, 9]],
    isUploadOf: [[{ accountId: own, baseSystem: "tiny-1.0" }, "rpm"]],
    listUsedBlobIds: [[["rpm"]]],
  } satisfies Calls<typeof rpms>,
  "user-repositories": {
    saveUserRepository: [[uploads]],
    findUserRepositoryById: [[it]],
    findUserRepositoryByUid: [["repository"]],
    listUserRepositoriesAfter: [[0, 10]],
  } satisfies Calls<typeof userRepositories>,
};
