// Made from the descriptions of the calls. To change it, change those, and run its test with --update:
// npm run test:fast -- test/openapi/calls-page.test.ts --update

import type { ImageType } from "../image-types.ts";

/** A parameter that is text. Some may be repeated. */
type Text = string | readonly string[];

/** What a call takes and answers: ids of its path and its parameters by their names, and its body. */
export interface Calls {
  /** Your account, and how much of its disk quota is used. */
  getAccount: { request: object; answer: Account };
  /** Change the password. */
  changePassword: { request: { password: Text; new_password: Text }; answer: Success };
  /** Choose whether Kiln mails you. */
  setMail: { request: { advisories: boolean }; answer: Success };
  /** Remove your account with everything that belongs to it. */
  removeAccount: { request: { password: Text }; answer: Success };
  /** What was done with your account in the last 90 days. */
  getAuditLog: { request: { before?: number }; answer: AuditLog };
  /** The limits of your account, and how much of each it uses. */
  getAccountLimits: { request: object; answer: Limits };
  /** The running version: 2.0, or 1.1 on v1. */
  getApiVersion: { request: object; answer: ApiVersion };
  /** All templates in sets, the default set first. */
  listTemplateSets: { request: object; answer: TemplateSets };
  /** One set of templates. */
  getTemplateSet: { request: { name: string }; answer: TemplateSet };
  /** Your tokens, and when each was last used. */
  listTokens: { request: object; answer: Tokens };
  /** Make a token. */
  createToken: { request: { name: Text; scope: "read" | "build" | "publish"; appliance_id?: number; expires_at?: Text }; answer: NewToken };
  /** Revoke a token: it stops working immediately. */
  revokeToken: { request: { token_id: number }; answer: Success };
  /** The browsers that are signed in with your account. */
  listSessions: { request: object; answer: Sessions };
  /** Sign a browser out, immediately. */
  revokeSession: { request: { session_id: number }; answer: Success };
  /** Your appliances with their finished images, newest first. */
  listAppliances: { request: object; answer: Appliances };
  /** Your appliances at a glance, the last edited first. */
  getOverview: { request: { search?: Text; advisories?: "fixed" | "open" | "undetermined" | "unimportant"; page?: Text; per_page?: Text }; answer: Overview };
  /** Clone a template or an appliance. */
  cloneAppliance: { request: { clone_from: number; name?: Text; arch?: Text }; answer: Appliance };
  /** An appliance. */
  getAppliance: { request: { appliance_id: number }; answer: Appliance };
  /** Delete an appliance. */
  deleteAppliance: { request: { appliance_id: number }; answer: Success };
  /** Whether an appliance can be built. */
  getApplianceStatus: { request: { appliance_id: number }; answer: ApplianceStatus };
  /** The whole configuration. */
  getConfiguration: { request: { appliance_id: number }; answer: Configuration };
  /** Change any part of the configuration. */
  changeConfiguration: { request: { appliance_id: number; body: WantedConfiguration }; answer: Configuration };
  /** The logo as PNG. */
  getLogo: { request: { appliance_id: number }; answer: Response };
  /** Replace the logo. */
  replaceLogo: { request: { appliance_id: number; body: globalThis.File }; answer: Success };
  /** Remove the logo; the service's own takes its place. */
  deleteLogo: { request: { appliance_id: number }; answer: Success };
  /** The background as PNG. */
  getBackground: { request: { appliance_id: number }; answer: Response };
  /** Replace the background. */
  replaceBackground: { request: { appliance_id: number; body: globalThis.File }; answer: Success };
  /** Remove the background; the service's own takes its place. */
  deleteBackground: { request: { appliance_id: number }; answer: Success };
  /** The whole appliance as one document, without passwords. */
  getDefinition: { request: { appliance_id: number }; answer: Definition };
  /** Apply a definition to an appliance: all of it, or nothing. */
  applyDefinition: { request: { appliance_id: number; body: WantedDefinition }; answer: Definition };
  /** What a definition would change in an appliance. */
  planDefinition: { request: { appliance_id: number; body: WantedDefinition }; answer: DefinitionPlan };
  /** Make an appliance from a definition. */
  createFromDefinition: { request: { only_new?: boolean; body: WantedDefinition }; answer: Definition };
  /** What a new appliance would have beyond its template. */
  planNewDefinition: { request: { body: WantedDefinition }; answer: DefinitionPlan };
  /** Store the content of a file before a definition names it. */
  storeContent: { request: { body: Uint8Array<ArrayBuffer> }; answer: Content };
  /** Give a definition an address. */
  storeSchematic: { request: { body: WantedDefinition }; answer: Schematic };
  /** A schematic, and the days as of which its images can be built. */
  getSchematic: { request: { schematic: string }; answer: Schematic };
  /** The repositories of an appliance. */
  listApplianceRepositories: { request: { appliance_id: number }; answer: Repositories };
  /** Replace the repositories of an appliance. */
  replaceApplianceRepositories: { request: { appliance_id: number; body: WantedRepositories }; answer: Repositories };
  /** Add a repository; if the appliance has it already, nothing changes. */
  addApplianceRepository: { request: { appliance_id: number; repo_id: number }; answer: Repositories };
  /** Remove a repository. */
  removeApplianceRepository: { request: { appliance_id: number; repo_id: number }; answer: Repositories };
  /** Add your user repository, which has your uploads for the appliance's base system. */
  addUserRepository: { request: { appliance_id: number }; answer: Repositories };
  /** The selected packages and patterns; only pinned ones have a version. */
  getSoftware: { request: { appliance_id: number }; answer: Software };
  /** Replace the selection. */
  replaceSoftware: { request: { appliance_id: number; body: WantedSoftware }; answer: Software };
  /** What the next build will install, or what a build has installed. */
  listInstalledSoftware: { request: { appliance_id: number; build_id?: number }; answer: SoftwareMap };
  /** Find packages and patterns by part of their name. */
  searchSoftware: { request: { appliance_id: number; q: Text; all_fields?: boolean; all_repos?: boolean; limit?: Text }; answer: SoftwareMap };
  /** The packages that a change would add and remove. */
  getSoftwareEffect: { request: { appliance_id: number; add_package?: Text; remove_package?: Text; add_pattern?: Text; remove_pattern?: Text; ban_package?: Text; unban_package?: Text; add_repository?: Text; remove_repository?: Text; repository_id?: number }; answer: SoftwareEffect };
  /** Select a package. */
  addPackage: { request: { appliance_id: number; name: Text; version?: Text; repository_id?: number }; answer: SelectionChange };
  /** Select a pattern. */
  addPattern: { request: { appliance_id: number; name: Text; version?: Text; repository_id?: number }; answer: SelectionChange };
  /** Ban a package, even if another one needs it. */
  banPackage: { request: { appliance_id: number; name: Text }; answer: SelectionChange };
  /** Deselect a package. */
  removePackage: { request: { appliance_id: number; name: Text }; answer: SelectionChange };
  /** Deselect a pattern. */
  removePattern: { request: { appliance_id: number; name: Text }; answer: SelectionChange };
  /** Allow a banned package again. */
  unbanPackage: { request: { appliance_id: number; name: Text }; answer: SelectionChange };
  /** Overlay files of an appliance. */
  listFiles: { request: { appliance_id: number }; answer: Files };
  /** Add an overlay file: upload it, or give its URL. */
  addFile: { request: { appliance_id: number; url?: Text; filename?: Text; path?: Text; owner?: Text; group?: Text; permissions?: Text; enabled?: Text; body?: globalThis.File }; answer: File };
  /** An overlay file. */
  getFile: { request: { file_id: number }; answer: File };
  /** Change the place, owner or mode of a file, or whether builds include it. */
  changeFile: { request: { file_id: number; body: WantedFile }; answer: File };
  /** Delete a file. */
  deleteFile: { request: { file_id: number }; answer: Success };
  /** The content of a file. */
  downloadFile: { request: { file_id: number }; answer: Response };
  /** Replace the content of a file. */
  replaceFile: { request: { file_id: number; body: globalThis.File }; answer: File };
  /** The GPG keys of an appliance. */
  listGpgKeys: { request: { appliance_id: number }; answer: GpgKeys };
  /** Add a GPG key. */
  addGpgKey: { request: { appliance_id: number; name: Text; target: "rpm"; key?: Text; body?: globalThis.File }; answer: GpgKey };
  /** A GPG key. */
  getGpgKey: { request: { appliance_id: number; key_id: number }; answer: GpgKey };
  /** Remove a GPG key. */
  deleteGpgKey: { request: { appliance_id: number; key_id: number }; answer: Success };
  /** Builds of an appliance that are waiting or running. */
  listRunningBuilds: { request: { appliance_id: number }; answer: RunningBuilds };
  /** All your builds that are waiting or running, the oldest first. */
  listAllRunningBuilds: { request: object; answer: RunningBuilds };
  /** Start a build. */
  startBuild: { request: { appliance_id: number; force?: boolean; version?: Text; image_type?: ImageType; multi?: boolean }; answer: StartedBuild };
  /** The progress of a build. */
  getRunningBuild: { request: { build_id: number }; answer: RunningBuild };
  /** Cancel a build. */
  cancelBuild: { request: { build_id: number }; answer: Success };
  /** The log of a build, as text or as events. */
  getBuildLog: { request: { build_id: number }; answer: Response };
  /** Finished builds of an appliance, newest first. */
  listBuilds: { request: { appliance_id: number; before?: number }; answer: Builds };
  /** A finished build; on v2 with its log and how long each step took. */
  getBuild: { request: { build_id: number }; answer: Build };
  /** How another build differs: packages, licences, settings, size and files. */
  compareBuilds: { request: { build_id: number; to: number; path?: Text; after?: Text; limit?: Text }; answer: BuildDifference };
  /** The packages of an image that the appliance's repositories have in a newer version now. */
  listUpdates: { request: { build_id: number }; answer: BuildUpdates };
  /** The security advisories that concern the packages of an image. */
  listAdvisories: { request: { build_id: number }; answer: BuildAdvisories };
  /** Delete a build with its image. */
  deleteBuild: { request: { build_id: number }; answer: Success };
  /** The attestations of a build: what is in its image, and where it comes from. */
  listAttestations: { request: { build_id: number }; answer: Attestations };
  /** One attestation: a bill of materials, or the signed provenance. */
  getAttestation: { request: { build_id: number; format: string }; answer: Response };
  /** The manifest of a build: its KIWI description, and what KIWI cannot describe. */
  getManifest: { request: { appliance_id: number; image_type: string; version?: Text }; answer: Response };
  /** Which of your images have a package, or have a vulnerability, newest first. */
  findImages: { request: { package?: Text; cve?: Text; version?: Text; before?: number }; answer: ImagesWith };
  /** A file of a built image. */
  getImageFile: { request: { appliance_id: number; build_id: number; path: Text }; answer: Response };
  /** The last five rebuilds of a build, newest first. */
  listRebuilds: { request: { build_id: number }; answer: Rebuilds };
  /** Build the input of a build again, and compare the images. */
  startRebuild: { request: { build_id: number }; answer: Rebuild };
  /** Cancel the rebuild in progress, if there is one. */
  cancelRebuild: { request: { build_id: number }; answer: Success };
  /** The last five runs of the checks on an image, newest first. */
  listCheckRuns: { request: { build_id: number }; answer: CheckRuns };
  /** Run the checks of the appliance on an image. */
  runChecks: { request: { build_id: number }; answer: CheckRun };
  /** Your statements about advisories that concern images of an appliance. */
  listVexStatements: { request: { appliance_id: number }; answer: VexStatements };
  /** State that an advisory does not affect images of an appliance, or that you examine it. */
  stateVex: { request: { appliance_id: number; advisory: string; build_id?: number; status?: "not_affected" | "under_investigation"; justification?: "component_not_present" | "vulnerable_code_not_present" | "vulnerable_code_not_in_execute_path" | "vulnerable_code_cannot_be_controlled_by_adversary" | "inline_mitigations_already_exist"; text?: Text }; answer: VexStatements };
  /** Withdraw a statement about an advisory. */
  withdrawVex: { request: { appliance_id: number; advisory: string; build_id?: number }; answer: Success };
  /** Your running testdrives. */
  listTestdrives: { request: object; answer: Testdrives };
  /** Boot a build: the answer has a page for the browser and an address for VNC clients. */
  startTestdrive: { request: { build_id: number; network?: "on" | "off"; user_data?: Text; meta_data?: Text; network_config?: Text; check_run?: number }; answer: Testdrive };
  /** End a testdrive. */
  endTestdrive: { request: { testdrive_id: number }; answer: Success };
  /** The files that a testdrive has changed in its image. */
  listModifiedFiles: { request: { testdrive_id: number; path?: Text; except?: Text; difference?: boolean }; answer: ModifiedFiles };
  /** A changed file, as it is now. */
  getModifiedFile: { request: { testdrive_id: number; path: Text }; answer: Response };
  /** All added or changed files, as an archive. */
  getModifiedArchive: { request: { testdrive_id: number; path?: Text; except?: Text }; answer: Response };
  /** Store added or changed files as overlay files: all of them, or none. */
  keepModifiedFiles: { request: { testdrive_id: number; path: Text; except?: Text; archive?: boolean; appliance_id?: number }; answer: KeptFiles };
  /** Your events as they happen. */
  followEvents: { request: object; answer: Response };
  /** The events that matter, as an Atom feed. */
  getFeed: { request: object; answer: Response };
  /** Your webhooks. */
  listWebhooks: { request: object; answer: Webhooks };
  /** Add a webhook, which gets events as POST requests. */
  createWebhook: { request: { url: Text; events?: Text }; answer: NewWebhook };
  /** A webhook. */
  getWebhook: { request: { webhook_id: number }; answer: Webhook };
  /** Delete a webhook and its pending deliveries. */
  deleteWebhook: { request: { webhook_id: number }; answer: Success };
  /** The last 100 deliveries of a webhook, newest first. */
  listDeliveries: { request: { webhook_id: number }; answer: Deliveries };
  /** Send a delivery again. */
  replayDelivery: { request: { webhook_id: number; delivery_id: number }; answer: Delivery };
  /** Your uploads for a base system. */
  listRpms: { request: { base_system: Text }; answer: Rpms };
  /** Upload a package or a tarball of packages. */
  uploadRpm: { request: { base_system: Text; body: globalThis.File }; answer: Rpm };
  /** An upload. */
  getRpm: { request: { rpm_id: number }; answer: Rpm };
  /** Replace the content of an upload. */
  replaceRpm: { request: { rpm_id: number; body: globalThis.File }; answer: Rpm };
  /** Delete an upload; your user repository no longer has it. */
  deleteRpm: { request: { rpm_id: number }; answer: Success };
  /** The file of an upload. */
  downloadRpm: { request: { rpm_id: number }; answer: Response };
  /** Your unfinished uploads. */
  listUploads: { request: object; answer: Uploads };
  /** Begin the upload of an overlay file or a package. */
  beginUpload: { request: { appliance_id?: number; base_system?: Text; filename?: Text; path?: Text; owner?: Text; group?: Text; permissions?: Text; enabled?: Text }; answer: Upload };
  /** An upload: how much of it is stored, and what it has become. */
  getUpload: { request: { upload_id: number }; answer: Upload };
  /** Send the next bytes of an upload. */
  sendBytes: { request: { upload_id: number; body: Uint8Array<ArrayBuffer> }; answer: Response };
  /** Cancel an upload; the file or package that it has become stays. */
  deleteUpload: { request: { upload_id: number }; answer: Response };
  /** All repositories that you can see. */
  listRepositories: { request: { base_system?: Text; filter?: Text }; answer: FoundRepositories };
  /** Import an rpm-md, yast2 or deb repository. */
  importRepository: { request: { url: Text; name: Text; key?: Text; accept_expired?: boolean }; answer: Repository };
  /** A repository. */
  getRepository: { request: { repository_id: number }; answer: Repository };
  /** Delete a repository that you imported and that no appliance uses. */
  deleteRepository: { request: { repository_id: number }; answer: Success };
  /** The accounts that an appliance is shared with. */
  getSharing: { request: { appliance_id: number }; answer: Sharing };
  /** What others learn if you share an appliance or publish a version. */
  listSharingWarnings: { request: { appliance_id: number; version?: Text }; answer: SharingWarnings };
  /** Share an appliance with an account. */
  shareAppliance: { request: { appliance_id: number; username: string }; answer: Sharing };
  /** Stop sharing an appliance with an account. */
  unshareAppliance: { request: { appliance_id: number; username: string }; answer: Sharing };
  /** Published appliances: the latest, the popular, those of an account, or those that a search finds. */
  listGallery: { request: { latest?: Text; popular?: Text; username?: Text; search?: Text; query?: Text; page?: Text; per_page?: Text }; answer: GalleryPage };
  /** A published appliance: the version that was published last. */
  getPublication: { request: { appliance_id: number }; answer: Publication };
  /** Published versions, oldest first. */
  listPublishedVersions: { request: { appliance_id: number }; answer: PublishedVersions };
  /** A published version. */
  getPublishedVersion: { request: { appliance_id: number; version: string }; answer: Publication };
  /** A draft of release notes: what has changed since the version published before. */
  draftReleaseNotes: { request: { appliance_id: number; version: string }; answer: ReleaseNotesDraft };
  /** Publish a built version. */
  publishVersion: { request: { appliance_id: number; version: string; body?: string }; answer: Publication };
  /** Change the release notes of a published version. */
  changeReleaseNotes: { request: { appliance_id: number; version: string; body?: string }; answer: Publication };
  /** Unpublish a version. */
  unpublishVersion: { request: { appliance_id: number; version: string }; answer: Success };
  /** The software of a published version, by repository. */
  listPublishedSoftware: { request: { appliance_id: number; version?: Text }; answer: PublishedSoftware };
  /** The images of a published version, and how to start them. */
  listPublishedImages: { request: { appliance_id: number; version?: Text }; answer: PublishedImages };
  /** The logo as PNG. */
  getPublishedLogo: { request: { appliance_id: number }; answer: Response };
  /** The background as PNG. */
  getPublishedBackground: { request: { appliance_id: number }; answer: Response };
  /** Boot a published version. */
  startPublishedTestdrive: { request: { appliance_id: number; version?: Text }; answer: GalleryTestdrive };
  /** The number of ratings, and their average. */
  getRating: { request: { appliance_id: number }; answer: Rating };
  /** Rate a published appliance; a second rating replaces the first. */
  rateAppliance: { request: { appliance_id: number; rating: Text }; answer: Rating };
  /** Comments, oldest first. */
  listComments: { request: { appliance_id: number }; answer: Comments };
  /** Add a comment. */
  addComment: { request: { appliance_id: number; parent?: number; body?: string }; answer: Comments };
  /** The channels of an appliance. */
  listChannels: { request: { appliance_id: number }; answer: Channels };
  /** Create a channel, move it, or change whether it moves automatically. */
  changeChannel: { request: { appliance_id: number; channel: string; version?: Text; automatic?: boolean }; answer: Channels };
  /** Remove a channel. Its addresses stop working. */
  removeChannel: { request: { appliance_id: number; channel: string }; answer: Success };
  /** The channels of a published appliance that have a version. */
  listPublishedChannels: { request: { appliance_id: number }; answer: Channels };
}

