import type * as buildQueue from "#storage/build-queue";
import type * as builds from "#storage/builds";
import type * as buildsOfAppliance from "#storage/builds-of-appliance";
import type * as channels from "#storage/channels";
import type * as checkRuns from "#storage/check-runs";
import type * as counters from "#storage/counters";
import type * as deltas from "#storage/deltas";
import type * as downloadLinks from "#storage/download-links";
import type * as fileStores from "#storage/file-stores";
import type * as frozenBlobs from "#storage/frozen-blobs";
import type * as galleryClones from "#storage/gallery-clones";
import type * as galleryList from "#storage/gallery-list";
import type * as galleryListings from "#storage/gallery-listings";
import type * as galleryOpinions from "#storage/gallery-opinions";
import type * as metrics from "#storage/metrics";
import type * as preparedRoots from "#storage/prepared-roots";
import type * as rebuilds from "#storage/rebuilds";
import type * as screens from "#storage/screens";
import type * as storedImages from "#storage/stored-images";
import type * as storedPackages from "#storage/stored-packages";
import type * as loggedImages from "#storage/logged-images";
import type * as publishedNews from "#storage/published-news";
import type * as publications from "#storage/publications";
import type * as retention from "#storage/retention";
import type * as sweep from "#storage/sweep";
import type * as testdrives from "#storage/testdrives";
import type * as visibleBuilds from "#storage/visible-builds";
import type { Calls } from "./calls.ts";
import { announcement, appliance, at, build, ids, publication, readBuild, result } from "./rows.ts";

const [own, it] = [ids.account, ids.appliance];
const slots = { all: 10, perAccount: 10 };
const page = { limit: 10, offset: 10 };
const clone = { ...appliance, id: undefined, uuid: "published clone" };
const most = { appliances: 10, configurationBytes: 1e6, files: 10 };
const manyComments = { ofAccount: 10, ofAppliance: 10, characters: 10 };
const root = { applianceId: it, key: "key", buildId: 1, blobKey: "root", sha256: "sha256", createdAt: at };
const address = { username: "tux", applianceId: it };
const comment = { applianceId: it, accountId: own, parentId: 1, text: "" };

