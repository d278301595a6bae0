import type { ImageType } from "#lib/contract/index";
import { lastImage, sinceBuild } from "#domain/difference/since-build";
import type { Services } from "#domain/services";
import type { Appliance } from "#storage/appliances";
import type { Build } from "#storage/builds";
import { listImages } from "#storage/builds-of-appliance";
import { ButtonLink } from "../../../parts/button.tsx";
import { Form, Hidden } from "../../../parts/form.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { Moment } from "../../../parts/moment.tsx";
import { Notice } from "../../../parts/notice.tsx";
import { applianceAt } from "../with-appliance.ts";
import { nameOf } from "./names.ts";

/** A build that would only repeat images. */
export interface Unchanged {
  types: readonly ImageType[];
  version: string;
  /** The newest image of the first type. */
  image: Build;
}

/**
 * Undefined if a new build of any of these types would differ from the last one, or would be refused anyway because its
 * version already has an image.
 */
export async function unchangedOf(
  { env, db }: Services,
  appliance: Appliance,
  { types, version }: Pick<Unchanged, "types" | "version">,
): Promise<Unchanged | undefined> {
  const all = await listImages(db, appliance.id);
  const images = types.map((type) => lastImage(all, type));
  const [first] = images;
  if (!first) return undefined;
  for (const image of images) {
    if (!image || image.version === version) return undefined;
    const since = await sinceBuild({ env, db }, appliance, { build: image });
    if (!since?.isSame) return undefined;
  }
  return { types, version, image: first };
}

/** Asks whether to build it anyway. */
export const UnchangedQuestion = ({ unchanged: { types, version, image } }: { unchanged: Unchanged }) => (
  <Notice
    tone="warn"
    role="alert"
    id="unchanged"
    solutions={
      <>
        <Form action={applianceAt(image.applianceId, "builds")} once>
          <Hidden fields={{ version, again: "true" }} />
          {types.map((type) => (
            <input type="hidden" name="image_type" value={type} />
          ))}
          <button class="button small">
            <Icon name="hammer" /> Build {version} anyway
          </button>
        </Form>
        <ButtonLink href="#finished" look="small plain">
          See {nameOf(image)}
        </ButtonLink>
      </>
    }
  >
    Nothing has changed since {nameOf(image)} was built <Moment at={image.completedAt ?? image.createdAt} />. A new
    image would have the same content.
  </Notice>
);
