import { evr, hasEpoch, type InstalledPackage, type PackageType } from "#lib/contract/index";

type Named = Omit<InstalledPackage, "epoch"> & { epoch?: string | number | undefined };

interface Origin {
  /** Default: rpm. */
  packageType?: PackageType | undefined;
  distro?: string | undefined;
  repositoryUrl?: string | undefined;
}

/**
 * The package URL: pkg:rpm/NAME@VERSION-RELEASE?arch=…&distro=…&epoch=…&repository_url=…, or
 * pkg:deb/debian/NAME@VERSION?arch=… with the epoch in the version. Qualifiers are in alphabetical order and
 * percent-encoded (see the types "rpm" and "deb" of the purl specification). An rpm's URL has no namespace, because the
 * vendor is unknown.
 */
export function purlOf(one: Named, { packageType = "rpm", distro, repositoryUrl }: Origin = {}): string {
  const { name, epoch, version, release, arch } = one;
  const isDeb = packageType === "deb";
  const qualifiers = [
    ["arch", arch],
    ["distro", distro],
    ["epoch", hasEpoch(epoch) && !isDeb ? String(epoch) : undefined],
    ["repository_url", repositoryUrl],
  ] as const;
  const written = qualifiers.flatMap(([key, value]) => (value ? [`${key}=${encoded(value)}`] : []));
  const query = written.length === 0 ? "" : `?${written.join("&")}`;
  const [type, whole] = isDeb ? ["deb/debian", evr(one)] : ["rpm", `${version}-${release}`];
  return `pkg:${type}/${encoded(name)}@${encoded(whole)}${query}`;
}

/** Percent-encodes everything but letters, digits and `.-_~:`; a text from an image may contain half a character. */
const encoded = (text: string): string =>
  encodeURIComponent(text.toWellFormed())
    .replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%3A", ":");
