import type { ArtifactName } from "#lib/contract/index";

/* Every key in R2 is made here. */

/** The frozen input of a build, by its own SHA-256: written before the row that names it. */
export const inputKey = (sha256: string) => `inputs/${sha256}.json`;
/**
 * Prefix of everything that belongs to one build, so that one listing finds it. It contains the uid, which is unique
 * and cannot be guessed.
 */
export const buildPrefix = (uid: string) => `builds/${uid}/`;
/** The downloadable image, or a part of its file store. Each attempt writes its own, so that a late one cannot change the winner's. */
export const artifactKey = (uid: string, attempt: number, name: ArtifactName) => `builds/${uid}/${name}-${attempt}`;
export const isFileStoreKey = (key: string): boolean => /\/files-\d+$/.test(key);
export const logKey = (uid: string) => `builds/${uid}/log.txt`;
/** The packages that rpm reported in the image, as JSON. */
export const installedKey = (uid: string) => `builds/${uid}/installed.json`;
/** An attempt's report of the installed packages until the build is finished. A late one changes nothing. */
export const reportedInstalledKey = (uid: string, attempt: number) => `builds/${uid}/installed-${attempt}.json`;
/** The packages of the image that had newer versions when they were last compared, as JSON. */
export const updatesKey = (uid: string) => `builds/${uid}/updates.json`;
/** The documents about the image and their signature, in one blob so that they always match. */
export const attestationsKey = (uid: string) => `builds/${uid}/attestations.json`;
/** A file of a repository that this service stores itself, e.g. path "tiny/main/repodata/repomd.xml". */
export const repositoryFileKey = (path: string) => `repositories/${path}`;
/**
 * The nth .solv file of an import, for its repository and any other that shows the import. Each import writes its own
 * files, so that a failed one damages nothing.
 */
export const solvKey = (repositoryId: number, importId: string, n: number) =>
  `${solvPrefixOf(repositoryId, importId)}${n}.solv`;
/** Prefix of everything that belongs to one import. */
export const solvPrefixOf = (repositoryId: number, importId: string) => `solv/${repositoryId}/${importId}/`;
/** For deb, the nth text about the packages of an import, in addition to the .solv files. */
export const controlKey = (repositoryId: number, importId: string, n: number) =>
  `${solvPrefixOf(repositoryId, importId)}${controlName}${n}.gz`;
/** Prefix of those texts, of the import that a .solv file belongs to. */
export const controlPrefixOfPart = (part: string) => `${part.slice(0, part.lastIndexOf("/") + 1)}${controlName}`;
const controlName = "control-";
/** The index of names that search reads for an import. */
export const nameIndexKey = (repositoryId: number, importId: string) =>
  `${solvPrefixOf(repositoryId, importId)}${indexName}`;
/** The index of names of the import that a .solv file belongs to. */
export const nameIndexKeyOfPart = (part: string) => `${part.slice(0, part.lastIndexOf("/") + 1)}${indexName}`;
const indexName = "names";
/** The nth file of metadata that an import has downloaded and not yet read. */
export const downloadKey = (importId: string, n: number) => `${downloadsPrefix}${importId}/${n}`;

/** Prefix of everything that belongs to one uploaded RPM or archive, so that one listing finds it. */
export const uploadPrefix = (blobId: string) => `uploads/${blobId}/`;
/** The uploaded file. */
export const uploadKey = (blobId: string) => `uploads/${blobId}/file`;
/** A package that was inside an uploaded archive. */
export const archivedPackageKey = (blobId: string, number: number) => `uploads/${blobId}/packages/${number}`;
/** The headers of an upload's packages, one line of JSON each. */
export const uploadHeadersKey = (blobId: string) => `uploads/${blobId}/headers.jsonl`;
/** A file of a user repository, by the repository's uid, e.g. path "repodata/repomd.xml". */
export const userRepositoryFileKey = (uid: string, path: string) => `user-repositories/${uid}/${path}`;

/** A piece, from 1, of the file of a package that builds were frozen with. */
export const packagePieceKey = (blob: string, piece: number) => `${packagesPrefix}${blob}/${piece}`;
/** The folder of a package that a build's agents store: no other build writes there. */
export const packageBlob = (buildUid: string, packageId: number) => `${buildUid}-${packageId}`;

/** Names a multipart upload that has begun and may not have ended. */
export const begunUploadKey = (noteId: string) => `begun-uploads/${noteId}.json`;

/** The last bytes of an unfinished upload, if they are less than a part. The name has the position where they end. */
export const tailKey = (blobId: string, end: number) => `${tailPrefix(blobId)}${end}`;
export const tailPrefix = (blobId: string) => `upload-tails/${blobId}/`;

/** A content of an appliance: an overlay file, a logo, a background. Clones share it. */
export const contentKey = (blobId: string) => `contents/${blobId}`;
/** The thumbnail of a background, next to the background itself. */
export const thumbnailKey = (blobId: string) => `contents/${blobId}/100x100`;

/** A file of the public log by its path below the log's address: `checkpoint`, or a tile. Nothing deletes it. */
export const logFileKey = (path: string) => `log/${path}`;

/** Exists while the sweep's deletions are paused. */
export const deletionPauseKey = "service/deletions-paused";

/* The prefixes that the sweep lists, and the owners of keys. */
export const buildsPrefix = "builds/";
export const inputsPrefix = "inputs/";
export const solvPrefix = "solv/";
export const downloadsPrefix = "downloads/";
export const buildUidOfKey = (key: string): string => key.split("/")[1] ?? "";
export const sha256OfKey = (key: string): string => key.slice(inputsPrefix.length).replace(/\.json$/, "");
export const importIdOfKey = (key: string): string => key.split("/")[2] ?? "";
export const packagesPrefix = "packages/";
export const packageBlobOfKey = (key: string): string => key.split("/")[1] ?? "";
export const uploadsPrefix = "uploads/";
export const begunUploadsPrefix = "begun-uploads/";
export const tailsPrefix = "upload-tails/";
export const contentsPrefix = "contents/";
export const blobIdOfKey = (key: string): string => key.split("/")[1] ?? "";