/** Where each call goes, the type of its body, and what it answers. */
export const routes = {
  getAccount: { method: "GET", path: "/account", answer: "document" },
  changePassword: { method: "PUT", path: "/account/password", answer: "document" },
  setMail: { method: "PUT", path: "/account/mail", answer: "document" },
  removeAccount: { method: "DELETE", path: "/account", answer: "document" },
  getAuditLog: { method: "GET", path: "/account/audit_log", answer: "document" },
  getAccountLimits: { method: "GET", path: "/account/limits", answer: "document" },
  getApiVersion: { method: "GET", path: "/api_version", answer: "document" },
  listTemplateSets: { method: "GET", path: "/template_sets", answer: "document" },
  getTemplateSet: { method: "GET", path: "/template_sets/{name}", answer: "document" },
  listTokens: { method: "GET", path: "/tokens", answer: "document" },
  createToken: { method: "POST", path: "/tokens", answer: "document" },
  revokeToken: { method: "DELETE", path: "/tokens/{token_id}", answer: "document" },
  listSessions: { method: "GET", path: "/account/sessions", answer: "document" },
  revokeSession: { method: "DELETE", path: "/account/sessions/{session_id}", answer: "document" },
  listAppliances: { method: "GET", path: "/appliances", answer: "document" },
  getOverview: { method: "GET", path: "/overview", answer: "document" },
  cloneAppliance: { method: "POST", path: "/appliances", answer: "document" },
  getAppliance: { method: "GET", path: "/appliances/{appliance_id}", answer: "document" },
  deleteAppliance: { method: "DELETE", path: "/appliances/{appliance_id}", answer: "document" },
  getApplianceStatus: { method: "GET", path: "/appliances/{appliance_id}/status", answer: "document" },
  getConfiguration: { method: "GET", path: "/appliances/{appliance_id}/configuration", answer: "document" },
  changeConfiguration: { method: "PUT", path: "/appliances/{appliance_id}/configuration", body: "application/json", answer: "document" },
  getLogo: { method: "GET", path: "/appliances/{appliance_id}/configuration/logo", answer: "file" },
  replaceLogo: { method: "PUT", path: "/appliances/{appliance_id}/configuration/logo", body: "form", answer: "document" },
  deleteLogo: { method: "DELETE", path: "/appliances/{appliance_id}/configuration/logo", answer: "document" },
  getBackground: { method: "GET", path: "/appliances/{appliance_id}/configuration/background", answer: "file" },
  replaceBackground: { method: "PUT", path: "/appliances/{appliance_id}/configuration/background", body: "form", answer: "document" },
  deleteBackground: { method: "DELETE", path: "/appliances/{appliance_id}/configuration/background", answer: "document" },
  getDefinition: { method: "GET", path: "/appliances/{appliance_id}/definition", answer: "document" },
  applyDefinition: { method: "PUT", path: "/appliances/{appliance_id}/definition", body: "application/json", answer: "document" },
  planDefinition: { method: "POST", path: "/appliances/{appliance_id}/definition/plan", body: "application/json", answer: "document" },
  createFromDefinition: { method: "POST", path: "/definitions", body: "application/json", answer: "document" },
  planNewDefinition: { method: "POST", path: "/definitions/plan", body: "application/json", answer: "document" },
  storeContent: { method: "POST", path: "/contents", body: "application/octet-stream", answer: "document" },
  storeSchematic: { method: "POST", path: "/schematics", body: "application/json", answer: "document" },
  getSchematic: { method: "GET", path: "/schematics/{schematic}", answer: "document" },
  listApplianceRepositories: { method: "GET", path: "/appliances/{appliance_id}/repositories", answer: "document" },
  replaceApplianceRepositories: { method: "PUT", path: "/appliances/{appliance_id}/repositories", body: "application/json", answer: "document" },
  addApplianceRepository: { method: "POST", path: "/appliances/{appliance_id}/cmd/add_repository", answer: "document" },
  removeApplianceRepository: { method: "POST", path: "/appliances/{appliance_id}/cmd/remove_repository", answer: "document" },
  addUserRepository: { method: "POST", path: "/appliances/{appliance_id}/cmd/add_user_repository", answer: "document" },
  getSoftware: { method: "GET", path: "/appliances/{appliance_id}/software", answer: "document" },
  replaceSoftware: { method: "PUT", path: "/appliances/{appliance_id}/software", body: "application/json", answer: "document" },
  listInstalledSoftware: { method: "GET", path: "/appliances/{appliance_id}/software/installed", answer: "document" },
  searchSoftware: { method: "GET", path: "/appliances/{appliance_id}/software/search", answer: "document" },
  getSoftwareEffect: { method: "GET", path: "/appliances/{appliance_id}/software/effect", answer: "document" },
  addPackage: { method: "POST", path: "/appliances/{appliance_id}/cmd/add_package", answer: "document" },
  addPattern: { method: "POST", path: "/appliances/{appliance_id}/cmd/add_pattern", answer: "document" },
  banPackage: { method: "POST", path: "/appliances/{appliance_id}/cmd/ban_package", answer: "document" },
  removePackage: { method: "POST", path: "/appliances/{appliance_id}/cmd/remove_package", answer: "document" },
  removePattern: { method: "POST", path: "/appliances/{appliance_id}/cmd/remove_pattern", answer: "document" },
  unbanPackage: { method: "POST", path: "/appliances/{appliance_id}/cmd/unban_package", answer: "document" },
  listFiles: { method: "GET", path: "/files", answer: "document" },
  addFile: { method: "POST", path: "/files", body: "form", answer: "document" },
  getFile: { method: "GET", path: "/files/{file_id}", answer: "document" },
  changeFile: { method: "PUT", path: "/files/{file_id}", body: "application/json", answer: "document" },
  deleteFile: { method: "DELETE", path: "/files/{file_id}", answer: "document" },
  downloadFile: { method: "GET", path: "/files/{file_id}/data", answer: "file" },
  replaceFile: { method: "PUT", path: "/files/{file_id}/data", body: "form", answer: "document" },
  listGpgKeys: { method: "GET", path: "/appliances/{appliance_id}/gpg_keys", answer: "document" },
  addGpgKey: { method: "POST", path: "/appliances/{appliance_id}/gpg_keys", body: "form", answer: "document" },
  getGpgKey: { method: "GET", path: "/appliances/{appliance_id}/gpg_keys/{key_id}", answer: "document" },
  deleteGpgKey: { method: "DELETE", path: "/appliances/{appliance_id}/gpg_keys/{key_id}", answer: "document" },
  listRunningBuilds: { method: "GET", path: "/running_builds", answer: "document" },
  listAllRunningBuilds: { method: "GET", path: "/account/running_builds", answer: "document" },
  startBuild: { method: "POST", path: "/running_builds", answer: "document" },
  getRunningBuild: { method: "GET", path: "/running_builds/{build_id}", answer: "document" },
  cancelBuild: { method: "DELETE", path: "/running_builds/{build_id}", answer: "document" },
  getBuildLog: { method: "GET", path: "/running_builds/{build_id}/log", answer: "file" },
  listBuilds: { method: "GET", path: "/builds", answer: "document" },
  getBuild: { method: "GET", path: "/builds/{build_id}", answer: "document" },
  compareBuilds: { method: "GET", path: "/builds/{build_id}/difference", answer: "document" },
  listUpdates: { method: "GET", path: "/builds/{build_id}/updates", answer: "document" },
  listAdvisories: { method: "GET", path: "/builds/{build_id}/advisories", answer: "document" },
  deleteBuild: { method: "DELETE", path: "/builds/{build_id}", answer: "document" },
  listAttestations: { method: "GET", path: "/builds/{build_id}/attestations", answer: "document" },
  getAttestation: { method: "GET", path: "/builds/{build_id}/attestations/{format}", answer: "file" },
  getManifest: { method: "GET", path: "/appliances/{appliance_id}/software/manifest/{image_type}", answer: "file" },
  findImages: { method: "GET", path: "/account/images", answer: "document" },
  getImageFile: { method: "GET", path: "/appliances/{appliance_id}/image_files", answer: "file" },
  listRebuilds: { method: "GET", path: "/builds/{build_id}/rebuilds", answer: "document" },
  startRebuild: { method: "POST", path: "/builds/{build_id}/rebuilds", answer: "document" },
  cancelRebuild: { method: "DELETE", path: "/builds/{build_id}/rebuilds", answer: "document" },
  listCheckRuns: { method: "GET", path: "/builds/{build_id}/checks", answer: "document" },
  runChecks: { method: "POST", path: "/builds/{build_id}/checks", answer: "document" },
  listVexStatements: { method: "GET", path: "/appliances/{appliance_id}/vex", answer: "document" },
  stateVex: { method: "PUT", path: "/appliances/{appliance_id}/vex/{advisory}", answer: "document" },
  withdrawVex: { method: "DELETE", path: "/appliances/{appliance_id}/vex/{advisory}", answer: "document" },
  listTestdrives: { method: "GET", path: "/testdrives", answer: "document" },
  startTestdrive: { method: "POST", path: "/testdrives", answer: "document" },
  endTestdrive: { method: "DELETE", path: "/testdrives/{testdrive_id}", answer: "document" },
  listModifiedFiles: { method: "GET", path: "/testdrives/{testdrive_id}/modified_files", answer: "document" },
  getModifiedFile: { method: "GET", path: "/testdrives/{testdrive_id}/modified_files/data", answer: "file" },
  getModifiedArchive: { method: "GET", path: "/testdrives/{testdrive_id}/modified_files/archive", answer: "file" },
  keepModifiedFiles: { method: "POST", path: "/testdrives/{testdrive_id}/modified_files/keep", answer: "document" },
  followEvents: { method: "GET", path: "/events", answer: "file" },
  getFeed: { method: "GET", path: "/feed", answer: "file" },
  listWebhooks: { method: "GET", path: "/webhooks", answer: "document" },
  createWebhook: { method: "POST", path: "/webhooks", answer: "document" },
  getWebhook: { method: "GET", path: "/webhooks/{webhook_id}", answer: "document" },
  deleteWebhook: { method: "DELETE", path: "/webhooks/{webhook_id}", answer: "document" },
  listDeliveries: { method: "GET", path: "/webhooks/{webhook_id}/deliveries", answer: "document" },
  replayDelivery: { method: "POST", path: "/webhooks/{webhook_id}/deliveries/{delivery_id}/replay", answer: "document" },
  listRpms: { method: "GET", path: "/rpms", answer: "document" },
  uploadRpm: { method: "POST", path: "/rpms", body: "form", answer: "document" },
  getRpm: { method: "GET", path: "/rpms/{rpm_id}", answer: "document" },
  replaceRpm: { method: "PUT", path: "/rpms/{rpm_id}", body: "form", answer: "document" },
  deleteRpm: { method: "DELETE", path: "/rpms/{rpm_id}", answer: "document" },
  downloadRpm: { method: "GET", path: "/rpms/{rpm_id}/data", answer: "file" },
  listUploads: { method: "GET", path: "/uploads", answer: "document" },
  beginUpload: { method: "POST", path: "/uploads", answer: "document" },
  getUpload: { method: "GET", path: "/uploads/{upload_id}", answer: "document" },
  sendBytes: { method: "PATCH", path: "/uploads/{upload_id}", body: "application/offset+octet-stream", answer: "nothing" },
  deleteUpload: { method: "DELETE", path: "/uploads/{upload_id}", answer: "nothing" },
  listRepositories: { method: "GET", path: "/repositories", answer: "document" },
  importRepository: { method: "POST", path: "/repositories", answer: "document" },
  getRepository: { method: "GET", path: "/repositories/{repository_id}", answer: "document" },
  deleteRepository: { method: "DELETE", path: "/repositories/{repository_id}", answer: "document" },
  getSharing: { method: "GET", path: "/appliances/{appliance_id}/sharing", answer: "document" },
  listSharingWarnings: { method: "GET", path: "/appliances/{appliance_id}/sharing_warnings", answer: "document" },
  shareAppliance: { method: "POST", path: "/appliances/{appliance_id}/sharing/{username}", answer: "document" },
  unshareAppliance: { method: "DELETE", path: "/appliances/{appliance_id}/sharing/{username}", answer: "document" },
  listGallery: { method: "GET", path: "/gallery/appliances", answer: "document" },
  getPublication: { method: "GET", path: "/gallery/appliances/{appliance_id}", answer: "document" },
  listPublishedVersions: { method: "GET", path: "/gallery/appliances/{appliance_id}/versions", answer: "document" },
  getPublishedVersion: { method: "GET", path: "/gallery/appliances/{appliance_id}/version/{version}", answer: "document" },
  draftReleaseNotes: { method: "GET", path: "/gallery/appliances/{appliance_id}/version/{version}/release_notes_draft", answer: "document" },
  publishVersion: { method: "POST", path: "/gallery/appliances/{appliance_id}/version/{version}", body: "text/plain", answer: "document" },
  changeReleaseNotes: { method: "PUT", path: "/gallery/appliances/{appliance_id}/version/{version}", body: "text/plain", answer: "document" },
  unpublishVersion: { method: "DELETE", path: "/gallery/appliances/{appliance_id}/version/{version}", answer: "document" },
  listPublishedSoftware: { method: "GET", path: "/gallery/appliances/{appliance_id}/software", answer: "document" },
  listPublishedImages: { method: "GET", path: "/gallery/appliances/{appliance_id}/images", answer: "document" },
  getPublishedLogo: { method: "GET", path: "/gallery/appliances/{appliance_id}/logo", answer: "file" },
  getPublishedBackground: { method: "GET", path: "/gallery/appliances/{appliance_id}/background", answer: "file" },
  startPublishedTestdrive: { method: "POST", path: "/gallery/appliances/{appliance_id}/testdrive", answer: "document" },
  getRating: { method: "GET", path: "/gallery/appliances/{appliance_id}/rating", answer: "document" },
  rateAppliance: { method: "POST", path: "/gallery/appliances/{appliance_id}/rating", answer: "document" },
  listComments: { method: "GET", path: "/gallery/appliances/{appliance_id}/comments", answer: "document" },
  addComment: { method: "POST", path: "/gallery/appliances/{appliance_id}/comments", body: "text/plain", answer: "document" },
  listChannels: { method: "GET", path: "/appliances/{appliance_id}/channels", answer: "document" },
  changeChannel: { method: "PUT", path: "/appliances/{appliance_id}/channels/{channel}", answer: "document" },
  removeChannel: { method: "DELETE", path: "/appliances/{appliance_id}/channels/{channel}", answer: "document" },
  listPublishedChannels: { method: "GET", path: "/gallery/appliances/{appliance_id}/channels", answer: "document" },
} as const;

