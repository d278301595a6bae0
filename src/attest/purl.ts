import { hasEpoch, type InstalledPackage } from "#contract/index";

/**
 * The package URL of an RPM: pkg:rpm/NAME@VERSION-RELEASE?arch=…&distro=…&epoch=…&repository_url=…, with qualifiers in
 * alphabetical order and percent-encoded (see type "rpm" of the purl specification). It has no namespace, because the vendor
 * is unknown.
 */
export function purlOf(
  { name, epoch, version, release, arch }: Omit<InstalledPackage, "epoch"> & { epoch?: string | number | undefined },
  { distro, repositoryUrl }: { distro?: string | undefined; repositoryUrl?: string | undefined } = {},
): string {
  const qualifiers = [
    ["arch", arch],
    ["distro", distro],
    ["epoch", hasEpoch(epoch) ? String(epoch) : undefined],
    ["repository_url", repositoryUrl],
  ] as const;
  const written = qualifiers.flatMap(([key, value]) => (value ? [`${key}=${encoded(value)}`] : []));
  const query = written.length === 0 ? "" : `?${written.join("&")}`;
  return `pkg:rpm/${encoded(name)}@${encoded(`${version}-${release}`)}${query}`;
}

/** Percent-encodes everything but letters, digits and `.-_~:`; a text from an image may contain half a character. */
const encoded = (text: string): string =>
  encodeURIComponent(text.toWellFormed())
    .replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%3A", ":");
