import { z } from "zod";
import type { Mail } from "#domain/mail/sender";
import { counted } from "#lib/words/counted";

const dayMs = 24 * 60 * 60_000;
const urgentIntervalMs = 60 * 60_000;
/** The images of an account are compared one after another, so their news arrives within minutes. */
const gatheredMs = 5 * 60_000;
const maxImages = 50;
const maxNamed = 10;

/** When news is mailed: once a day, and urgent news within minutes, but at most once an hour. */
export function mailAt({ isUrgent, sentAt, now }: { isUrgent: boolean; sentAt: number | null; now: number }): number {
  const interval = isUrgent ? urgentIntervalMs : dayMs;
  return Math.max(now + gatheredMs, (sentAt ?? 0) + interval);
}

/** The part of an `image.affected` event that a mail mentions. */
export const AffectedImage = z.object({
  image: z.object({
    build_id: z.int(),
    appliance_id: z.int(),
    name: z.string(),
    version: z.string(),
    image_type: z.string(),
    fixed: z.int(),
    exploited: z.int(),
    advisories: z.array(z.string()),
  }),
});
type Affected = z.infer<typeof AffectedImage>["image"];

/** The mail about images of an account. Users' words appear only in its text, so they cannot change its headers. */
export function advisoryMail(
  { username, email }: { username: string; email: string },
  images: readonly Affected[],
  baseUrl: string,
): Mail {
  const exploited = images.filter((image) => image.exploited > 0).length;
  const shown = images.toSorted((one, other) => other.exploited - one.exploited).slice(0, maxImages);
  const settings = `${baseUrl}/account#mail`;
  const about =
    exploited > 0
      ? `exploited vulnerabilities in ${counted(exploited, "image")}`
      : `updates fix vulnerabilities in ${counted(images.length, "image")}`;
  const paragraphs = [
    `Newer packages fix advisories about images of your account ${username}. Build an image again to get them.`,
    ...shown.map((image) => paragraphOf(image, baseUrl)),
    ...(images.length > maxImages ? [`And ${counted(images.length - maxImages, "more image")}.`] : []),
    `You get this mail because your account asks for it. To end it: ${settings}`,
  ];
  return {
    to: email,
    subject: `Kiln: ${about}`,
    text: `${paragraphs.join("\n\n")}\n`,
    headers: { "List-Unsubscribe": `<${settings}>` },
  };
}

function paragraphOf(image: Affected, baseUrl: string): string {
  const { name, version, image_type: format, fixed, exploited, advisories, appliance_id: appliance } = image;
  const named = advisories.slice(0, maxNamed);
  const more = fixed - named.length;
  return [
    `${name} ${version}, ${format}: ${counted(fixed, "advisory", "advisories")}${exploited > 0 ? `, ${exploited} exploited` : ""}`,
    `${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}`,
    `${baseUrl}/appliance/${appliance}/build`,
  ].join("\n");
}