interface Account {
  account: {
    username: string;
    displayname: string;
    email: string;
    mails_advisories?: boolean;
    created_at: string;
    openid_urls: readonly string[];
    disk_quota: {
      available: string;
      used: string;
    };
  };
}

interface Advisories {
  fixed: number;
  open: number;
  undetermined: number;
  unimportant: number;
  exploited: number;
}

interface ApiVersion {
  version: string;
}

interface Appliance {
  appliance: AppliancesAppliance;
}

interface ApplianceLastBuild {
  id: number;
  version: string;
  image_type: ImageType;
  state: "finished" | "failed" | "error" | "cancelled" | "queued" | "running";
  message: string;
  size: number;
  completed_at?: string;
}

interface ApplianceRunningBuild {
  id: number;
  state: "running" | "queued" | "finished" | "failed" | "error" | "cancelled";
  percent: number;
  time_elapsed: number;
  message: string;
  version: string;
  image_type: ImageType;
  queue_position?: number;
  time_left?: number;
  appliance_id?: number;
}

interface ApplianceSelectedSoftware {
  count: number;
  package: readonly SelectedSoftwarePackage[];
  pattern: readonly SelectedSoftwarePackage[];
}

interface ApplianceStatus {
  status: {
    state: "error" | "ok";
    issues: readonly {
      type: "error" | "warning";
      text: string;
      solution?: {
        type: "install" | "remove";
        package: string;
      };
      setting?: {
        path: string;
        value: string;
      };
      repository?: number;
    }[];
  };
}

