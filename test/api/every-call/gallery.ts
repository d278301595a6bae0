import { signedIn } from "../../support/client.ts";
import { createBuild } from "../../support/factories.ts";
import { publish } from "../../support/gallery.ts";
import { agentClaims } from "./agent.ts";
import { refused, type Row } from "./row.ts";
import type { Sample } from "./sample.ts";

const published = "/gallery/appliances/{published}";
/** Two builds that are not published: one of this account, and one of another account. */
const [mine, stranger] = ["/gallery/appliances/{appliance}", "/gallery/appliances/{stranger}"];

const withBuild = async ({ tux, ids }: Sample): Promise<Sample> => ({
  tux,
  ids: { ...ids, published: (await createBuild(tux)).applianceId },
});
const withPublication = async (sample: Sample): Promise<Sample> => {
  const made = await withBuild(sample);
  await publish(made.tux, Number(made.ids["published"]));
  return made;
};

/** A call that reads a published version. */
const reading = (rest = "") =>
  ({
    path: `${published}${rest}`,
    answer: "gallery",
    unknownId: "invalid_appliance_id",
    refused: [
      refused(`${stranger}${rest}`, "access_denied", { status: 403 }),
      refused(`${mine}${rest}`, "version_not_published", { status: "unknown" }),
    ],
  }) as const;

/** A call by which an owner changes a published version. */
const publishing = {
  path: `${published}/version/0.0.1`,
  answer: "gallery",
  unknownId: "invalid_appliance_id",
  sent: { text: "Works & more=yes" },
} as const;
const notOwn = [
  refused(`${stranger}/version/0.0.1`, "access_denied", { status: 403 }),
  refused("/gallery/appliances/1/version/0.0.1", "access_denied", { status: 403 }),
];

const versions: readonly Row[] = [
  { call: "GET /gallery/appliances/{appliance_id}", ...reading() },
  { call: "GET /gallery/appliances/{appliance_id}/versions", ...reading("/versions") },
  {
    call: "GET /gallery/appliances/{appliance_id}/images",
    ...reading("/images"),
    refused: [
      refused(`${stranger}/images`, "access_denied", { status: 403 }),
      refused(`${mine}/images`, "version_not_published"),
      refused(`${published}/images?version=9.9.9`, "version_not_published"),
      refused(`${published}/images?version=latest`, "invalid_version"),
    ],
  },
  {
    call: "GET /gallery/appliances/{appliance_id}/version/{version}",
    ...reading("/version/0.0.1"),
    refused: [
      ...reading("/version/0.0.1").refused,
      refused(`${published}/version/9.9.9`, "version_not_published", { status: "unknown" }),
      refused(`${published}/version/latest`, "invalid_version"),
      refused(`${published}/version/`, "missing_version"),
    ],
  },
  {
    call: "GET /gallery/appliances/{appliance_id}/version/{version}/release_notes_draft",
    path: `${published}/version/0.0.1/release_notes_draft`,
    answer: "gallery",
    unknownId: "invalid_appliance_id",
    refused: [
      refused(`${stranger}/version/0.0.1/release_notes_draft`, "access_denied", { status: 403 }),
      refused(`${published}/version/9.9.9/release_notes_draft`, "invalid_version"),
    ],
  },
  {
    call: "POST /gallery/appliances/{appliance_id}/version/{version}",
    ...publishing,
    refused: [
      ...notOwn,
      refused(`${published}/version/0.0.1`, "version_published"),
      refused(`${published}/version/9.9.9`, "invalid_version"),
      refused(`${published}/version`, "missing_version"),
    ],
    fresh: withBuild,
  },
  {
    call: "PUT /gallery/appliances/{appliance_id}/version/{version}",
    ...publishing,
    refused: [...notOwn, refused(`${mine}/version/0.0.1`, "version_not_published", { status: "unknown" })],
  },
  {
    call: "DELETE /gallery/appliances/{appliance_id}/version/{version}",
    ...publishing,
    answer: "success",
    refused: [...notOwn, refused(`${mine}/version/0.0.1`, "version_not_published", { status: "unknown" })],
    fresh: withPublication,
  },
];

