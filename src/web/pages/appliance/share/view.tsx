import type { SharingWarnings } from "#domain/appliances/sharing-warnings";
import type { ShownChannel } from "#domain/channels/channels";
import type { Schematic } from "#domain/schematics/schematic";
import { compareVersions } from "#domain/version";
import { ActionButton, Button, CopyButton } from "../../../parts/button.tsx";
import { Confirm } from "../../../parts/dialog.tsx";
import { Field, TextArea } from "../../../parts/field.tsx";
import { Form, Hidden } from "../../../parts/form.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { Notice } from "../../../parts/notice.tsx";
import { Empty, Facts, Panel } from "../../../parts/panel.tsx";
import { Channels } from "./channels.tsx";
import type { Taken } from "./taken.ts";
import { applianceAt } from "../with-appliance.ts";
import { contentAddress } from "#documents/schematic";

/** The content of the page below the head. */
export interface Shared {
  applianceId: number;
  readers: readonly string[];
  published: readonly string[];
  /** The unpublished versions that have an image, the newest first. */
  publishable: readonly string[];
  chosen: string | undefined;
  draft: string;
  /** Whether the appliance has changed since the chosen version was built. */
  isChanged: boolean;
  warnings: SharingWarnings;
  taken: Taken;
  channels: readonly ShownChannel[];
  /** Undefined if the appliance is not a schematic, or has been changed. */
  schematic: Schematic | undefined;
  /** The URL of the service, for addresses to copy. */
  baseUrl: string;
}

/** `texts` are the warnings about what others will learn. */
export const ShareView = ({ seen, texts }: { seen: Shared; texts: readonly string[] }) => (
  <>
    {texts.length > 0 && <Warnings texts={texts} />}
    <div class="split">
      <div class="stack">
        <Publish seen={seen} />
        <Channels
          applianceId={seen.applianceId}
          channels={seen.channels}
          versions={seen.published.toSorted((one, other) => compareVersions(other, one))}
          baseUrl={seen.baseUrl}
        />
        {seen.schematic && <SchematicPanel schematic={seen.schematic} baseUrl={seen.baseUrl} />}
      </div>
      <div class="stack">
        <GoesAlong taken={seen.taken} />
        <Published seen={seen} />
        <Readers seen={seen} />
      </div>
    </div>
  </>
);

const Warnings = ({ texts }: { texts: readonly string[] }) => (
  <section class="notice" data-tone="warn" aria-labelledby="warnings">
    <Icon name="triangle-alert" />
    <div>
      <h2 class="as-h3" id="warnings">
        What others learn
      </h2>
      <ul>
        {texts.map((text) => (
          <li>{text}</li>
        ))}
      </ul>
    </div>
  </section>
);

/** Shows everything that a clone gets, secret or not, because it becomes part of the images that others build. */
const GoesAlong = ({ taken }: { taken: Taken }) => (
  <Panel id="goes-along" title="What a clone gets" look="stack">
    <Facts of={taken} />
    <p class="sub">
      Anyone who clones the appliance has these in their images. Passwords that you have set are not copied.
    </p>
  </Panel>
);

const Publish = ({ seen: { applianceId, published, publishable, chosen, draft, isChanged } }: { seen: Shared }) => (
  <Panel id="publish" title="Publish" look="stack">
    {chosen === undefined ? (
      <Empty title="Nothing to publish" isH3>
        <p>
          {published.length === 0
            ? "Build a version first. Then everyone can try and clone it."
            : "Every version that has an image is in the gallery."}
        </p>
      </Empty>
    ) : (
      <>
        <form class="row" action={applianceAt(applianceId, "share")}>
          <label for="of-version">Version</label>
          <select class="input auto" id="of-version" name="version">
            {publishable.map((version) => (
              <option value={version} selected={version === chosen}>
                {version}
              </option>
            ))}
          </select>
          <Button look="small">Draft notes</Button>
        </form>
        {isChanged && (
          <Notice tone="warn">
            The appliance has changed since {chosen} was built. The image stays as it is, but its page in the gallery
            and its clones have the users and settings of now. Build again, so that both agree.
          </Notice>
        )}
        <Form action={applianceAt(applianceId, "share/versions")} id="publish-version" class="stack" once>
          <Hidden fields={{ do: "publish", version: chosen }} />
          <TextArea name="release_notes" label={`Release notes of ${chosen}`} value={draft} also={{ rows: 12 }} />
          <div class="row">
            <Button look="primary" icon="globe">
              Publish {chosen}
            </Button>
          </div>
        </Form>
      </>
    )}
  </Panel>
);

const Published = ({ seen: { applianceId, published } }: { seen: Shared }) => (
  <Panel id="published" title="In the gallery" count={published.length} isFlush>
    {published.length === 0 && <p class="body quiet">No version is published.</p>}
    <ul class="rows tight">
      {published.map((version) => (
        <li>
          <div class="line">
            <Icon name="globe" />
            <a class="grow" href={`/gallery/${applianceId}/${version}`}>
              {version}
            </a>
            <Confirm
              id={`unpublish-${version.replaceAll(".", "-")}`}
              words="Unpublish"
              about={version}
              look="small plain danger"
              icon="x"
              title={`Unpublish ${version}?`}
              action={applianceAt(applianceId, "share/versions")}
              fields={{ do: "unpublish", version }}
              no="Keep it"
              yes={`Unpublish ${version}`}
            >
              It is no longer listed. Existing clones stay.
            </Confirm>
          </div>
        </li>
      ))}
    </ul>
  </Panel>
);

const Readers = ({ seen: { applianceId, readers } }: { seen: Shared }) => {
  const action = applianceAt(applianceId, "share/readers");
  return (
    <Panel id="readers" title="Shared with" count={readers.length} isFlush>
      <ul class="rows tight">
        {readers.map((username) => (
          <li>
            <div class="line">
              <Icon name="user" />
              <span class="grow">{username}</span>
              <ActionButton
                action={action}
                fields={{ do: "remove", username }}
                look="small plain"
                icon="x"
                about={username}
              >
                Remove
              </ActionButton>
            </div>
          </li>
        ))}
      </ul>
      <Form action={action} id="add-reader" class="body row">
        <Hidden fields={{ do: "add" }} />
        <Field name="username" label="Account" hint="It can read and clone the appliance." />
        <Button look="small" icon="plus">
          Share
        </Button>
      </Form>
    </Panel>
  );
};

/** The content address of an appliance that was made from a schematic. */
const SchematicPanel = ({ schematic, baseUrl }: { schematic: Schematic; baseUrl: string }) => (
  <Panel id="schematic" title="Address of its definition" look="stack">
    <p class="quiet">
      With your key, this address builds the image and leads to it. It ends when you change the appliance.
    </p>
    <div class="row">
      <span class="breaks mono small-text" id="content-address">
        {baseUrl + contentAddress(schematic)}
      </span>
      <CopyButton of="content-address" words="Copy" look="small plain" about="the address of the definition" />
    </div>
    {schematic.days.length > 0 && (
      <p class="sub">
        Instead of <code>current</code>, use a day:{" "}
        {schematic.days.map(({ from, to }) => periodOf(from, to)).join(", ")}.
      </p>
    )}
  </Panel>
);

const periodOf = (from: string, to: string): string => (from === to ? from : `${from} to ${to}`);