interface Appliances {
  appliances: readonly AppliancesAppliance[];
}

interface AppliancesAppliance {
  id: number;
  name: string;
  arch: "x86_64" | "i586" | "aarch64";
  type: ImageType;
  last_edited: string;
  estimated_raw_size: string;
  estimated_compressed_size: string;
  edit_url: string;
  basesystem: string;
  uuid: string;
  parent?: {
    id: number;
    name: string;
  };
  builds: readonly {
    id: number;
    version: string;
    image_type: ImageType;
    image_size: number;
    compressed_image_size: number;
    download_url: string;
  }[];
}

interface Attestations {
  attestations: readonly {
    format: "spdx" | "cyclonedx" | "provenance" | "rebuilds" | "vex";
    file_name: string;
    content_type: string;
    sha256: string;
    url: string;
  }[];
}

interface AuditLog {
  audit_log: readonly {
    id: number;
    at: string;
    event: "sign_in.failed" | "key.renewed" | "password.changed" | "ssh_keys.changed" | "mail.changed" | "token.created" | "token.revoked" | "session.started" | "session.revoked" | "appliance.shared" | "appliance.unshared" | "version.published" | "version.unpublished" | "channel.changed" | "channel.removed" | "vex.stated" | "vex.withdrawn" | "account.created" | "account.locked" | "account.unlocked" | "account.removed" | "quota.changed" | "operator.added" | "operator.removed" | "operator.called" | "agent.registered" | "agent.removed" | "agent.drained" | "agent.resumed" | "agent.started" | "agent.lost";
    by?: string;
    address?: string;
    count: number;
    appliance_id?: number;
    version?: string;
    channel?: string;
    username?: string;
    token_id?: number;
    token_name?: string;
    session_id?: number;
    scope?: string;
    quota?: string;
  }[];
}

