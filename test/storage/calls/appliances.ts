import { sql } from "drizzle-orm";
import type * as applianceBuilds from "#storage/appliance-builds";
import type * as applianceList from "#storage/appliance-list";
import type * as applianceLook from "#storage/appliance-look";
import type * as applianceOverview from "#storage/appliance-overview";
import type * as applianceParts from "#storage/appliance-parts";
import type * as applianceSoftware from "#storage/appliance-software";
import type * as appliances from "#storage/appliances";
import type * as catalogues from "#storage/catalogues";
import type * as configurations from "#storage/configurations";
import type * as contents from "#storage/contents";
import type * as definitions from "#storage/definitions";
import type * as edits from "#storage/edits";
import type * as estimates from "#storage/estimates";
import type * as gpgKeys from "#storage/gpg-keys";
import type * as keptFiles from "#storage/kept-files";
import type * as lastImages from "#storage/last-images";
import type * as lastStatuses from "#storage/last-statuses";
import type * as overlayFiles from "#storage/overlay-files";
import type * as pictures from "#storage/pictures";
import type * as releasedBlobs from "#storage/released-blobs";
import type * as schematics from "#storage/schematics";
import type * as selections from "#storage/selections";
import type * as shares from "#storage/shares";
import type * as templateSets from "#storage/template-sets";
import type { Calls } from "./calls.ts";
import { appliance, at, catalogue, fileContent, gpgKey, ids, overlayFile, readAppliance } from "./rows.ts";

const [own, it] = [ids.account, ids.appliance];
const clone = { ...appliance, id: undefined, uuid: "clone" };
const most = { appliances: 10, configurationBytes: 1e6, files: 10 };
const writer = { accountId: own, quotaBytes: 1e6, most: 10 };
const { id: _id, ...newFile } = overlayFile;
const { applianceId: _applianceId, createdAt: _createdAt, ...keptFile } = newFile;
const { name, version, imageType, configuration } = appliance;
const columns = { name, version, imageType, configuration };
const picture = { blobId: "picture", bytes: 1 };
const selection = { applianceId: it, kind: "package" as const, name: "gtk", version: null, repositoryId: null };
const definitionLimits = { quotaBytes: 1e6, ...most };
const definitionRows = { columns, repositoryIds: [1], selection: [selection], files: [keptFile], keys: [gpgKey] };
const listed = { accountId: own, only: null, search: "", limit: 24, offset: 0, staleBefore: at };

