import type { ResumableUpload } from "#storage/resumable-uploads";
import { arrayOf, fields, id, int, text, time, url } from "#lib/wire/field";
import { document, type Viewer } from "#lib/wire/shape";

const addressOf = ({ id }: ResumableUpload, { baseUrl }: Pick<Viewer, "baseUrl">): string =>
  `${baseUrl}/api/v2/user/uploads/${id}`;

const uploadShape = fields({
  id: id("id", 12),
  url: url(addressOf, "https://kiln.example.org/api/v2/user/uploads/12"),
  filename: text(({ metadata, sentName }: ResumableUpload) => metadata?.fileName ?? sentName, "model.bin").optional(),
  appliance_id: id(({ applianceId }: ResumableUpload) => applianceId, 1004).optional(),
  base_system: text(({ baseSystem }: ResumableUpload) => baseSystem, "tiny-1.0").optional(),
  length: int("length", 2_147_483_648),
  offset: int("offset", 524_288_000),
  created_at: time("createdAt", "2026-11-22T09:00:00Z"),
  expires_at: time("expiresAt", "2026-11-23T09:04:10Z"),
  finished_at: time("finishedAt", "2026-11-22T09:12:45Z").optional(),
  file_id: id(({ applianceId, madeId }: ResumableUpload) => (applianceId === null ? null : madeId), 61).optional(),
  rpm_id: id(({ applianceId, madeId }: ResumableUpload) => (applianceId === null ? madeId : null), 7).optional(),
});

export const resumableUpload = document("Upload", "upload", uploadShape);
export const resumableUploads = document("Uploads", "uploads", arrayOf("upload", uploadShape));