interface Autostart {
  command: string;
  description?: string;
  enabled: boolean;
  user: string;
}

interface Build {
  build: {
    id: number;
    version: string;
    state: "finished" | "failed" | "error" | "cancelled" | "queued" | "running";
    expired: boolean;
    image_type: ImageType;
    checksum?: BuildChecksum;
    size: number;
    compressed_image_size: number;
    created_at: string;
    started_at: string;
    completed_at: string;
    download_url?: string;
    log: {
      build: string;
      kiwi: string;
    };
    profile: {
      steps: readonly {
        name: string;
        time: number;
        percent: number;
      }[];
    };
    use?: Use;
  };
}

interface BuildAdvisories {
  build_advisories: {
    build_id: number;
    appliance_id: number;
    version: string;
    known: boolean;
    fixed: number;
    open: number;
    undetermined: number;
    unimportant: number;
    exploited: number;
    advisories: readonly {
      id: string;
      aliases?: readonly string[];
      state: "fixed" | "open" | "undetermined" | "unimportant";
      source: string;
      installed: string;
      fixed?: string;
      urgency?: string;
      exploited: boolean;
      packages: readonly string[];
      statement?: {
        status: "not_affected" | "under_investigation";
        justification?: "component_not_present" | "vulnerable_code_not_present" | "vulnerable_code_not_in_execute_path" | "vulnerable_code_cannot_be_controlled_by_adversary" | "inline_mitigations_already_exist";
        text: string;
        stated_at: string;
      };
    }[];
    feeds: readonly {
      name: "debian" | "dsa" | "osv" | "exploited";
      origin?: string;
      read_at?: string;
      problem?: string;
    }[];
  };
}

interface BuildChecksum {
  md5: string;
  sha1: string;
}

interface BuildDifference {
  difference: {
    from: DifferenceFrom;
    to: DifferenceFrom;
    packages: readonly {
      change: "changed" | "added" | "removed";
      name: string;
      from?: PackageFrom;
      to?: PackageFrom;
    }[];
    licenses: {
      known: boolean;
      added: readonly string[];
      removed: readonly string[];
    };
    settings: readonly PlanChange[];
    files: {
      state: "compared" | "gone";
      file: readonly {
        change: "changed" | "added" | "removed";
        path: string;
        from?: FileFrom;
        to?: FileFrom;
      }[];
      next_url?: string;
    };
  };
}

interface BuildUpdates {
  updates: {
    build_id: number;
    appliance_id: number;
    version: string;
    newer: number;
    security: number;
    unlisted: number;
    looked_at: string;
    packages: readonly {
      name: string;
      arch: string;
      installed: string;
      available: string;
      security: boolean;
      repository_id: number;
      repository: string;
    }[];
    repositories: readonly {
      id: number;
      name: string;
      state: "current" | "stale" | "unknown";
      checked_at?: string;
    }[];
    automatic_build?: {
      state: "building" | "done" | "failed" | "refused";
      from_version?: string;
      version?: string;
      message: string;
      began_at: string;
    };
    automatic_build_waits_until?: string;
  };
}

interface Builds {
  builds: readonly {
    id: number;
    version: string;
    state: "finished" | "failed" | "error" | "cancelled" | "queued" | "running";
    expired: boolean;
    image_type: ImageType;
    checksum?: BuildChecksum;
    size: number;
    compressed_image_size: number;
    created_at: string;
    started_at: string;
    completed_at: string;
    download_url?: string;
  }[];
}

interface Channels {
  channels: readonly {
    name: string;
    automatic: boolean;
    version?: string;
    moved_at?: string;
    images: readonly {
      build_id: number;
      image_type: ImageType;
      url: string;
      file_name: string;
      bytes: number;
      sha256: string;
      use: Use;
    }[];
  }[];
}

interface Check {
  kind: "login" | "console_text" | "console_lacks" | "units" | "port_open" | "port_closed" | "http" | "https" | "command" | "memory" | "disk" | "screen" | "second_boot" | "power_cut";
  port?: number;
  path?: string;
  status?: number;
  command?: string;
  exit?: number;
  text?: string;
  megabytes?: number;
  build?: number;
  percent?: number;
  mask?: string;
  seconds?: number;
}

interface CheckRun {
  check_run: CheckRunsCheckRun;
}

interface CheckRuns {
  check_runs: readonly CheckRunsCheckRun[];
}

