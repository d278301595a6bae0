import type { ImageFacts } from "#lib/kiwi/facts";
import { linesOf, type Part } from "#lib/kiwi/part";

/** The field Origin of its index. */
export const uploadsOrigin = "Kiln uploads";

const aptFile = "root/etc/apt/sources.list.d/kiln-uploads.list";
const zyppFile = "root/etc/zypp/repos.d/kiln-uploads.repo";
/** Whether an image with these files of its description reads the repository. */
export const readsUploads = (files: Readonly<Record<string, string>>): boolean => aptFile in files || zyppFile in files;

const aptKey = "/usr/share/keyrings/kiln-uploads.asc";

/**
 * Configures the repository in the image's package manager. apt trusts its key for nothing else; in a system of rpm
 * packages, the key is among those that KIWI gives to rpm.
 */
export function machineRepositoryPart({ debian, uploads }: Pick<ImageFacts, "debian" | "uploads">): Part {
  if (!uploads) return {};
  const { url, armour } = uploads;
  if (debian) {
    return { files: { [`root${aptKey}`]: armour, [aptFile]: linesOf(`deb [signed-by=${aptKey}] ${url} ./`) } };
  }
  return {
    files: {
      [zyppFile]: linesOf(
        "[kiln-uploads]",
        `name=${uploadsOrigin}`,
        "enabled=1",
        "autorefresh=1",
        `baseurl=${url}`,
        "type=rpm-md",
        "repo_gpgcheck=1",
        // The signed index has a checksum of each package.
        "pkg_gpgcheck=0",
      ),
    },
  };
}
