import type { Context } from "hono";
import { dropPicture, getPicture, pictureLimits, pictureTooLarge, replacePicture } from "#domain/contents/picture";
import { Refusal } from "#domain/refusal";
import { answerBlob } from "#http/blob";
import { receiveUpload } from "#http/upload";
import { readWhole } from "#http/whole-body";
import type { Appliance } from "#storage/appliances";
import type { PictureKind } from "#storage/pictures";
import type { Caller } from "#api/call";
import { damagedForm } from "#http/upload-form";

interface OfAppliance {
  found: Appliance;
}

export const showPicture =
  (kind: PictureKind) =>
  async ({ env }: Caller, { found }: OfAppliance, c: Context): Promise<Response> => {
    const shown = await getPicture(env, found, kind);
    return await answerBlob(c.req.raw, { ...shown, contentType: "image/png" });
  };

export const replacePictureBy =
  (kind: PictureKind) =>
  async ({ env, db, account }: Caller, { found: { id } }: OfAppliance, c: Context): Promise<void> => {
    const png = await receivePng(c.req.raw, kind);
    await replacePicture({ env, db }, { id, accountId: account.id }, { kind, png });
  };

export const dropPictureBy =
  (kind: PictureKind) =>
  async ({ db, account }: Caller, { found: { id } }: OfAppliance): Promise<void> =>
    await dropPicture({ db }, { id, accountId: account.id }, kind);

/** The file of the request. It fits into memory, because its size is limited. */
async function receivePng(request: Request, kind: PictureKind): Promise<Uint8Array> {
  const { stored } = await receiveUpload(request, {
    store: async ({ body }) => (await readWhole(body, pictureLimits[kind].maxBytes)) ?? refuseLarge(kind),
    discard: async () => {}, // nothing is stored yet
  }).catch(damagedForm("invalid_value"));
  if (stored && stored.byteLength > 0) return stored;
  throw new Refusal("missing_parameter", { message: "The parameter file is missing." });
}

function refuseLarge(kind: PictureKind): never {
  throw pictureTooLarge(kind);
}
