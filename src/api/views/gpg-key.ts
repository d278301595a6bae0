import type { GpgKey } from "#storage/gpg-keys";
import type { XmlFields } from "#wire/xml";

/** The armour's line breaks stand in the text as they are; nothing of it has to be escaped. */
export const gpgKeyFields = ({ id, name, target, key }: GpgKey): XmlFields => ({ id, name, target, key });
