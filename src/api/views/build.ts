import { megabytes, type Viewer } from "#api/views/appliance";
import type { BuildTexts } from "#domain/builds/log";
import type { Build } from "#storage/builds";
import { arrayOf, type XmlFields } from "#wire/xml";

/** The element `build` of the finished builds (wire.md §2.12): `image_type` stands before `download_url`. */
export function buildFields(build: Build, { baseUrl, version }: Viewer): XmlFields {
  const isFinished = build.status === "finished";
  const isV2 = version.name === "v2";
  return {
    id: build.id,
    version: build.version,
    state: build.status,
    expired: build.expiredAt !== null,
    image_type: build.imageType,
    checksum: isFinished ? { md5: build.md5 ?? "", sha1: build.sha1 ?? "" } : undefined,
    size: megabytes(build.rawSize),
    compressed_image_size: build.compressed ? megabytes(build.fileSize) : 0,
    created_at: isV2 ? build.createdAt : undefined,
    // A cancelled one may never have begun; its clients want a time all the same.
    started_at: isV2 ? (build.startedAt ?? build.completedAt ?? build.createdAt) : undefined,
    completed_at: build.completedAt ?? build.createdAt,
    download_url: isFinished ? `${baseUrl}/download/${build.downloadToken}/${build.fileName}` : undefined,
  };
}

/** One build alone: on v2 with its log and where its time went. */
export function buildDetailFields(build: Build, texts: BuildTexts, viewer: Viewer): XmlFields {
  const fields = buildFields(build, viewer);
  if (viewer.version.name === "v1") return fields;
  const log = { build: texts.own, kiwi: texts.kiwi };
  return { ...fields, log, profile: { steps: arrayOf("step", steps(build)) } };
}

function steps({ steps }: Build): XmlFields[] {
  const total = (steps ?? []).reduce((sum, { seconds }) => sum + seconds, 0);
  return (steps ?? []).map(({ phase, seconds }) => ({
    name: encodeURIComponent(phase),
    time: Math.round(seconds),
    percent: total === 0 ? 0 : Math.round((100 * seconds) / total),
  }));
}
