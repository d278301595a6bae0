import type { Delivery } from "#domain/events/webhook";
import { eventNames, type EventName } from "#model/event-names";
import type { Webhook } from "#storage/webhooks";
import { ActionButton, Button, ButtonLink } from "../../parts/button.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Choice, Field } from "../../parts/field.tsx";
import { Form } from "../../parts/form.tsx";
import { Moment } from "../../parts/moment.tsx";
import { Notice } from "../../parts/notice.tsx";
import { Empty, Facts, Panel } from "../../parts/panel.tsx";
import { State } from "../../parts/state.tsx";
import { Table } from "../../parts/table.tsx";

export const webhooksPath = "/account/webhooks";

const eventWords: Record<EventName, string> = {
  "build.queued": "A build waits",
  "build.started": "A build has started",
  "build.finished": "A build has finished",
  "build.failed": "A build has failed",
  "build.cancelled": "A build was cancelled",
  "testdrive.started": "A testdrive has started",
  "testdrive.ended": "A testdrive has ended",
  "version.published": "A version was published",
  "channel.moved": "A channel has moved",
  "image.outdated": "An image is outdated",
  "image.affected": "An update fixes vulnerabilities of an image",
};

const wordsOf = (events: readonly EventName[]): string =>
  events.length === eventNames.length ? "everything" : events.join(", ");

export const WebhooksView = ({ webhooks }: { webhooks: readonly Webhook[] }) => (
  <>
    <p class="quiet">
      A webhook posts what happens to your builds, testdrives and publications to an address of yours.
    </p>
    {webhooks.length > 0 && (
      <Panel id="webhooks" title="Your webhooks" count={webhooks.length} isFlush>
        <ul class="rows">
          {webhooks.map((webhook) => (
            <Row webhook={webhook} />
          ))}
        </ul>
      </Panel>
    )}
    <Panel id="add" title="Add a webhook" look="stack-s">
      <Form action={webhooksPath} id="new-webhook" class="stack-s" once>
        <Field
          name="url"
          label="Address"
          type="url"
          hint="https://hooks.example.org/kiln"
          also={{ maxlength: 1000 }}
          required
        />
        <fieldset>
          <legend>Notify it when</legend>
          <div class="fields">
            {eventNames.map((name) => (
              <Choice name="event" value={name} isChecked>
                {eventWords[name]}
              </Choice>
            ))}
          </div>
        </fieldset>
        <Button look="primary">Add the webhook</Button>
      </Form>
    </Panel>
  </>
);

const Row = ({ webhook: { id, url, events, createdAt, failingSince, disabledReason } }: { webhook: Webhook }) => {
  const { host } = new URL(url);
  return (
    <li>
      <div class="line">
        <div class="grow">
          <strong class="breaks">{url}</strong>
          <p class="sub">
            Events: {wordsOf(events)}. Added <Moment at={createdAt} />.
          </p>
          <HealthOf failingSince={failingSince} disabledReason={disabledReason} />
        </div>
        <ButtonLink href={`${webhooksPath}/${id}`} look="small" icon="scroll-text" about={`to ${host}`}>
          Deliveries
        </ButtonLink>
        <Confirm
          id={`delete-${id}`}
          words="Delete"
          about={`the webhook to ${host}`}
          look="small danger"
          title="Delete this webhook?"
          action={`${webhooksPath}/${id}/delete`}
          no="Keep it"
          yes={`Delete the webhook to ${host}`}
        >
          Events that have not been delivered to {host} yet are no longer sent.
        </Confirm>
      </div>
    </li>
  );
};

const HealthOf = ({ failingSince, disabledReason }: Pick<Webhook, "failingSince" | "disabledReason">) => {
  if (disabledReason !== null) return <State tone="bad">Switched off: {disabledReason}</State>;
  if (!failingSince) return null;
  return (
    <State tone="warn">
      Accepts nothing since <Moment at={failingSince} />
    </State>
  );
};

const toneOf = { delivered: "good", waiting: "busy", failed: "bad" } as const;
const stateWords = { delivered: "Delivered", waiting: "Waiting", failed: "Given up" } as const;

export const DeliveriesView = ({ webhook, deliveries }: { webhook: Webhook; deliveries: readonly Delivery[] }) => (
  <>
    {webhook.disabledReason !== null && (
      <Notice tone="bad">
        This webhook is switched off. {webhook.disabledReason} Send one delivery again: when the receiver accepts it,
        the webhook is on again.
      </Notice>
    )}
    <Panel id="webhook" title="Webhook" look="stack-s">
      <Facts
        of={[
          ["Address", <span class="breaks">{webhook.url}</span>],
          ["Events", wordsOf(webhook.events)],
        ]}
      />
    </Panel>
    {deliveries.length === 0 ? (
      <Empty title="Nothing was sent yet">
        <p>The next event comes here: start a build, for instance.</p>
      </Empty>
    ) : (
      <Panel id="deliveries" title="Deliveries" hint="the last 100" isFlush>
        <Table
          labelledBy="deliveries"
          isCards
          columns={["Event", "State", "Answer", { words: "Tries", isNumber: true }, "Sent", againColumn]}
        >
          {deliveries.map((delivery) => (
            <DeliveryRow webhookId={webhook.id} delivery={delivery} />
          ))}
        </Table>
      </Panel>
    )}
  </>
);

const againColumn = { words: "Send again", isHidden: true } as const;

const DeliveryRow = ({ webhookId, delivery }: { webhookId: number; delivery: Delivery }) => (
  <tr>
    <th scope="row">
      {delivery.event}
      <br />
      <span class="sub">event {delivery.eventId}</span>
    </th>
    <td data-label="State">
      <State tone={toneOf[delivery.state]} {...(delivery.state === "waiting" && { icon: "clock", tone: undefined })}>
        {stateWords[delivery.state]}
      </State>
    </td>
    <td class="quiet" data-label="Answer">
      {delivery.problem ?? delivery.status ?? ""}
    </td>
    <td class="num" data-label="Tries">
      {delivery.attempts}
    </td>
    <td class="quiet" data-label="Sent">
      <Moment at={new Date(delivery.attemptedAt ?? delivery.createdAt)} />
    </td>
    <td class="actions">
      <ActionButton
        action={`${webhooksPath}/${webhookId}/deliveries/${delivery.id}/replay`}
        look="small"
        about={`${delivery.event}, event ${delivery.eventId}`}
        once
      >
        Send again
      </ActionButton>
    </td>
  </tr>
);
