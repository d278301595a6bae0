import type { ImageFacts } from "#kiwi/facts";
import { staged, type Part } from "#kiwi/part";
import { shellCommand } from "#kiwi/shell-quote";

/**
 * The appliance's own files. config.sh copies them where they belong: in the image a folder may be a link to another one, and
 * only there are the names of their owners known.
 */
export const overlayPart = ({ overlay }: Pick<ImageFacts, "overlay">): Part => ({
  commands: overlay.map(({ path, mode, owner, group, blobId }) =>
    shellCommand("place", `${staged}/contents/${blobId}`, path, mode.toString(8).padStart(4, "0"), owner, group),
  ),
});