interface CheckRunsCheckRun {
  id: number;
  build_id: number;
  state: "waiting" | "running" | "passed" | "failed" | "error";
  message?: string;
  created_at: string;
  ended_at?: string;
  login_seconds?: number;
  emulated?: boolean;
  machine_kept_until?: string;
  checks: readonly {
    kind: "login" | "console_text" | "console_lacks" | "units" | "port_open" | "port_closed" | "http" | "https" | "command" | "memory" | "disk" | "screen" | "second_boot" | "power_cut";
    expected: string;
    outcome?: "passed" | "failed" | "not_run";
    seen?: string;
    seconds?: number;
  }[];
  console?: string;
}

interface Checksum {
  type: "md5";
  value: string;
}

interface Comments {
  gallery: {
    appliance: {
      id: number;
      comments: readonly {
        id: number;
        parent_id?: number;
        timestamp: string;
        username: string;
        text: string;
      }[];
    };
  };
}

interface Configuration {
  configuration: {
    id: number;
    name: string;
    description?: string;
    version: string;
    type: ImageType;
    website?: string;
    tags?: readonly string[];
    locale: Locale;
    network: Network;
    firewall: Firewall;
    users: readonly User[];
    eulas: readonly string[];
    databases?: readonly Database[];
    autostarts?: readonly Autostart[];
    settings: {
      memory_size: number;
      disk_size: number;
      file_system?: "ext4" | "xfs" | "btrfs";
      swap_size: number;
      swap_in?: "file" | "partition";
      pae_enabled: boolean;
      xen_host_mode_enabled: boolean;
      cdrom_enabled: boolean;
      webyast_enabled: boolean;
      live_installer_enabled: boolean;
      public_clonable: boolean;
      publish_when?: "always" | "checked";
      automatic_builds?: "never" | "security" | "all";
      automatic_builds_at?: string;
      runlevel: number;
      automatic_login?: string;
      ssh_passwords?: string;
      first_boot?: "none" | "cloud-init" | "ignition";
      automatic_updates?: "none" | "security" | "all";
      updates_reboot_at?: string;
      update_uploads?: boolean;
      disk_encryption?: "none" | "passphrase" | "tpm" | "tang";
      tang_server?: string;
      tang_thumbprint?: string;
      kernel_arguments?: string;
    };
    lvm: Lvm;
    scripts: {
      build: ScriptsBuild;
      boot: ScriptsBuild;
      autoyast: ScriptsBuild;
    };
    checks?: readonly Check[];
  };
}

interface ConfigurationAutostart {
  command: string;
  description: string;
  enabled: boolean;
  user: string;
}

interface ConfigurationDatabase {
  type: "pgsql" | "mysql";
  users: readonly {
    username: string;
    password?: string;
    database_list: string;
  }[];
}

interface ConfigurationFirewall {
  enabled?: boolean;
  open_port?: readonly string[];
}

interface ConfigurationLocale {
  keyboard_layout?: string;
  language?: string;
  timezone?: {
    location?: string;
  };
}

interface ConfigurationLvm {
  enabled?: boolean;
  kind?: "lvm" | "partitions";
  volume_group?: string;
  volumes?: readonly Volume[];
}

interface ConfigurationNetwork {
  type?: "dhcp" | "manual" | "ask_on_first_boot" | "network_manager" | "none";
  hostname?: string;
  ip?: string;
  netmask?: string;
  route?: string;
  nameservers?: string;
}

interface ConfigurationScriptsBuild {
  enabled?: boolean;
  script?: string;
}

interface ConfigurationUser {
  uid: number;
  name: string;
  password?: string;
  group: string;
  shell: string;
  homedir: string;
  ssh_keys: readonly string[];
  administrator: boolean;
}

interface Content {
  content: {
    sha256: string;
    size: number;
    upload: string;
  };
}

interface Database {
  type: "pgsql" | "mysql";
  users: readonly {
    username: string;
    password: string;
    database_list: string;
  }[];
}

interface Definition {
  definition: {
    id: number;
    name: string;
    base_system: string;
    arch: string;
    version: string;
    type: ImageType;
    repositories: readonly DefinitionRepository[];
    packages: readonly DefinitionPackage[];
    patterns: readonly DefinitionPackage[];
    bans: readonly DefinitionPackage[];
    configuration: {
      description: string;
      website: string;
      tags: readonly string[];
      locale: Locale;
      network: {
        type: "dhcp" | "manual" | "ask_on_first_boot" | "network_manager" | "none";
        hostname: string;
        ip?: string;
        netmask?: string;
        route?: string;
        nameservers?: string;
      };
      firewall: Firewall;
      users: readonly ConfigurationUser[];
      eulas: readonly string[];
      databases: readonly ConfigurationDatabase[];
      autostarts: readonly ConfigurationAutostart[];
      settings: {
        memory_size: number;
        disk_size: number;
        file_system?: "ext4" | "xfs" | "btrfs";
        swap_size: number;
        swap_in?: "file" | "partition";
        pae_enabled: boolean;
        xen_host_mode_enabled: boolean;
        cdrom_enabled: boolean;
        webyast_enabled: boolean;
        live_installer_enabled: boolean;
        public_clonable: boolean;
        publish_when?: "always" | "checked";
        automatic_builds?: "never" | "security" | "all";
        automatic_builds_at: string;
        runlevel: number;
        automatic_login: string;
        ssh_passwords: string;
        first_boot?: "none" | "cloud-init" | "ignition";
        automatic_updates?: "none" | "security" | "all";
        updates_reboot_at?: string;
        update_uploads?: boolean;
        disk_encryption?: "none" | "passphrase" | "tpm" | "tang";
        tang_server: string;
        tang_thumbprint: string;
        kernel_arguments: string;
      };
      lvm: Lvm;
      scripts: {
        build: DefinitionConfigurationScriptsBuild;
        boot: DefinitionConfigurationScriptsBuild;
        autoyast: DefinitionConfigurationScriptsBuild;
      };
      checks: readonly Check[];
    };
    files: readonly DefinitionFile[];
    gpg_keys: readonly DefinitionGpgKey[];
  };
}

interface DefinitionConfigurationScriptsBuild {
  enabled: boolean;
  script: string;
}

interface DefinitionFile {
  path: string;
  owner?: string;
  group?: string;
  permissions?: string;
  enabled?: boolean;
  size?: number;
  sha256: string;
  upload?: string;
}

interface DefinitionGpgKey {
  name: string;
  target?: "rpm";
  key: string;
}

interface DefinitionPackage {
  name: string;
  version?: string;
  repository?: string;
}

interface DefinitionPlan {
  plan: {
    changes: readonly PlanChange[];
    software: PlanSoftware;
  };
}

interface DefinitionRepository {
  name?: string;
  url?: string;
  uploads?: boolean;
}

interface Deliveries {
  deliveries: readonly DeliveriesDelivery[];
}

interface DeliveriesDelivery {
  id: number;
  event_id: number;
  event: "build.queued" | "build.started" | "build.finished" | "build.failed" | "build.cancelled" | "testdrive.started" | "testdrive.ended" | "version.published" | "channel.moved" | "image.outdated" | "image.affected";
  state: "delivered" | "waiting" | "failed";
  attempts: number;
  http_status?: number;
  problem?: string;
  created_at: string;
  attempted_at?: string;
  next_attempt_at?: string;
}

interface Delivery {
  delivery: DeliveriesDelivery;
}

interface DifferenceFrom {
  build_id: number;
  appliance_id: number;
  name: string;
  version: string;
  image_type: ImageType;
  raw_size: number;
  file_size: number;
}

interface File {
  file: FilesFile;
}

interface FileFrom {
  type: "file" | "link" | "directory" | "character device" | "block device" | "fifo" | "socket";
  permissions: string;
  owner: string;
  group: string;
  size?: number;
  sha256?: string;
  target?: string;
}

interface Files {
  files: readonly FilesFile[];
}

interface FilesFile {
  id: number;
  filename: string;
  path: string;
  owner: string;
  group: string;
  permissions: string;
  enabled: boolean;
  size: number;
  checksum: Checksum;
  download_url: string;
}

interface Firewall {
  enabled: boolean;
  open_port: readonly string[];
}

interface FoundRepositories {
  repositories: readonly {
    id: number;
    name: string;
    type: "rpm-md" | "yast2" | "deb";
    base_system: string;
    base_url?: string;
    signed_by?: string;
    accepts_expired?: boolean;
    matches?: {
      repository_name?: string;
      repository_base_url?: string;
      software_name: readonly string[];
    };
  }[];
}

