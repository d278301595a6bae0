import { marked, type XmlFields } from "#wire/xml";
import type { Rpm } from "#storage/rpms";

/** An entry of the list, which names the base system itself (wire.md §2.13). */
export const rpmEntryFields = (rpm: Rpm): XmlFields => {
  const { base_system: _, ...fields } = rpmFields(rpm);
  return fields;
};

/** The element `rpm`. */
export const rpmFields = (rpm: Rpm): XmlFields => ({
  id: rpm.id,
  filename: rpm.fileName,
  size: rpm.size,
  archive: rpm.isArchive,
  base_system: rpm.baseSystem,
  checksum: marked({ type: "md5" }, rpm.md5),
});
