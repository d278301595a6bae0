import { z } from "zod";
import { changeChannel, maxChannels, removeChannel, type ShownChannel } from "#domain/channels/channels";
import { flag } from "#http/params";
import type { Context } from "hono";
import { auditedPage } from "../../../audited.ts";
import type { WebEnv } from "../../../factory.ts";
import { ActionButton, Button } from "../../../parts/button.tsx";
import { ChannelAddresses } from "../../../parts/channel-addresses.tsx";
import { Confirm } from "../../../parts/dialog.tsx";
import { Choice, Field, Select } from "../../../parts/field.tsx";
import { Form, Hidden } from "../../../parts/form.tsx";
import { Panel } from "../../../parts/panel.tsx";
import { submit } from "../../../submit.ts";
import { applianceAt } from "../with-appliance.ts";

const Change = z.object({
  do: z.enum(["change", "remove"]),
  name: z.string({ error: "Enter a name, such as stable." }),
  version: z.string().optional(),
  automatic: flag.optional(),
});

/** Handles the forms of the panel. `again` shows the page. */
export const submitChannel = (c: Context<WebEnv>, again: (c: Context<WebEnv>) => Promise<Response>) =>
  submit(c, {
    fields: Change,
    rate: "publications",
    fieldOf: { invalid_value: "name", version_not_published: "version" },
    again,
    act: async ({ do: what, ...wanted }) => {
      const { appliance } = c.var;
      const text = what === "change" ? await change(c, wanted) : await remove(c, wanted);
      return { to: applianceAt(appliance.id, "share"), result: { text } };
    },
  });

type Wanted = Omit<z.output<typeof Change>, "do">;

async function change(c: Context<WebEnv>, { name, version, automatic: isAutomatic }: Wanted): Promise<string> {
  const { appliance } = c.var;
  const detail = { appliance_id: appliance.id, channel: name, ...(version !== undefined && { version }) };
  const db = auditedPage(c, { event: "channel.changed", detail });
  const made = await changeChannel(db, appliance, { name, version, isAutomatic });
  const head = made.version === null ? `${name} has no version yet.` : `${name} has ${made.version} now.`;
  return `${head} It moves ${made.isAutomatic ? "automatically" : "only by hand"}.`;
}

async function remove(c: Context<WebEnv>, { name }: Wanted): Promise<string> {
  const { appliance } = c.var;
  const detail = { appliance_id: appliance.id, channel: name };
  await removeChannel(auditedPage(c, { event: "channel.removed", detail }), appliance, name);
  return `The channel ${name} was removed.`;
}

interface ChannelsProps {
  applianceId: number;
  channels: readonly ShownChannel[];
  /** The published versions, the newest first. */
  versions: readonly string[];
  baseUrl: string;
}

/** The channels of the appliance with their addresses, and forms that move them. */
export const Channels = ({ applianceId, channels, versions, baseUrl }: ChannelsProps) => {
  const action = applianceAt(applianceId, "share/channels");
  return (
    <Panel id="channels" title="Channels" count={channels.length} isFlush>
      <p class="body quiet">
        The address of a channel always leads to the newest image that you put there. It needs no account.
      </p>
      <ul class="rows">
        {channels.map((channel) => (
          <li class="body stack-s">
            <Channel channel={channel} {...{ action, versions, baseUrl }} />
          </li>
        ))}
      </ul>
      {channels.length < maxChannels && <AddChannel action={action} versions={versions} />}
    </Panel>
  );
};

type ChannelProps = Omit<ChannelsProps, "applianceId" | "channels"> & { action: string; channel: ShownChannel };

const Channel = (props: ChannelProps) => {
  const { channel, action, baseUrl } = props;
  return (
    <>
      <div class="row spread">
        <h3>
          {channel.name} <span class="quiet num">{channel.version ?? "no version"}</span>
        </h3>
        <Remove name={channel.name} action={action} />
      </div>
      <ChannelAddresses channel={channel} baseUrl={baseUrl} />
      <Moves {...props} />
      <p class="sub">
        {channel.isAutomatic
          ? "Moves to each newer version that is published and has passed its checks."
          : "Moves only when you move it."}
      </p>
    </>
  );
};

const Remove = ({ name, action }: { name: string; action: string }) => (
  <Confirm
    id={`remove-channel-${name}`}
    words="Remove"
    about={`the channel ${name}`}
    look="small plain danger"
    icon="x"
    title={`Remove the channel ${name}?`}
    action={action}
    fields={{ do: "remove", name }}
    no="Keep it"
    yes={`Remove ${name}`}
  >
    Its addresses stop working. Its versions stay in the gallery.
  </Confirm>
);

const Moves = ({ channel: { name, version, isAutomatic }, action, versions }: ChannelProps) => (
  <div class="row">
    {versions.length > 0 && (
      <Form action={action} id={`move-${name}`} class="row">
        <Hidden fields={{ do: "change", name }} />
        <Select
          name="version"
          label={`Version in ${name}`}
          isLabelHidden
          look="auto"
          value={version ?? versions[0]}
          options={versions.map((each) => [each, each])}
        />
        <Button look="small" about={name}>
          Move
        </Button>
      </Form>
    )}
    <ActionButton
      action={action}
      fields={{ do: "change", name, automatic: String(!isAutomatic) }}
      look="small"
      about={name}
    >
      {isAutomatic ? "Stop moving automatically" : "Move automatically"}
    </ActionButton>
  </div>
);

const AddChannel = ({ action, versions }: Pick<ChannelProps, "action" | "versions">) => (
  <Form action={action} id="add-channel" class="body stack">
    <Hidden fields={{ do: "change" }} />
    <Field name="name" label="New channel" hint="Such as stable or testing. It is part of the address." />
    {versions.length > 0 && (
      <Select
        name="version"
        label="Version"
        look="auto"
        value={versions[0]}
        options={versions.map((each) => [each, each])}
      />
    )}
    <Choice name="automatic" value="true" isChecked isSwitch>
      Move it to each newer version that is published and has passed its checks
    </Choice>
    <div class="row">
      <Button look="small" icon="plus">
        Add channel
      </Button>
    </div>
  </Form>
);
