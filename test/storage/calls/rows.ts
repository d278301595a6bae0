import { Catalogue } from "#model/catalogue";
import type { Announcement } from "#model/announcement";
import tiny from "../../../templates/tiny.json";

export const catalogue = Catalogue.parse(tiny);

export const at = new Date(1_700_000_000_000);
const sha256 = "0".repeat(64);

/** Ids of the rows that exist before the first call. */
export const ids = { account: 1, appliance: 1001, build: 1, repository: 1, publication: 1 };

export const account = {
  id: ids.account,
  uid: "account",
  username: "tux",
  displayName: "Tux",
  email: "tux@example.org",
  apiKeyHmac: "hmac",
  apiKeyCipher: "cipher",
  passwordHash: "hash",
  createdAt: at,
};

const configuration = catalogue.sets[0]?.templates[0]?.configuration;
if (!configuration) throw new Error("the sample catalogue has no template");

export const appliance = {
  id: ids.appliance,
  accountId: ids.account,
  name: "Kiosk",
  arch: "x86_64" as const,
  baseSystem: "tiny-1.0",
  uuid: "appliance",
  parentId: 1,
  version: "0.0.1",
  imageType: "oem" as const,
  configuration,
  estimatedRawMb: 1,
  estimatedCompressedMb: 1,
  createdAt: at,
  lastEditedAt: at,
};

/** The row in the form in which it is read. */
export const readAppliance = {
  ...appliance,
  parentName: null,
  configurationBytes: null,
  logoBlob: null,
  backgroundBlob: null,
};

export const build = {
  uid: "build",
  accountId: ids.account,
  applianceId: ids.appliance,
  version: "0.0.1",
  imageType: "oem" as const,
  needsLvm: false,
  needsEfi: false,
  fileSystem: "ext4" as const,
  hasSecureBoot: false,
  packageType: "rpm" as const,
  builderRoot: null,
  isBackground: false,
  inputSha256: sha256,
  downloadToken: "download",
  createdAt: at,
  wakeAt: at,
};

export const repository = {
  accountId: ids.account,
  uid: "repository",
  name: "Main",
  url: "http://mirror.example.org/main",
  type: "rpm-md" as const,
  baseSystem: "tiny-1.0",
  arches: ["x86_64" as const],
};

const content = { blobId: "blob", size: 1, md5: "md5", sha256 };
export const fileContent = content;

export const overlayFile = {
  id: 1,
  applianceId: ids.appliance,
  fileName: "motd",
  path: "/etc",
  owner: "root",
  group: "root",
  permissions: 0o644,
  enabled: true,
  ...content,
  createdAt: at,
  requestId: null,
};

export const gpgKey = {
  applianceId: ids.appliance,
  name: "key",
  target: "rpm" as const,
  fingerprint: "fingerprint",
  key: "key",
  createdAt: at,
  requestId: null,
};

export const rpm = {
  accountId: ids.account,
  baseSystem: "tiny-1.0",
  fileName: "a.rpm",
  size: 1,
  md5: "md5",
  sha256,
  blobId: "rpm",
  storedBytes: 1,
  nevra: "a-1-1.noarch",
  packages: [],
  uploadedAt: at,
};

export const publication = {
  uuid: "publication",
  applianceId: ids.appliance,
  accountId: ids.account,
  version: "0.0.1",
  name: "Kiosk",
  description: "",
  homepage: "",
  tags: [],
  publisher: "Tux",
  username: "tux",
  baseSystem: "tiny-1.0",
  arch: "x86_64" as const,
  imageType: "oem" as const,
  publicClonable: true,
  logoBlob: null,
  backgroundBlob: null,
  publishedAt: at,
  releaseNotes: "",
  definition: {
    configuration,
    accounts: [],
    repositoryIds: [],
    selection: [],
    gpgKeys: [],
    hasOverlayFiles: false,
    estimatedRawMb: 1,
    estimatedCompressedMb: 1,
  },
  software: { repositories: [], selected: [], installed: [] },
  packages: "",
};

export const announcement: Announcement = {
  key: "version",
  event: "version.published",
  at: at.getTime(),
  account: "tux",
  subject: { version: { appliance_id: ids.appliance, name: "Kiosk", version: "0.0.1" } },
};

export const packageRow = {
  name: "gtk",
  epoch: 0,
  version: "1",
  release: "1",
  arch: "noarch",
  summary: "",
  description: "",
  sizeBytes: 1,
  installedBytes: 1,
};

/** The row in the form in which it is read. */
export const readBuild = {
  ...build,
  id: ids.build,
  status: "queued" as const,
  agentId: null,
  madeBy: null,
  message: "",
  percent: 0,
  retiredAt: null,
  rebuildOf: null,
  rebuilt: null,
  rebuiltStatement: null,
  imageKey: null,
  fileName: null,
  fileSize: null,
  rawSize: null,
  compressed: null,
  md5: null,
  sha1: null,
  sha256: null,
  diskSha256: null,
  filesKey: null,
  filesSize: null,
  filesSha256: null,
  filesIndexKey: null,
  filesIndexSize: null,
  deltaKey: null,
  deltaSize: null,
  storedBytes: null,
  builder: null,
  builtIn: null,
  conditions: null,
  expiredAt: null,
  hasListedPackages: false,
  logPosition: null,
  steps: null,
  startedAt: null,
  requeuedAt: null,
  completedAt: null,
};

/** The end of a build with an image. */
export const result = {
  imageKey: "image",
  fileName: "image.raw",
  fileSize: 1,
  rawSize: 1,
  compressed: false,
  md5: "md5",
  sha1: "sha1",
  sha256: "sha256",
  diskSha256: null,
  filesKey: null,
  filesSize: null,
  filesSha256: null,
  filesIndexKey: null,
  filesIndexSize: null,
  deltaKey: null,
  deltaSize: null,
  builder: null,
  builtIn: null,
  conditions: null,
  steps: [],
  completedAt: at,
  message: "",
};