export const ofAppliances = {
  "appliance-builds": {
    listAppliancesOfKey: [[{ username: "tux", apiKeyHmac: "hmac" }]],
    withBuilds: [[readAppliance]],
  } satisfies Calls<typeof applianceBuilds>,
  "appliance-list": {
    listAround: [[own, 50]],
  } satisfies Calls<typeof applianceList>,
  "appliance-overview": {
    listOverview: [
      [listed],
      [{ accountId: own, only: it, search: "gtk", limit: 24, offset: 0, staleBefore: at }],
      [{ ...listed, state: "running" }],
      [{ ...listed, state: "ok" }],
      [{ ...listed, state: "warning" }],
      [{ ...listed, state: "error" }],
      [{ ...listed, state: "unknown" }],
      [{ ...listed, order: "name" }],
      [{ ...listed, order: "built" }],
      [{ ...listed, order: "created" }],
      [{ ...listed, tag: "desk" }],
      [{ ...listed, advisories: "fixed" }],
    ],
    listUnexamined: [[own, 50]],
    latestIdsOf: [[own]],
    hasAppliances: [[own]],
  } satisfies Calls<typeof applianceOverview>,
  "appliance-look": {
    readLook: [
      [
        { ...readAppliance, id: it },
        { ...listed, only: it, limit: 1 },
      ],
    ],
  } satisfies Calls<typeof applianceLook>,
  "last-statuses": {
    saveLastStatuses: [
      [[{ applianceId: it, errors: 0, warnings: 0, text: "", packages: 1, editedAt: at, examinedAt: at }]],
    ],
  } satisfies Calls<typeof lastStatuses>,
  "appliance-parts": {
    findApplianceIdOf: [
      ["build", 1],
      ["file", 1],
      ["testdrive", 1],
    ],
  } satisfies Calls<typeof applianceParts>,
  "appliance-software": {
    listSoftware: [[[appliance]]],
  } satisfies Calls<typeof applianceSoftware>,
  appliances: {
    findAppliance: [[own, it]],
    findAnyAppliance: [[it]],
    listAnyAppliances: [[[it]]],
    findApplianceByUuid: [["appliance"]],
    findReadableAppliance: [[own, it]],
    findSearched: [[own, it]],
    listSelection: [[it]],
    listApplianceRepositories: [[it]],
    findBaseSystem: [["tiny-1.0"]],
    listBaseSystems: [[]],
    listBaseTitles: [[]],
    deleteRefusedClone: [[clone, { source: { isThere: sql`true`, files: sql`0` }, most }]],
    saveClone: [[clone, { sourceId: it, most }]],
    deleteApplianceRows: [[2000]],
  } satisfies Calls<typeof appliances>,
  catalogues: {
    listForeignTemplates: [["tiny", [1]]],
    saveCatalogue: [[catalogue, []]],
  } satisfies Calls<typeof catalogues>,
  configurations: {
    saveConfiguration: [
      [{ read: readAppliance, columns, maxBytes: 1e6 }],
      [{ read: readAppliance, columns, maxBytes: 1e6, removedFiles: [1] }],
    ],
    descendsFromOthers: [[readAppliance]],
    findTemplateConfiguration: [[it]],
    listTemplateConfigurations: [[[it]]],
  } satisfies Calls<typeof configurations>,
  contents: {
    listNamedBlobs: [[["blob"]]],
    listReleasedBefore: [[at, 10]],
    listReleased: [[["blob"]]],
    forgetReleased: [[["blob"], at]],
  } satisfies Calls<typeof contents>,
  definitions: {
    saveDefinition: [
      [readAppliance, { columns }, definitionLimits],
      [readAppliance, definitionRows, definitionLimits],
    ],
    addDefinition: [
      [{ ...clone, uuid: "schematic" }, definitionRows, { ...definitionLimits, schematic: "sha256" }],
      [{ ...clone, uuid: "definition" }, definitionRows, definitionLimits],
      [{ ...clone, uuid: "named" }, definitionRows, { ...definitionLimits, name: "a" }],
    ],
    hasApplianceNamed: [[it, "a"]],
  } satisfies Calls<typeof definitions>,
  schematics: {
    findSchematic: [[ids.account, "sha256"]],
    findSchematicOf: [[{ id: it, lastEditedAt: at }]],
    isOfSchematic: [[it]],
    madeFrom: [[{ uuid: "definition", sha256: "sha256" }]],
    findSchematicChannel: [["sha256", "stable"]],
  } satisfies Calls<typeof schematics>,
  edits: {
    edited: [[it], [it, sql`true`]],
  } satisfies Calls<typeof edits>,
  estimates: {
    saveEstimate: [[it, { estimatedRawMb: 1, estimatedCompressedMb: 1 }]],
    listEarlierSteps: [[{ applianceId: it, imageType: "oem" }]],
  } satisfies Calls<typeof estimates>,
  "gpg-keys": {
    listGpgKeys: [[it]],
    findGpgKey: [[it, 1]],
    findGpgKeyOfRequest: [["request"]],
    listKeysOfAccount: [[it, 10]],
    addGpgKey: [[gpgKey, { maxCount: 10, maxCharacters: 10 }]],
    deleteGpgKey: [[it, 1]],
  } satisfies Calls<typeof gpgKeys>,
  "kept-files": {
    saveOverlayFiles: [[it, [keptFile], writer]],
  } satisfies Calls<typeof keptFiles>,
  "last-images": {
    findLastImage: [[it, "question"]],
    saveLastImage: [[it, { question: "question", packages: [] }]],
  } satisfies Calls<typeof lastImages>,
  "overlay-files": {
    listOverlayFiles: [[it]],
    findAnyOverlayFile: [[1]],
    findOverlayFileOfRequest: [["request"]],
    addOverlayFile: [[{ ...newFile, requestId: "request" }, writer]],
    changeOverlayFile: [[overlayFile, { enabled: false }, own]],
    replaceContent: [[overlayFile, fileContent, writer]],
    deleteOverlayFile: [[overlayFile, own]],
    released: [[sql`overlay_files.id = 1`]],
  } satisfies Calls<typeof overlayFiles>,
  pictures: {
    savePicture: [
      [
        { id: it, ...writer },
        { kind: "logo", ...picture },
      ],
      [
        { id: it, ...writer },
        { kind: "background", ...picture, blobId: "background" },
      ],
    ],
    clearPicture: [
      [{ id: it, accountId: own }, "logo"],
      [{ id: it, accountId: own }, "background"],
    ],
    forgetPictureSizes: [[["picture"]]],
  } satisfies Calls<typeof pictures>,
  "released-blobs": {
    releaseBlobs: [[{ blobId: sql`'blob'`, from: sql`WHERE true` }]],
  } satisfies Calls<typeof releasedBlobs>,
  selections: {
    saveSelection: [[selection]],
    removeSelection: [[selection]],
    replaceSelections: [
      [{ applianceId: it }, [selection]],
      [{ applianceId: it, unchangedSince: at }, []],
    ],
  } satisfies Calls<typeof selections>,
  shares: {
    listSharedWith: [[own, 50]],
    listReaders: [[it]],
    readSharing: [[it]],
    addReader: [[it, own]],
    removeReader: [[it, own]],
  } satisfies Calls<typeof shares>,
  "template-sets": {
    listTemplateSets: [[]],
    listOffered: [[]],
    findTemplateSet: [["default"]],
  } satisfies Calls<typeof templateSets>,
};
