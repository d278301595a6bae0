import type { ImageFacts } from "#lib/kiwi/facts";
import { staged, type Part } from "#lib/kiwi/part";
import { shellCommand } from "#lib/kiwi/shell";

/**
 * The appliance's own files. config.sh copies them into place inside the image: a folder may be a link there, and the names of
 * the owners are known only there.
 */
export const overlayPart = ({ overlay }: Pick<ImageFacts, "overlay">): Part => ({
  commands: overlay.map(({ path, mode, owner, group, blobId }) =>
    shellCommand("place", `${staged}/contents/${blobId}`, path, mode.toString(8).padStart(4, "0"), owner, group),
  ),
});