interface GalleryPage {
  gallery: {
    appliances: {
      count: number;
      pages: number;
      current_page: number;
      appliance: readonly {
        id: number;
        name: string;
        publisher: string;
        username: string;
        homepage: string;
        description: string;
        ratings: number;
        average_rating: string;
        comments: number;
        based_on: string;
        date: string;
        advisories?: Advisories;
      }[];
    };
  };
}

interface GalleryTestdrive {
  gallery: {
    testdrive: {
      url: string;
      server: Server;
    };
  };
}

interface GpgKey {
  gpg_key: GpgKeysGpgKey;
}

interface GpgKeys {
  gpg_keys: readonly GpgKeysGpgKey[];
}

interface GpgKeysGpgKey {
  id: number;
  name: string;
  target: "rpm";
  key: string;
}

interface ImagesWith {
  images: readonly {
    build_id: number;
    appliance_id: number;
    appliance: string;
    version: string;
    image_type: ImageType;
    completed_at: string;
    packages: readonly {
      name: string;
      version: string;
      arch: string;
      state?: "fixed" | "open" | "undetermined" | "unimportant";
      fixed?: string;
    }[];
  }[];
}

interface KeptFiles {
  kept_files: {
    appliance_id: number;
    files: readonly FilesFile[];
    left_out: readonly {
      path: string;
      reason: string;
    }[];
  };
}

interface Limits {
  limits: {
    repositories: LimitsRepositories;
    packages: LimitsRepositories;
    repository_bytes: LimitsRepositories;
    appliances: LimitsRepositories;
    configuration_bytes: LimitsRepositories;
    files: LimitsRepositories;
    uploaded_packages: LimitsRepositories;
    comments: LimitsRepositories;
    webhooks: LimitsRepositories;
    tokens: LimitsRepositories;
    uploads: LimitsRepositories;
    disk_bytes: LimitsRepositories;
    images_bytes?: number;
    packages_bytes?: number;
    uploads_bytes?: number;
    files_bytes?: number;
    pictures_bytes?: number;
  };
}

interface LimitsRepositories {
  used: number;
  most: number;
}

interface Locale {
  keyboard_layout: string;
  language: string;
  timezone: Timezone;
}

interface Lvm {
  enabled: boolean;
  kind?: "lvm" | "partitions";
  volume_group?: string;
  volumes?: readonly Volume[];
}

interface ModifiedFiles {
  modified_files: {
    truncated: boolean;
    unnamed: number;
    files: readonly {
      change: "changed" | "added" | "deleted";
      path: string;
      type: "file" | "directory" | "link" | "character_device" | "block_device" | "fifo" | "socket";
      permissions: string;
      owner: string;
      group: string;
      size: number;
      content_changed: boolean;
      target?: string;
      caution?: "secret" | "identity" | "log" | "state" | "large";
      difference?: string;
    }[];
  };
}

interface Network {
  type: "dhcp" | "manual" | "ask_on_first_boot" | "network_manager" | "none";
  hostname?: string;
  ip?: string;
  netmask?: string;
  route?: string;
  nameservers?: string;
}

interface NewToken {
  token: {
    id: number;
    name: string;
    scope: "read" | "build" | "publish";
    appliance_id?: number;
    created_at: string;
    expires_at?: string;
    last_used_at?: string;
    secret: string;
  };
}

interface NewWebhook {
  webhook: {
    id: number;
    url: string;
    events: readonly ("build.queued" | "build.started" | "build.finished" | "build.failed" | "build.cancelled" | "testdrive.started" | "testdrive.ended" | "version.published" | "channel.moved" | "image.outdated" | "image.affected")[];
    state: "enabled" | "disabled";
    reason?: string;
    failing_since?: string;
    created_at: string;
    secret: string;
  };
}

interface Overview {
  overview: {
    count: number;
    pages: number;
    current_page: number;
    appliance: readonly {
      id: number;
      name: string;
      arch: "x86_64" | "i586" | "aarch64";
      type: ImageType;
      basesystem: string;
      version: string;
      last_edited: string;
      logo_url?: string;
      state: "ok" | "warning" | "error" | "building" | "waiting" | "unknown";
      errors: number;
      warnings: number;
      text?: string;
      running_builds: readonly ApplianceRunningBuild[];
      last_build?: ApplianceLastBuild;
      images: readonly ApplianceLastBuild[];
      outdated?: {
        newer: number;
        security: number;
        looked_at: string;
      };
      advisories?: Advisories;
    }[];
  };
}

interface PackageFrom {
  version: string;
  arch: string;
  repository?: string;
  license?: string;
  checksum?: string;
}

interface PlanChange {
  name: string;
  item?: string;
  from?: string;
  to?: string;
}

interface PlanSoftware {
  state: "solved" | "unsolvable" | "unimported";
  before?: SoftwareBefore;
  after?: SoftwareBefore;
  added: readonly SoftwareAdded[];
  removed: readonly SoftwareAdded[];
  problems: readonly {
    text: string;
    meant: readonly string[];
    solutions: readonly {
      text: string;
      change: {
        add_package: readonly string[];
        remove_package: readonly string[];
        add_pattern: readonly string[];
        remove_pattern: readonly string[];
        ban_package: readonly string[];
        unban_package: readonly string[];
        add_repository: readonly number[];
        remove_repository: readonly number[];
      };
    }[];
  }[];
}

interface Publication {
  gallery: {
    appliance: {
      id: number;
      name: string;
      version: string;
      release_notes: string;
      homepage: string;
      description: string;
      publisher: string;
      username: string;
      based_on: string;
      arch?: "x86_64" | "i586" | "aarch64";
      formats: readonly {
        md5: string;
        value: ImageType;
      }[];
      configuration: {
        accounts: readonly {
          user: string;
          password: string;
        }[];
      };
      keyboard_layout: string;
      language: string;
      timezone: Timezone;
      network: Network;
      firewall: Firewall;
      security: {
        sources: {
          only_trusted: boolean;
          untrusted_source: readonly string[];
        };
        custom_packages: {
          uses_custom_packages: boolean;
        };
        overlay_files: boolean;
        custom_scripts: boolean;
      };
    };
  };
}

interface PublishedImages {
  gallery: {
    appliance: {
      id: number;
      version: string;
      images: readonly {
        build_id: number;
        image_type: ImageType;
        file_name: string;
        bytes: number;
        sha256: string;
        download_url: string;
        use: Use;
      }[];
    };
  };
}

interface PublishedSoftware {
  gallery: {
    appliance: {
      id: number;
      repositories: readonly {
        trusted: boolean;
        value: string;
      }[];
      selected_software: ApplianceSelectedSoftware;
      installed_software: ApplianceSelectedSoftware;
    };
  };
}

interface PublishedVersions {
  gallery: {
    appliance: {
      versions: readonly string[];
    };
  };
}

interface Rating {
  gallery: {
    appliance: {
      ratings: number;
      average_rating: string;
    };
  };
}

interface Rebuild {
  rebuild: RebuildsRebuild;
}

interface Rebuilds {
  rebuilds: readonly RebuildsRebuild[];
}

interface RebuildsRebuild {
  id: number;
  build_id: number;
  state: "queued" | "running" | "same" | "differs" | "failed" | "cancelled";
  message?: string;
  by_other_agent?: boolean;
  sha256?: string;
  same_bytes?: boolean;
  differences: readonly {
    path: string;
    change: "added" | "removed" | "changed";
    what?: string;
  }[];
  more_differences?: boolean;
  created_at: string;
  ended_at?: string;
}

interface ReleaseNotesDraft {
  gallery: {
    appliance: {
      id: number;
      version: string;
      since?: string;
      release_notes: string;
    };
  };
}

interface Repositories {
  repositories: readonly RepositoriesRepository[];
}

interface RepositoriesRepository {
  id: number;
  name: string;
  type: "rpm-md" | "yast2" | "deb";
  base_system: string;
  base_url?: string;
  signed_by?: string;
  accepts_expired?: boolean;
}

interface Repository {
  repository: RepositoriesRepository;
}

interface Rpm {
  rpm: {
    id: number;
    filename: string;
    size: number;
    archive: boolean;
    base_system: string;
    checksum: Checksum;
  };
}

interface Rpms {
  base_system: string;
  rpms: readonly {
    id: number;
    filename: string;
    size: number;
    archive: boolean;
    checksum: Checksum;
  }[];
}