const contents: readonly Row[] = [
  {
    call: "GET /gallery/appliances/{appliance_id}/software",
    ...reading("/software"),
    path: `${published}/software?version=0.0.1`,
    refused: [
      refused(`${stranger}/software`, "access_denied", { status: 403 }),
      refused(`${mine}/software`, "version_not_published"),
      refused(`${published}/software?version=9.9.9`, "version_not_published"),
      refused(`${published}/software?version=latest`, "invalid_version"),
    ],
  },
  { call: "GET /gallery/appliances/{appliance_id}/logo", ...reading("/logo"), answer: "image/png" },
  { call: "GET /gallery/appliances/{appliance_id}/background", ...reading("/background"), answer: "image/png" },
  { call: "GET /gallery/appliances/{appliance_id}/background.", ...reading("/background."), answer: "image/png" },
  {
    call: "POST /gallery/appliances/{appliance_id}/testdrive",
    ...reading("/testdrive"),
    refused: [
      refused(`${stranger}/testdrive`, "access_denied", { status: 403 }),
      refused(`${published}/testdrive?version=9.9.9`, "version_not_published"),
    ],
    // One account has few testdrive slots.
    fresh: async ({ ids }) => ({ tux: await signedIn(), ids }),
    meanwhile: () => agentClaims(),
  },
];

const opinions: readonly Row[] = [
  { call: "GET /gallery/appliances/{appliance_id}/rating", ...reading("/rating") },
  {
    call: "POST /gallery/appliances/{appliance_id}/rating",
    ...reading("/rating?rating=4"),
    refused: [
      refused(`${stranger}/rating?rating=4`, "access_denied", { status: 403 }),
      refused(`${published}/rating`, "missing_rating"),
      refused(`${published}/rating?rating=`, "missing_rating"),
      refused(`${published}/rating?rating=6`, "invalid_rating"),
    ],
  },
  { call: "GET /gallery/appliances/{appliance_id}/comments", ...reading("/comments") },
  {
    call: "POST /gallery/appliances/{appliance_id}/comments",
    ...reading("/comments"),
    sent: { text: "Works at our desk & gate" },
    refused: [
      refused(`${stranger}/comments`, "access_denied", { status: 403 }),
      refused(`${published}/comments`, "missing_parameter", { sent: { text: "" } }),
      refused(`${published}/comments?parent=x`, "invalid_parent"),
      refused(`${published}/comments?parent=999999999`, "invalid_parent"),
    ],
  },
];

const sharing: readonly Row[] = [
  {
    call: "GET /appliances/{appliance_id}/sharing_warnings",
    path: "/appliances/{appliance}/sharing_warnings?version=0.0.1",
    answer: "sharing_warnings",
    foreign: "invalid_appliance_id",
    refused: [
      refused("/appliances/{appliance}/sharing_warnings?version=9.9.9", "invalid_version"),
      refused("/appliances/1/sharing_warnings", "access_denied", { status: 403 }),
    ],
  },
  {
    call: "GET /appliances/{appliance_id}/sharing",
    path: "/appliances/{appliance}/sharing",
    answer: "appliance",
    foreign: "invalid_appliance_id",
  },
  ...(["POST", "DELETE"] as const).map((method): Row => ({
    call: `${method} /appliances/{appliance_id}/sharing/{username}`,
    path: "/appliances/{appliance}/sharing/{friend}",
    answer: "appliance",
    refused: [
      refused("/appliances/{stranger}/sharing/{friend}", "invalid_appliance_id", { status: "unknown" }),
      refused("/appliances/0/sharing/{friend}", "invalid_appliance_id", { status: "unknown" }),
      refused("/appliances/1/sharing/{friend}", "access_denied", { status: 403 }),
      refused("/appliances/{appliance}/sharing/nobody-at-all", "invalid_username"),
    ],
  })),
];

export const gallery: readonly Row[] = [
  {
    call: "GET /gallery/appliances",
    path: "/gallery/appliances?latest&page=1&per_page=5",
    answer: "gallery",
    refused: [
      refused("/gallery/appliances", "unknown_query"),
      refused("/gallery/appliances?query=worst", "unknown_query"),
      refused("/gallery/appliances?username=nobody-at-all", "invalid_username"),
      refused("/gallery/appliances?latest&page=0", "invalid_value"),
    ],
  },
  ...versions,
  ...contents,
  ...opinions,
  ...sharing,
];