export const ofBuilds = {
  "build-queue": {
    countQueuedBefore: [[2]],
    listQueued: [[{ limit: 10 }], [{ after: { isBackground: true, turn: 1, id: 1 }, limit: 10 }]],
    listUnended: [["queued", 10]],
    listEnded: [["failed", 10]],
    countHeld: [[]],
  } satisfies Calls<typeof buildQueue>,
  "builds-of-appliance": {
    listRunningBuilds: [[it]],
    listEndedBuilds: [
      [it, { limit: 10 }],
      [it, { before: 5, limit: 10 }],
    ],
    listImages: [[it]],
    listBuildsOfVersion: [[it, "0.0.1"]],
    findBuildOfVersion: [[it, "0.0.1"]],
    findBuildOfFormat: [[it, { version: "0.0.1", imageType: "oem" }]],
    findFinishedBuild: [[it, "oem"]],
    findLatestBuild: [[it]],
    findNewestImage: [[it]],
    listBuildsById: [[[1, 2]]],
  } satisfies Calls<typeof buildsOfAppliance>,
  builds: {
    findBuild: [[own, 1]],
    findReadableBuild: [[own, 1]],
    findAnyBuild: [[1]],
    findBuildByUid: [["build"]],
    findBuildWithArch: [["build"]],
    findDownload: [["download"]],
    listHeldBy: [[1]],
    takeSilentBuilds: [[{ now: at, wakeAt: at, limit: 10 }]],
    saveLiveness: [["build", { wakeAt: at, agentId: 1, seenAt: at }]],
    listUnfinishedOf: [[own]],
    unfinishedOf: [[own]],
    hasFreeSlot: [[own, slots]],
    addBuild: [
      [
        { ...build, uid: "another", downloadToken: "another" },
        { force: true, slots },
      ],
    ],
    saveRunning: [["build", { agentId: 1, startedAt: at }]],
    saveQueued: [
      ["build", { at, lostBy: "silence" }],
      ["build", { at, lostBy: undefined }],
    ],
    saveEnded: [["another", { status: "error", cause: "fault", message: "", percent: 0, steps: [], completedAt: at }]],
    saveFinished: [[readBuild, { ...result, nextVersion: "0.0.2" }]],
    deleteBuildRow: [[own, 2]],
  } satisfies Calls<typeof builds>,
  "file-stores": {
    shareFileStore: [["build", { sha256: "sha256", size: 1 }]],
    listNamedFileStores: [[["builds/build/files-1"]]],
  } satisfies Calls<typeof fileStores>,
  rebuilds: {
    addRebuild: [[{ id: 1 }, { ...build, uid: "rebuild", downloadToken: "rebuild" }, slots]],
    listRebuilds: [[[1, 2]]],
    findUnfinishedRebuild: [[1]],
    listRunningRebuilds: [[own, it]],
    saveRebuilt: [
      [
        "rebuild",
        {
          builder: "9.24.56",
          builtIn: null,
          conditions: null,
          steps: [],
          rebuiltStatement: null,
          rebuilt: { sha256: "sha256", size: 1, isSame: true, byOther: true },
          completedAt: at,
        },
      ],
    ],
  } satisfies Calls<typeof rebuilds>,
  "download-links": {
    findLinked: [
      [{ buildId: 1, accountId: own, tokenId: null }, at],
      [{ buildId: 1, accountId: own, tokenId: 1 }, at],
    ],
  } satisfies Calls<typeof downloadLinks>,
  counters: {
    addToCounters: [[[{ name: "refusals", label: "no_build_slots 400", value: 1 }], at]],
    saveMeasured: [["storage_bytes", 1]],
    listCounters: [[]],
  } satisfies Omit<Calls<typeof counters>, "counted">,
  metrics: {
    readAmounts: [[]],
    listBusyAgents: [[]],
    databaseBytes: [[]],
    listChoreRuns: [[]],
    saveChores: [[["forgetSessions"], at]],
    saveChoreSuccess: [["forgetSessions", at]],
    listUsedBytes: [[{ after: 0, limit: 10 }]],
  } satisfies Calls<typeof metrics>,
  "frozen-blobs": {
    freezeBlobs: [[1, ["blob"]]],
    isFrozenFor: [[1, "blob"]],
    thawBlobs: [[at]],
  } satisfies Calls<typeof frozenBlobs>,
  "stored-images": {
    listStoredImages: [
      [own, { limit: 10 }],
      [own, { after: { bytes: 1, id: 1 }, limit: 10 }],
    ],
  } satisfies Calls<typeof storedImages>,
  "stored-packages": {
    needPackages: [[1, [{ repositoryId: 1, checksum: "sha256:00", size: 1 }]]],
    listNeededPackages: [[1]],
    findNeededPackage: [[{ buildId: 1, packageId: 1 }]],
    saveStoredPackage: [[{ id: 1, maxBytes: 10, blob: "build-1", pieces: 1, size: 1 }]],
    listBuildsInNeed: [[{ after: 0, limit: 10 }]],
    releasePackages: [[[1], at]],
    deleteReleasedPackages: [[{ before: at, limit: 10 }]],
    listStoredBlobs: [[["build-1"]]],
  } satisfies Calls<typeof storedPackages>,
  "published-news": {
    findFirstPublished: [[it]],
    listPublished: [[it, 50]],
    listMoves: [[it, 50]],
  } satisfies Calls<typeof publishedNews>,
  publications: {
    isPublished: [[it], [it, "0.0.1"]],
    findPublication: [[it], [it, "0.0.1"]],
    listPublishedVersions: [[it]],
    publishedVersions: [[it]],
    findPublisher: [[it, "0.0.1"]],
    addPublication: [[publication, { announcement, moves: [{ name: "stable", headId: null }], editedAt: at }]],
    findPublicationByUuid: [["publication"]],
    saveReleaseNotes: [[{ applianceId: it, version: "0.0.1" }, ""]],
    deletePublication: [[it, "0.0.9"]],
  } satisfies Calls<typeof publications>,
  "logged-images": {
    listUnlogged: [[10]],
    listUnloggedBuilds: [[[1]]],
    saveLogPosition: [[1, 0]],
    saveLogged: [[1]],
  } satisfies Calls<typeof loggedImages>,
  "gallery-clones": {
    savePublishedClone: [[clone, { publicationId: 1, most }]],
  } satisfies Calls<typeof galleryClones>,
  "gallery-list": {
    listPublications: [
      [{ kind: "latest" }, page],
      [{ kind: "popular" }, page],
      [{ kind: "account", accountId: own }, page],
      [{ kind: "search", words: ["kiosk"] }, page],
      [{ kind: "search", words: [] }, page],
      [{ kind: "latest" }, { ...page, order: "rating" }],
      [
        { kind: "popular" },
        { ...page, traits: { baseSystem: "tiny-1.0", arch: "x86_64", imageType: "oem", tag: "web" } },
      ],
      [
        { kind: "search", words: ["kiosk"] },
        { ...page, order: "popular", traits: { tag: "web" } },
      ],
    ],
  } satisfies Calls<typeof galleryList>,
  "gallery-listings": {
    findUses: [[it]],
  } satisfies Calls<typeof galleryListings>,
  "gallery-opinions": {
    ratingOf: [[it]],
    findOwnRating: [[{ applianceId: it, accountId: own }]],
    deleteComment: [[{ applianceId: it, id: 1 }]],
    saveRating: [[{ applianceId: it, accountId: own }, 5]],
    listComments: [[it]],
    hasComment: [["request"]],
    addComment: [
      [comment, manyComments],
      [{ ...comment, parentId: null }, manyComments],
    ],
    addUse: [[{ applianceId: it, accountId: own, kind: "clone" }]],
  } satisfies Calls<typeof galleryOpinions>,
  screens: {
    findWithoutScreen: [[readBuild]],
    saveScreen: [[1, "screen"]],
    clearScreen: [[{ applianceId: it, version: "0.0.1" }]],
  } satisfies Calls<typeof screens>,
  deltas: {
    findEarlierWithDelta: [[{ applianceId: it, imageType: "oem", version: "0.0.2" }]],
  } satisfies Calls<typeof deltas>,
  "prepared-roots": {
    savePreparedRoot: [[root]],
    findPreparedRoot: [[it, "key"]],
    listPreparedBlobs: [[["build"]]],
    deletePreparedBefore: [[at]],
  } satisfies Calls<typeof preparedRoots>,
  retention: {
    listOldImages: [[{ before: at, after: { completedAt: 0, id: 0 }, limit: 10 }]],
    markExpired: [[1, at]],
    deleteImagelessBefore: [[at, 10]],
  } satisfies Calls<typeof retention>,
  sweep: {
    listBuildsByUid: [[["build"]]],
    listUsedInputs: [[["sha256"]]],
    deleteRetiredBefore: [[at, 10]],
    findSweepPosition: [["builds/"]],
    saveSweepPosition: [
      ["builds/", "cursor"],
      ["builds/", undefined],
    ],
  } satisfies Calls<typeof sweep>,
  testdrives: {
    addTestdrive: [[{ uid: "testdrive", accountId: own, buildId: 1, pageToken: "page", wakeAt: at }, slots]],
    findTestdrive: [[1]],
    findTestdriveByUid: [["testdrive"]],
    listLiveTestdrives: [[own], [own, it]],
    listNewTestdrives: [[at]],
    listTestdrivesOfAgent: [[1]],
    takeSilentTestdrives: [[{ now: at, wakeAt: at, limit: 10 }]],
    deleteEndedTestdrives: [[at, 10]],
    saveTestdrive: [["testdrive", { state: "running", agentId: 1, wakeAt: at }]],
  } satisfies Calls<typeof testdrives>,
  channels: {
    saveChannel: [
      [{ applianceId: it, name: "stable", isAutomatic: true, version: "0.0.1", most: 8 }],
      [{ applianceId: it, name: "stable", isAutomatic: true, version: undefined, most: 8 }],
    ],
    listChannels: [[it]],
    moveChannels: [[{ applianceId: it, moves: [{ name: "stable", headId: null }], version: "0.0.1" }]],
    findHead: [[address, "stable"]],
    findVersionInChannel: [[address, "0.0.1"]],
    isKnownChannel: [[address, "stable"]],
    deleteChannel: [[{ applianceId: it, name: "stable" }]],
  } satisfies Calls<typeof channels>,
  "check-runs": {
    addCheckRun: [[{ uid: "run", accountId: own, buildId: 1, checks: [], wakeAt: at }]],
    findCheckRunByUid: [["run"]],
    findCheckRunOfTestdrive: [["testdrive"]],
    listCheckRuns: [[1]],
    listLastCheckRuns: [[[1, 2]]],
    listWaitingRuns: [[{ limit: 10, slots: { all: 10, perAccount: 2 } }]],
    takeCheckRun: [[{ id: 1 }, { testdriveUid: "testdrive", wakeAt: at }]],
    untakeCheckRun: [["testdrive"]],
    endCheckAttempt: [["testdrive", { message: "", maxAttempts: 3 }]],
    failWaitingRun: [[{ id: 1 }, "gone"]],
    saveCheckResults: [
      [
        "testdrive",
        {
          state: "failed",
          results: [],
          loginSeconds: 1,
          isEmulated: true,
          console: "",
          screenBlob: "screen",
          isMachineKept: true,
        },
      ],
    ],
    takeSilentCheckRuns: [[{ now: at, wakeAt: at, limit: 10 }]],
  } satisfies Calls<typeof checkRuns>,
  "visible-builds": {
    findVisibleBuild: [[own, 1]],
    findPublishedImage: [[1]],
    listPublishedImages: [[it]],
  } satisfies Calls<typeof visibleBuilds>,
};