interface RunningBuild {
  running_build: ApplianceRunningBuild;
}

interface RunningBuilds {
  running_builds: readonly ApplianceRunningBuild[];
}

interface Schematic {
  schematic: {
    id: string;
    appliance_id: number;
    image_type: ImageType;
    url: string;
    as_of: readonly {
      from: string;
      to: string;
    }[];
  };
}

interface Scripts {
  build?: ConfigurationScriptsBuild;
  boot?: ConfigurationScriptsBuild;
  autoyast?: ConfigurationScriptsBuild;
}

interface ScriptsBuild {
  enabled: boolean;
  script?: string;
}

interface SelectedSoftwarePackage {
  repository: string;
  version: string;
  value: string;
}

interface SelectionChange {
  success: {
    details: {
      status: {
        state: "changed" | "equal" | "broken";
        packages_added: number;
        packages_removed: number;
        message?: string;
      };
    };
  };
}

interface Server {
  vnc: {
    host: string;
    port: number;
    password: string;
  };
}

interface Sessions {
  sessions: readonly {
    id: number;
    browser: string;
    network?: string;
    created_at: string;
    last_used_at: string;
    expires_at: string;
  }[];
}

interface Settings {
  memory_size?: number;
  disk_size?: number;
  file_system?: "ext4" | "xfs" | "btrfs";
  swap_size?: number;
  swap_in?: "file" | "partition";
  pae_enabled?: boolean;
  xen_host_mode_enabled?: boolean;
  cdrom_enabled?: boolean;
  webyast_enabled?: boolean;
  live_installer_enabled?: boolean;
  public_clonable?: boolean;
  publish_when?: "always" | "checked";
  automatic_builds?: "never" | "security" | "all";
  automatic_builds_at?: string;
  runlevel?: number;
  automatic_login?: string;
  ssh_passwords?: string;
  first_boot?: "none" | "cloud-init" | "ignition";
  automatic_updates?: "none" | "security" | "all";
  updates_reboot_at?: string;
  update_uploads?: boolean;
  disk_encryption?: "none" | "passphrase" | "tpm" | "tang";
  tang_server?: string;
  tang_thumbprint?: string;
  kernel_arguments?: string;
}

interface Sharing {
  appliance: {
    id: number;
    read_users: readonly string[];
  };
}

interface SharingWarnings {
  sharing_warnings: {
    appliance_id: number;
    complete: boolean;
    warnings: readonly {
      kind: "user_password" | "database_password" | "overlay_file" | "script" | "user_repository";
      name: string;
      current: boolean;
      versions: readonly string[];
      text: string;
    }[];
  };
}

interface Software {
  software: {
    appliance_id: number;
    package: readonly SoftwarePackage[];
    pattern: readonly SoftwarePackage[];
  };
}

interface SoftwareAdded {
  name: string;
  version: string;
  arch: string;
  repository_id: number;
  download_size: number;
  installed_size: number;
}

interface SoftwareBefore {
  packages: number;
  download_size: number;
  installed_size: number;
}

interface SoftwareEffect {
  software_effect: PlanSoftware;
}

interface SoftwareMap {
  appliance_id: number;
  software_map: readonly {
    base_url?: string;
    name: string;
    id: number;
    software: {
      package: readonly {
        arch: string;
        checksum?: string;
        version: string;
        checksum_type?: string;
        summary?: string;
        download_size?: number;
        installed_size?: number;
        value: string;
      }[];
      pattern: readonly {
        arch: string;
        version: string;
        summary?: string;
        value: string;
      }[];
    };
  }[];
}

interface SoftwarePackage {
  version?: string;
  value: string;
}

interface StartedBuild {
  build: ApplianceRunningBuild;
}

interface Success {
  success: {
  };
}

interface TemplateSet {
  template_set: TemplateSetsTemplateSet;
}

interface TemplateSets {
  template_sets: readonly TemplateSetsTemplateSet[];
}

interface TemplateSetsTemplateSet {
  name: string;
  description: string;
  template: readonly {
    appliance_id: number;
    name: string;
    description: string;
    basesystem: string;
    importing?: string;
    packages_read?: number;
    import_percent?: number;
  }[];
}

interface Testdrive {
  testdrive: {
    id: number;
    state: "new";
    build_id: number;
    url: string;
    server: Server;
    web_url?: string;
  };
}

interface Testdrives {
  testdrives: readonly {
    id: number;
    state: "running" | "new" | "ended";
    build_id: number;
    web_url?: string;
  }[];
}

interface Timezone {
  location: string;
}

interface Tokens {
  tokens: readonly {
    id: number;
    name: string;
    scope: "read" | "build" | "publish";
    appliance_id?: number;
    created_at: string;
    expires_at?: string;
    last_used_at?: string;
  }[];
}

interface Upload {
  upload: UploadsUpload;
}

interface Uploads {
  uploads: readonly UploadsUpload[];
}

interface UploadsUpload {
  id: number;
  url: string;
  filename?: string;
  appliance_id?: number;
  base_system?: string;
  length: number;
  offset: number;
  created_at: string;
  expires_at: string;
  finished_at?: string;
  file_id?: number;
  rpm_id?: number;
}

interface Use {
  what: string;
  ways: readonly {
    title: string;
    note?: string;
    lines: readonly string[];
  }[];
}

interface User {
  uid: number;
  name: string;
  password: string;
  group: string;
  shell: string;
  homedir: string;
  ssh_keys?: readonly string[];
  administrator?: boolean;
}

interface VexStatements {
  vex_statements: readonly {
    advisory: string;
    build_id?: number;
    status: "not_affected" | "under_investigation";
    justification?: "component_not_present" | "vulnerable_code_not_present" | "vulnerable_code_not_in_execute_path" | "vulnerable_code_cannot_be_controlled_by_adversary" | "inline_mitigations_already_exist";
    text: string;
    stated_at: string;
  }[];
}

interface Volume {
  size: number;
  path: string;
}

interface WantedConfiguration {
  configuration: {
    name?: string;
    description?: string;
    version?: string;
    type?: ImageType;
    website?: string;
    tags?: readonly string[];
    locale?: ConfigurationLocale;
    network?: ConfigurationNetwork;
    firewall?: ConfigurationFirewall;
    users?: readonly User[];
    eulas?: readonly string[];
    databases?: readonly Database[];
    autostarts?: readonly Autostart[];
    settings?: Settings;
    lvm?: ConfigurationLvm;
    scripts?: Scripts;
    checks?: readonly Check[];
  };
}

interface WantedDefinition {
  definition: {
    name?: string;
    base_system?: string;
    arch?: string;
    version?: string;
    type?: ImageType;
    repositories?: readonly DefinitionRepository[];
    packages?: readonly DefinitionPackage[];
    patterns?: readonly DefinitionPackage[];
    bans?: readonly DefinitionPackage[];
    configuration?: {
      description?: string;
      website?: string;
      tags?: readonly string[];
      locale?: ConfigurationLocale;
      network?: ConfigurationNetwork;
      firewall?: ConfigurationFirewall;
      users?: readonly ConfigurationUser[];
      eulas?: readonly string[];
      databases?: readonly ConfigurationDatabase[];
      autostarts?: readonly ConfigurationAutostart[];
      settings?: Settings;
      lvm?: ConfigurationLvm;
      scripts?: Scripts;
      checks?: readonly Check[];
    };
    files?: readonly DefinitionFile[];
    gpg_keys?: readonly DefinitionGpgKey[];
  };
}

interface WantedFile {
  file: {
    filename?: string;
    path?: string;
    owner?: string;
    group?: string;
    permissions?: string;
    enabled?: boolean;
  };
}

interface WantedRepositories {
  repositories: readonly {
    id: number;
  }[];
}

interface WantedSoftware {
  software: {
    appliance_id: number;
    package: readonly SoftwarePackage[];
    pattern: readonly SoftwarePackage[];
  };
}

interface Webhook {
  webhook: WebhooksWebhook;
}

interface Webhooks {
  webhooks: readonly WebhooksWebhook[];
}

interface WebhooksWebhook {
  id: number;
  url: string;
  events: readonly ("build.queued" | "build.started" | "build.finished" | "build.failed" | "build.cancelled" | "testdrive.started" | "testdrive.ended" | "version.published" | "channel.moved" | "image.outdated" | "image.affected")[];
  state: "enabled" | "disabled";
  reason?: string;
  failing_since?: string;
  created_at: string;
}
