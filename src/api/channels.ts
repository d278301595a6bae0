import { z } from "zod";
import { channels as channelsDocument } from "#documents/channel";
import { success } from "#documents/success";
import { changeChannel, channelsOf, openChannelsOf, removeChannel } from "#domain/channels/channels";
import { getPublication } from "#domain/gallery/access";
import { v2 } from "#api/operation";
import { call, type CallGroup } from "#api/call";
import { ofPublished } from "#api/gallery/of-appliance";
import { ofOwn } from "#api/of-appliance";
import { flag } from "#http/params";

const Change = z.object({ version: z.string().optional(), automatic: flag.optional() });

/** Channels of published versions (docs/channels.md). */
export const channels: CallGroup = {
  title: "Channels",
  about:
    "A channel, such as stable, has a published version of an appliance at its head. Its address always leads to the image of " +
    "that version, without an account.",
  operations: [
    call("GET /appliances/{appliance_id}/channels", {
      name: "listChannels",
      ...ofOwn,
      versions: v2,
      summary: "The channels of an appliance",
      answer: channelsDocument,
      act: ({ db }, { found }) => channelsOf(db, found.id),
    }),
    call("PUT /appliances/{appliance_id}/channels/{channel}", {
      name: "changeChannel",
      ...ofOwn,
      versions: v2,
      audit: {
        event: "channel.changed",
        detail: ({ appliance_id, channel, version }) => ({ appliance_id, channel, ...(version && { version }) }),
      },
      rate: "publications",
      scope: "publish",
      summary: "Create a channel, move it, or change whether it moves automatically",
      details:
        "An automatic channel moves to each newer version that is published and has passed the checks of the appliance. If you " +
        "move it back to an older version, it is no longer automatic.",
      params: Change,
      about: {
        channel: "Its name: lower-case letters, digits and hyphens, such as stable.",
        version: "The published version that becomes its head.",
        automatic: "Whether it moves automatically. Default: as before, or false for a new channel.",
      },
      answer: channelsDocument,
      refuses: ["invalid_value", "version_not_published"],
      act: async ({ db }, { found, channel: name, version, automatic: isAutomatic }) => {
        await changeChannel(db, found, { name, version, isAutomatic });
        return await channelsOf(db, found.id);
      },
    }),
    call("DELETE /appliances/{appliance_id}/channels/{channel}", {
      name: "removeChannel",
      ...ofOwn,
      versions: v2,
      audit: { event: "channel.removed", detail: ({ appliance_id, channel }) => ({ appliance_id, channel }) },
      scope: "publish",
      summary: "Remove a channel. Its addresses stop working",
      unknown: ["unknown_error"],
      about: { channel: "Its name." },
      answer: success,
      act: ({ db }, { found, channel }) => removeChannel(db, found, channel),
    }),
    call("GET /gallery/appliances/{appliance_id}/channels", {
      name: "listPublishedChannels",
      ...ofPublished,
      summary: "The channels of a published appliance that have a version",
      answer: channelsDocument,
      refuses: ["access_denied"],
      act: async ({ db, account }, { appliance_id: applianceId }) => {
        await getPublication(db, account.id, { applianceId });
        return await openChannelsOf(db, applianceId);
      },
    }),
  ],
};
