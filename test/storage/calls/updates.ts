import type * as advisoryChanges from "#storage/advisory-changes";
import type * as advisories from "#storage/advisories";
import type * as attestations from "#storage/attestations";
import type * as exploitedAdvisories from "#storage/exploited-advisories";
import type * as imageAdvisories from "#storage/image-advisories";
import type * as imagePackages from "#storage/image-packages";
import type * as imageUpdates from "#storage/image-updates";
import type * as vexStatements from "#storage/vex-statements";
import type * as watches from "#storage/watches";
import type { Calls } from "./calls.ts";
import { announcement, at, ids } from "./rows.ts";

const it = ids.appliance;
const automatic = { at, from: "0.0.1", contents: "contents", editedAt: at, message: "" };
const decided = { decidedFor: "contents", at: 1, count: 1, urgent: [] };
const watch = {
  applianceId: it,
  accountId: ids.account,
  lookAt: at,
  automaticState: null,
  automaticFrom: null,
  automaticVersion: null,
  automaticBuilds: [],
  automaticContents: null,
  automaticMessage: "",
  automaticAt: null,
  automaticEditedAt: null,
  automaticPublication: null,
};

const statement = {
  applianceId: it,
  advisory: "CVE-2026-1",
  buildId: 0,
  status: "under_investigation" as const,
  justification: null,
  text: "Soon",
  statedAt: at,
};

const wanted = { accountId: ids.account, packageIds: [1, 2], limit: 10 };

const group = { source: "openssl", release: "bookworm", advisories: [{ id: "CVE-2026-1", state: "open" as const }] };

export const ofUpdates = {
  advisories: {
    saveAdvisories: [["debian", [group]]],
    deleteOtherAdvisories: [["debian", [group]]],
    saveFeed: [[{ feed: "debian", url: null }]],
    listFeeds: [[]],
    listAdvisories: [[{ sources: ["openssl"], releases: ["bookworm"] }]],
    listAdvisoriesOf: [["CVE-2026-1"]],
  } satisfies Calls<typeof advisories>,
  "advisory-changes": {
    findLastChange: [[]],
    listChangedPackages: [[1]],
    deleteChanges: [[1]],
  } satisfies Calls<typeof advisoryChanges>,
  attestations: { listAttestedBuilds: [[{ after: 0, limit: 10 }]] } satisfies Calls<typeof attestations>,
  "exploited-advisories": {
    saveExploited: [[["CVE-2026-1"]]],
    exploitedAmong: [[["CVE-2026-1"]]],
  } satisfies Calls<typeof exploitedAdvisories>,
  "image-advisories": {
    listUncounted: [[{ after: 0, accounts: 10, imagesOfEach: 20 }]],
    listImagesAfter: [[{ accountId: 1, buildId: 1, limit: 500 }]],
    listVersionsById: [[[1, 2]]],
    listAdvisoryCounts: [[[1, 2]]],
    saveAdvisoryCounts: [[[{ id: 1, accountId: 1, packageIds: [1], before: null, counts: null }]]],
  } satisfies Calls<typeof imageAdvisories>,
  "image-packages": {
    listUnlistedImages: [[{ after: 0, limit: 10 }]],
    saveImagePackages: [
      [
        { id: 1, baseSystem: "tiny-1.0" },
        [{ name: "a", version: "1-1", arch: "noarch", source: "a", sourceVersion: "1-1" }],
      ],
    ],
    listPackageVersions: [[{ name: "a" }], [{ source: "a" }]],
    listImagesWith: [[{ ...wanted, only: null, before: undefined }], [{ ...wanted, only: it, before: 5 }]],
  } satisfies Calls<typeof imagePackages>,
  "image-updates": {
    saveCounts: [[{ id: 1 }, { contents: "contents", updates: [], lookedAt: 1 }]],
    listImageUpdates: [[[1, 2]]],
    saveDecision: [
      [
        { buildId: 1, announced: {} },
        { event: "image.outdated", decided, announcement },
      ],
      [
        { buildId: 1, announced: {} },
        { event: "image.outdated", decided, announcement: undefined },
      ],
    ],
    forgetOtherUpdates: [[it, [1]]],
  } satisfies Calls<typeof imageUpdates>,
  "vex-statements": {
    listStatements: [[it]],
    saveStatement: [
      [{ ...statement, buildId: 0 }, 500],
      [{ ...statement, buildId: 1 }, 500],
    ],
    deleteStatement: [[statement]],
  } satisfies Calls<typeof vexStatements>,
  watches: {
    takeDueWatches: [[{ now: at, again: at, limit: 10 }]],
    saveNextLook: [[watch, at]],
    findWatch: [[it]],
    makeDue: [[it, at]],
    lookAtImages: [[[1, 2], at]],
    beginAutomaticBuild: [[watch, { ...automatic, version: "0.0.2", builds: [], publication: "publication" }]],
    refuseAutomaticBuild: [[watch, automatic]],
    endAutomaticBuild: [[watch, { state: "done", message: "" }]],
  } satisfies Calls<typeof watches>,
};
