import { evr, type InstalledPackage } from "#lib/contract/index";
import type { Services } from "#domain/services";
import { rest } from "#lib/loop/pace";
import { logFailure } from "#log/log";
import { findInstalled } from "#storage/build-blobs";
import { listUnlistedImages, saveImagePackages, type ListedPackage } from "#storage/image-packages";
import { findSweepPosition, saveSweepPosition } from "#storage/sweep";

const position = "unlisted images";
/** How many images one run lists. */
const listedAtOnce = 50;

/** A chore: lists the packages of new images, so that images can be found by their packages. */
export async function listInstalledPackages({ env, db }: Services<Pick<Env, "BLOBS">>): Promise<void> {
  const after = Number((await findSweepPosition(db, position)) ?? 0);
  const images = await listUnlistedImages(db, { after, limit: listedAtOnce });
  const next = images.length === listedAtOnce ? images.at(-1)?.id.toString() : undefined;
  if (after > 0 || next !== undefined) await saveSweepPosition(db, position, next);
  for (const image of images) {
    try {
      await saveImagePackages(db, image, ((await findInstalled(env.BLOBS, image.uid)) ?? []).map(listed));
    } catch (error) {
      logFailure("could not list the packages of an image", error, { buildId: image.id });
    }
    await rest();
  }
}

/** An older agent does not report the source, so the package's own name is used, which is right for most. */
export function listed({ name, arch, source, ...one }: InstalledPackage): ListedPackage {
  const version = evr(one);
  const tracked = trackedSource(source ?? { name, version });
  return { name, version, arch, source: tracked.name, sourceVersion: tracked.version };
}

interface Source {
  name: string;
  version: string;
}

/**
 * The source package that advisories refer to. Debian signs kernels and GRUB in packages of another source, whose
 * version contains that of the original: `linux-signed-amd64 6.1.158+1` is `linux 6.1.158-1`, and
 * `grub-efi-amd64-signed 1+2.06+13+deb12u1` is `grub2 2.06-13+deb12u1`.
 */
export function trackedSource({ name, version }: Source): Source {
  if (/^linux-signed-[a-z0-9]+$/.test(name)) return { name: "linux", version: version.replace("+", "-") };
  if (/^grub-efi-[a-z0-9]+-signed$/.test(name))
    return { name: "grub2", version: version.replace(/^\d+\+/, "").replace("+", "-") };
  return { name, version };
}
